"""How finely each link is covered: finer where coarse spheres would report contact of links that do not touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import LinkShape, RobotModel
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.covering.link_pairs import LinkContacts, NamePair
from telerobot_nodes.cspace.covering.shapes import COARSE, FINE, spheres_of
from telerobot_nodes.cspace.covering.solids import CollisionSphere

SAMPLES = 300  # random configurations in which coverings are compared with the true shapes
REFUSED = 0.02  # [-] of them that a pair may refuse although its shapes do not touch, before it is covered finer
WORTH = 0.6  # [-] of the refused ones may be left, else the finer covering is not worth its spheres

Covered = tuple[LinkShape, list[CollisionSphere]]


def cover_links(robot: RobotModel, shapes: Sequence[LinkShape], checked: frozenset[NamePair]) -> list[Covered]:
    """Every shape with the spheres that hold it; `checked`: pairs of URDF links that must not touch."""
    coarse = {shape.name: spheres_of(shape, shapes, COARSE) for shape in shapes}
    trial = CoveringTrial(robot, shapes)
    refused = {pair: share for pair in sorted(checked) if (share := trial.refused(pair, coarse)) > REFUSED}
    wanted = {link for pair in refused for link in pair}
    fine = coarse | {s.name: spheres_of(s, shapes, FINE) for s in shapes if s.body in wanted}
    helped = [pair for pair, share in refused.items() if trial.refused(pair, fine) < WORTH * share]
    finer = {link for pair in helped for link in pair}
    return [(shape, (fine if shape.body in finer else coarse)[shape.name]) for shape in shapes]


class CoveringTrial:
    """Sampled configurations, and which of them a covering refuses although nothing touches."""

    def __init__(self, robot: RobotModel, shapes: Sequence[LinkShape]) -> None:
        rng = np.random.default_rng(0)
        self._samples = rng.uniform(robot.limits.lower, robot.limits.upper, (SAMPLES, robot.dof))
        self._shapes, self._contacts = shapes, LinkContacts(robot, shapes)
        self._places = [_link_poses(robot, q) for q in self._samples]
        self._touching: dict[tuple[NamePair, int], bool] = {}

    def refused(self, pair: NamePair, covered: dict[str, list[CollisionSphere]]) -> float:
        """Share of the samples in which the spheres of two links overlap and their shapes do not touch."""
        wrong = [i for i in self._overlapping(pair, covered).tolist() if not self._touch(pair, i)]
        return len(wrong) / SAMPLES

    def _touch(self, pair: NamePair, sample: int) -> bool:
        known = self._touching.get((pair, sample))
        if known is None:
            self._contacts.place(self._samples[sample])
            known = self._touching[(pair, sample)] = self._contacts.touch(*pair)
        return known

    def _overlapping(self, pair: NamePair, covered: dict[str, list[CollisionSphere]]) -> IntArray:
        """The samples in which spheres of two links overlap."""
        (first, a, link_a), (second, b, link_b) = (self._spheres(name, covered) for name in pair)
        reach = (a[:, None] + b[None, :]) ** 2
        found = []
        for i, places in enumerate(self._places):
            x, y = _moved(places[link_a], first), _moved(places[link_b], second)
            square = ((x[:, None] - y[None, :]) ** 2).sum(axis=2)
            if (square < reach).any():
                found.append(i)
        return np.array(found, dtype=np.int64)

    def _spheres(self, body: str, covered: dict[str, list[CollisionSphere]]) -> tuple[FloatArray, FloatArray, int]:
        """Centres (m, 3), radii (m,) [m] and link of the spheres of a URDF link."""
        shapes = [shape for shape in self._shapes if shape.body == body]
        spheres = [sphere for shape in shapes for sphere in covered[shape.name]]
        return np.array([s.center for s in spheres]), np.array([s.radius for s in spheres]), shapes[0].link


def _link_poses(robot: RobotModel, q: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Rotation and origin of every link in WORLD; what link 0 carries is in WORLD already."""
    pin.forwardKinematics(robot.model, robot.data, q)
    frames = [pin.SE3.Identity(), *list(robot.data.oMi)[1:]]
    return [(np.array(T.rotation), np.array(T.translation)) for T in frames]


def _moved(place: tuple[FloatArray, FloatArray], points: FloatArray) -> FloatArray:
    return np.asarray(points @ place[0].T + place[1])
