"""The true collision shapes of a URDF, each on the link of the arm that moves it.

Joints that are not the arm's (fingers) stand where they are known to be, followers (mimic) with them. One of which
nothing is known may be anywhere in its range: a sliding joint is at both ends, which its hull joins; a turning one at
`turns`, and `slack` is how far a point of the shape can be from the nearest of them.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import example_robot_data
from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, ModelError

STEP = 0.004  # [m] that a finger of unknown place may be from the nearest of its turns
MOST_TURNS = 12
WHOLE_TURN = 2.0 * math.pi  # [rad]


@dataclass(frozen=True)
class LinkShape:
    """One collision shape on moving link `link` (0: the base) of the arm; `body`: the URDF link that has it.

    `turns`: where it may be, in the frame of the link's joint in `robot.model` (on link 0: WORLD). Each turn is the
    hull of the shape at one or more placements. `slack` [m]: a point of the shape is within it of one of the turns.
    """

    link: int
    body: str
    name: str
    solid: coal.CollisionGeometry
    turns: tuple[tuple[pin.SE3, ...], ...]
    slack: float = 0.0

    @property
    def placements(self) -> tuple[pin.SE3, ...]:
        """Every placement of every turn."""
        return tuple(T for turn in self.turns for T in turn)


def link_shapes(robot: RobotModel, fingers: Mapping[str, float] | None = None) -> list[LinkShape]:
    """Every collision shape of the robot's URDF. `fingers`: places [rad], [m] of joints that are not the arm's.

    Raises ModelError when a mesh cannot be read or nothing has a shape, InvalidValueError on an unknown finger.
    """
    whole = pin.buildModelFromXML(robot.urdf)
    outside = _OutsideJoints(robot, whole, fingers or {})
    found = []
    for shape in _read_shapes(robot, whole):
        link, turns, slack = outside.places(shape)
        base = robot.T_world_base if link == 0 else pin.SE3.Identity()
        placed = tuple(tuple(base * T for T in turn) for turn in turns)
        body = whole.frames[shape.parentFrame].name
        found.append(LinkShape(link, body, shape.name, shape.geometry, placed, slack))
    if not any(shape.link for shape in found):
        raise ModelError(f"{robot.urdf_path}: no link that a joint moves has a collision shape; nothing can be proved")
    return found


def _read_shapes(robot: RobotModel, whole: pin.Model) -> list[pin.GeometryObject]:
    try:
        folders = _package_folders(robot.urdf_path)
        geometry = pin.buildGeomFromUrdfString(
            whole, robot.urdf, pin.GeometryType.COLLISION, package_dirs=folders, mesh_loader=coal.MeshLoader()
        )
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{robot.urdf_path}: collision shapes: {str(error).strip()}") from None
    return list(geometry.geometryObjects)


def _package_folders(urdf: Path) -> list[str]:
    folders = [str(parent) for parent in urdf.resolve().parents[:4]]
    folders += [os.path.join(p, "share") for p in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if p]  # noqa: PTH118
    with contextlib.suppress(ModelError):  # meshes of the arm may lie elsewhere
        folders.append(str(example_robot_data().parent))
    return folders


@dataclass(frozen=True)
class _Follower:
    """The value of a joint: `ratio` times that of joint `leader`, and `offset`."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


