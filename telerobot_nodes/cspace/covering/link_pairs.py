"""Which links of an arm are checked against each other, by their true shapes; no sphere is used here.

Left out are links on one moving link, the pairs that the SRDF disables, and without an SRDF the pairs that a person
would disable with MoveIt's setup assistant: links that a joint joins, links that touch in nearly every configuration,
and links that touch at home. Links with one joint between them that is proved not to bring them together are left out
too. Another pair that was never seen touching is checked all the same: samples are no proof.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import LinkShape, RobotModel
from telerobot_nodes.core.values import FloatArray

SAMPLES = 200  # random configurations in which links are looked at
ALWAYS = 0.95  # [-] of them in which links touch that cannot be distinguished

NamePair = tuple[str, str]  # of links or held things, in alphabetical order


def name_pair(first: str, second: str) -> NamePair:
    """Two names in alphabetical order."""
    return (first, second) if first <= second else (second, first)


@dataclass(frozen=True)
class LinkPairs:
    """The pairs of links that may meet, and the others with the reason why they are not checked."""

    checked: frozenset[NamePair]
    excluded: Mapping[NamePair, str]


class LinkContacts:
    """Contact of the links of one arm by their true shapes. One thread."""

    def __init__(self, robot: RobotModel, shapes: Iterable[LinkShape]) -> None:
        self._robot, self._data = robot, robot.new_data()
        self._shapes: dict[str, list[LinkShape]] = {}
        for shape in shapes:
            self._shapes.setdefault(shape.body, []).append(shape)

    def place(self, q: FloatArray) -> None:
        """Look at the arm at `q` (n,) [rad] from now on."""
        pin.forwardKinematics(self._robot.model, self._data, q)

    def touch(self, first: str, second: str) -> bool:
        """True when two links touch, at any place where their shapes may be."""
        placed = [self._placed(name) for name in (first, second)]
        return any(_meet(a, T, b, U) for a, T in placed[0] for b, U in placed[1])

    def distance(self, first: str, second: str) -> float:
        """Distance [m] of two links, not above 0 when they touch."""
        placed = [self._placed(name) for name in (first, second)]
        return min(_distance(a, T, b, U) for a, T in placed[0] for b, U in placed[1])

    def reach(self, name: str) -> float:
        """Most [m] that a point of a link moves per rad or metre of the joint that moves it."""
        found = 1.0 if self._slides(self._shapes[name][0].link) else 0.0
        for shape in self._shapes[name]:
            shape.solid.computeLocalAABB()
            middle, radius = shape.solid.aabb_center, shape.solid.aabb_radius
            found = max(found, *(float(np.linalg.norm(T.act(middle))) + radius for T in shape.placements))
        return found

    def _slides(self, link: int) -> bool:
        return "P" in self._robot.model.joints[link].shortname().removeprefix("JointModel")

    def _placed(self, name: str) -> list[tuple[coal.CollisionGeometry, pin.SE3]]:
        return [
            (shape.solid, (self._data.oMi[shape.link] if shape.link else pin.SE3.Identity()) * T)
            for shape in self._shapes[name]
            for T in shape.placements
        ]


def _meet(a: coal.CollisionGeometry, T: pin.SE3, b: coal.CollisionGeometry, U: pin.SE3) -> bool:
    """A fresh request each time: a guess kept from another pose makes coal miss contacts."""
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return bool(coal.collide(a, first, b, second, coal.CollisionRequest(), coal.CollisionResult()))


def _distance(a: coal.CollisionGeometry, T: pin.SE3, b: coal.CollisionGeometry, U: pin.SE3) -> float:
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return float(coal.distance(a, first, b, second, coal.DistanceRequest(), coal.DistanceResult()))


def link_pairs(robot: RobotModel, shapes: Iterable[LinkShape]) -> LinkPairs:
    """The pairs of URDF links to check, of links with shapes that different joints move."""
    rows = list(shapes)
    moved_by = {shape.body: shape.link for shape in rows}
    pairs = [name_pair(a, b) for a, b in combinations(moved_by, 2) if moved_by[a] != moved_by[b]]
    excluded = _by_srdf(robot, pairs) if robot.srdf is not None else _by_samples(robot, rows, pairs)
    return LinkPairs(frozenset(pairs) - excluded.keys(), excluded)


def _by_srdf(robot: RobotModel, pairs: list[NamePair]) -> dict[NamePair, str]:
    reasons = {pair: robot.srdf.reason(*pair) for pair in pairs if robot.srdf is not None}
    return {pair: f"SRDF: {reason}" for pair, reason in reasons.items() if reason is not None}


def _by_samples(robot: RobotModel, shapes: list[LinkShape], pairs: list[NamePair]) -> dict[NamePair, str]:
    joined = _neighbours(robot.urdf, {shape.body for shape in shapes})
    excluded = {pair: "neighbours" for pair in pairs if pair in joined}
    contacts = LinkContacts(robot, shapes)
    moved_by = {shape.body: shape.link for shape in shapes}
    for pair in (pair for pair in pairs if pair not in excluded):
        links = sorted(pair, key=moved_by.__getitem__)
        if moved_by[links[1]] == moved_by[links[0]] + 1 and _never_meet(robot, contacts, links, moved_by[links[1]]):
            excluded[pair] = "the joint between them cannot bring them together"
    open_pairs = [pair for pair in pairs if pair not in excluded]
    contacts.place(np.array(robot.home))
    excluded |= {pair: "touch at home" for pair in open_pairs if contacts.touch(*pair)}
    for pair, part in _touching(robot, contacts, [pair for pair in open_pairs if pair not in excluded]).items():
        if part >= ALWAYS:
            excluded[pair] = f"touch in {100.0 * part:.0f} % of sampled configurations"
    return excluded


def _never_meet(robot: RobotModel, contacts: LinkContacts, links: list[str], joint: int) -> bool:
    """True when joint `joint`, the only one between two links, is proved to keep them apart all over its range."""
    low, high = robot.limits.lower[joint - 1], robot.limits.upper[joint - 1]
    step = (high - low) / SAMPLES
    moved = 0.5 * step * contacts.reach(links[1])
    q = np.array(robot.home)
    for i in range(SAMPLES):
        q[joint - 1] = low + (i + 0.5) * step
        contacts.place(q)
        if contacts.distance(*links) <= moved:
            return False
    return True


def _touching(robot: RobotModel, contacts: LinkContacts, pairs: list[NamePair]) -> dict[NamePair, float]:
    """Share of samples in which each pair touches; pairs that can no longer reach ALWAYS are not looked at any more."""
    touched = dict.fromkeys(pairs, 0)
    rng = np.random.default_rng(0)
    for n in range(SAMPLES):
        looked_at = [pair for pair in pairs if n - touched[pair] <= (1.0 - ALWAYS) * SAMPLES]
        if not looked_at:
            break
        contacts.place(rng.uniform(robot.limits.lower, robot.limits.upper))
        for pair in looked_at:
            touched[pair] += contacts.touch(*pair)
    return {pair: count / SAMPLES for pair, count in touched.items()}


def _neighbours(urdf: str, with_shapes: set[str]) -> set[NamePair]:
    """Pairs of links that joints join with nothing but links without shapes between."""
    parent = {}
    for joint in ET.fromstring(urdf).findall("joint"):
        ends = [joint.find(end) for end in ("parent", "child")]
        above, below = ("" if end is None else end.get("link", "") for end in ends)
        parent[below] = above
    found = set()
    for link in with_shapes:
        above = parent.get(link, "")
        while above and above not in with_shapes:
            above = parent.get(above, "")
        if above:
            found.add(name_pair(above, link))
    return found