class _OutsideJoints:
    """Joints between the arm and the shapes that it does not move itself."""

    def __init__(self, robot: RobotModel, whole: pin.Model, fingers: Mapping[str, float]) -> None:
        self._whole, self._fingers = whole, fingers
        self._arm = {name: i for i, name in enumerate(robot.model.names)}
        self._followers = _followers(robot.urdf)
        for name, value in fingers.items():
            if name not in set(whole.names) - set(self._arm):
                allowed = ", ".join(sorted(set(whole.names) - set(self._arm))) or "none"
                raise InvalidValueError("fingers", name, f"allowed: joints that are not the arm's: {allowed}")
            if not math.isfinite(value):
                raise InvalidValueError(f"fingers.{name}", value, "allowed: a finite number")

    def places(self, shape: pin.GeometryObject) -> tuple[int, list[list[pin.SE3]], float]:
        """The arm's link that carries a shape, the shape's turns on it, and their slack [m]."""
        path, joint = [], shape.parentJoint
        while self._whole.names[joint] not in self._arm:
            path.append(joint)
            joint = self._whole.parents[joint]
        link = self._arm[self._whole.names[joint]]
        free = {leader for i in path if (leader := self._leader(i).leader) not in self._fingers}
        turning = sorted({self._leader(i).leader for i in path if self._turns(i)} & free)
        levers = {leader: self._lever(path, shape, leader) for leader in turning}
        counts = {leader: self._count(leader, levers[leader]) for leader in turning}
        sliding = sorted(free - set(turning))
        turns = [
            [
                self._placed(path, shape, dict(zip((*turning, *sliding), (*angles, *ends), strict=True)))
                for ends in corners
            ]
            for angles in itertools.product(*(self._middles(leader, counts[leader]) for leader in turning))
            for corners in [list(itertools.product(*(self._range(leader) for leader in sliding)))]
        ]
        slack = sum(levers[n] * np.ptp(self._range(n)) / (2.0 * counts[n]) for n in turning)
        return link, turns, float(slack)

    def _leader(self, joint: int) -> _Follower:
        name = self._whole.names[joint]
        found = self._followers.get(name, _Follower(name))
        if name in self._fingers or found.leader in self._arm or not self._whole.existJointName(found.leader):
            return _Follower(name)
        return found

    def _turns(self, joint: int) -> bool:
        return "P" not in self._whole.joints[joint].shortname().removeprefix("JointModel")

    def _range(self, name: str) -> tuple[float, float]:
        joint = self._whole.joints[self._whole.getJointId(name)]
        if joint.nq != 1:
            raise ModelError(f"joint {name!r}: joints of more than one axis are not supported")
        low, high = self._whole.lowerPositionLimit[joint.idx_q], self._whole.upperPositionLimit[joint.idx_q]
        if self._turns(joint.id) and high - low > WHOLE_TURN:
            return -0.5 * WHOLE_TURN, 0.5 * WHOLE_TURN
        return float(low), float(high)

    def _middles(self, name: str, count: int) -> list[float]:
        low, high = self._range(name)
        return [low + (high - low) * (i + 0.5) / count for i in range(count)]

    def _count(self, name: str, lever: float) -> int:
        low, high = self._range(name)
        return int(np.clip(math.ceil((high - low) * lever / (2.0 * STEP)), 1, MOST_TURNS))

    def _lever(self, path: list[int], shape: pin.GeometryObject, leader: str) -> float:
        """Most [m] that a point of the shape moves per rad of `leader`, anywhere in all ranges."""
        shape.geometry.computeLocalAABB()
        reach = float(np.linalg.norm(shape.placement.act(shape.geometry.aabb_center))) + shape.geometry.aabb_radius
        total = 0.0
        for joint in path:
            follows = self._leader(joint)
            if follows.leader == leader:
                total += abs(follows.ratio) * (reach if self._turns(joint) else 1.0)
            slide = 0.0 if self._turns(joint) else max(map(abs, self._range(self._whole.names[joint])))
            reach += float(np.linalg.norm(self._whole.jointPlacements[joint].translation)) + slide
        return total

    def _placed(self, path: list[int], shape: pin.GeometryObject, values: Mapping[str, float]) -> pin.SE3:
        T = shape.placement
        for joint in path:
            follows, model = self._leader(joint), self._whole.joints[joint]
            value = values[follows.leader] if follows.leader in values else self._fingers[follows.leader]
            data, q = model.createData(), np.zeros(self._whole.nq)
            q[model.idx_q] = follows.ratio * value + follows.offset
            model.calc(data, q)
            T = self._whole.jointPlacements[joint] * data.M * T
        return T


def _followers(urdf: str) -> dict[str, _Follower]:
    """Joints that follow another (mimic)."""
    found = {}
    for joint in ET.fromstring(urdf).findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None:
            ratio, offset = float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))
            found[joint.get("name", "")] = _Follower(mimic.get("joint", ""), ratio, offset)
    return found
