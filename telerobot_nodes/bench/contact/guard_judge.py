"""Where the tool was, for the benchmark of the guard: kinematics and shapes read from the URDF, by numpy alone.

What belongs here: nothing of the product but the URDF's text and the place of the base, so that the judge does not
repeat its mistakes. The tool is every collision shape that the last joint moves, with the fingers at both ends of their
range, TN, NOM, and a box held by the hand.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

_ENDS = ("lower", "upper")


@dataclass(frozen=True)
class _Joint:
    """One joint of the URDF."""

    name: str
    kind: str
    child: str
    T: FloatArray  # (4, 4) in its parent link, at zero
    axis: FloatArray  # (3,)
    ends: tuple[float, float]  # [rad], [m]


@dataclass(frozen=True)
class Solids:
    """Solids (n) in one frame: center, axes, half sizes along them, radius of a disc across z, radius of a ball.

    A solid is the sum of its parts: a cylinder has a half size along z and a disc.
    """

    center: FloatArray  # (n, 3) [m]
    axes: FloatArray  # (n, 3, 3) columns
    half: FloatArray  # (n, 3) [m]
    disc: FloatArray  # (n,) [m]
    ball: FloatArray  # (n,) [m]

    def in_frame(self, T: FloatArray) -> Solids:
        """The same solids seen from another frame: `T` (4, 4) of theirs in it."""
        R = T[:3, :3]
        return Solids(self.center @ R.T + T[:3, 3], R @ self.axes, self.half, self.disc, self.ball)

    def with_others(self, others: Solids) -> Solids:
        """These solids and others of the same frame."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in self.__dataclass_fields__)
        return Solids(*(np.concatenate(pair) for pair in pairs))


def point(p: FloatArray) -> Solids:
    """A point (3,) [m]."""
    return Solids(np.atleast_2d(p), np.eye(3)[None], np.zeros((1, 3)), np.zeros(1), np.zeros(1))


def box(T: FloatArray, half: FloatArray) -> Solids:
    """A box of half sizes (3,) [m] about the frame `T` (4, 4)."""
    return Solids(T[None, :3, 3], T[None, :3, :3], np.atleast_2d(half), np.zeros(1), np.zeros(1))


class Planes:
    """Half-spaces in WORLD that the tool must stay in: those of a plane, and of a box."""

    def __init__(self, plane: FloatArray | None, corners: FloatArray | None) -> None:
        normals, offsets = [], []
        if plane is not None:
            normals.append(plane[3:] / np.linalg.norm(plane[3:]))
            offsets.append(float(normals[-1] @ plane[:3]))
        for axis in range(3) if corners is not None else ():
            normals += [np.eye(3)[axis], -np.eye(3)[axis]]
            offsets += [corners[axis], -corners[axis + 3]]  # type: ignore[index]
        self.normals, self.offsets = np.array(normals), np.array(offsets)

    def distances(self, T: FloatArray, solids: Solids) -> FloatArray:
        """Distances (k, planes, n) [m] of solids, in a frame at `T` (k, 4, 4) in WORLD; negative beyond."""
        normals = np.einsum("kji,pj->kpi", T[:, :3, :3], self.normals)  # of the planes, in the frame
        along = np.einsum("kpi,nij->kpnj", normals, solids.axes)
        middle = np.einsum("pi,ki->kp", self.normals, T[:, :3, 3]) - self.offsets
        out = middle[:, :, None] + np.einsum("kpi,ni->kpn", normals, solids.center)
        out -= np.einsum("kpni,ni->kpn", np.abs(along), solids.half)
        out -= solids.disc * np.sqrt(np.maximum(1.0 - along[..., 2] ** 2, 0.0)) + solids.ball
        return np.asarray(out)


class ToolGeometry:
    """The tool of one arm: `solids` in the frame of its last joint, and the kinematics to it."""

    def __init__(self, robot: RobotModel) -> None:
        xml = ET.fromstring(robot.urdf)
        self._above = {_child(joint): _joint(joint) for joint in xml.findall("joint")}
        self._parent = {_child(joint): joint.find("parent").get("link", "") for joint in xml.findall("joint")}  # type: ignore[union-attr]
        self._base = np.array(robot.T_world_base.homogeneous)
        moving = set(robot.joint_names)
        chain = self._up_to_root(robot.tool_frame)
        self._chain = chain[::-1]
        last = next(i for i, joint in enumerate(chain) if joint.name in moving)
        self.T_last_tn = np.eye(4)
        for joint in chain[:last][::-1]:
            self.T_last_tn = self.T_last_tn @ joint.T
        self._end = chain[last].child
        if [joint.name for joint in self._chain if joint.name in moving] != list(robot.joint_names):
            raise InvalidValueError(
                "robot", robot.name, "allowed: an arm whose joints are those of its chain, in order"
            )
        self._moving = moving
        self.solids = point(self.T_last_tn[:3, 3])
        for link in xml.findall("link"):
            for T in self._places(link.get("name", "")):
                for element in link.findall("collision"):
                    self.solids = self.solids.with_others(_solid(element).in_frame(T))

    def last(self, q: FloatArray) -> FloatArray:
        """Frames (k, 4, 4) of the last joint in WORLD at `q` (k, dof) [rad]."""
        T, i = np.broadcast_to(self._base, (len(q), 4, 4)), 0
        for joint in self._chain:
            T = T @ joint.T
            if joint.name in self._moving:
                T = T @ _motion(joint, q[:, i])
                i += 1
            if joint.child == self._end:
                break
        return np.asarray(T)

    def _up_to_root(self, link: str) -> list[_Joint]:
        found = []
        while link in self._above:
            found.append(self._above[link])
            link = self._parent[link]
        return found

    def _places(self, link: str) -> list[FloatArray]:
        """Places (4, 4) of a link in the frame of the last joint; none if that joint does not move it."""
        path: list[_Joint] = []
        while link != self._end:
            if link not in self._above:
                return []
            path.append(self._above[link])
            link = self._parent[link]
        places = [np.eye(4)]
        for joint in path[::-1]:
            if joint.kind == "fixed":
                places = [T @ joint.T for T in places]
            elif joint.kind == "prismatic":
                ends = _motion(joint, np.array(joint.ends))
                places = [T @ joint.T @ end for T in places for end in ends]
            else:
                raise InvalidValueError("robot", joint.name, "allowed: fingers that slide")
        return places


def _motion(joint: _Joint, q: FloatArray) -> FloatArray:
    """Frames (k, 4, 4) of a joint at `q` (k,) from its zero."""
    T = np.tile(np.eye(4), (len(q), 1, 1))
    if joint.kind == "prismatic":
        T[:, :3, 3] = q[:, None] * joint.axis
        return T
    x, y, z = joint.axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    T[:, :3, :3] += np.sin(q)[:, None, None] * K + (1.0 - np.cos(q))[:, None, None] * (K @ K)
    return T


def _child(joint: ET.Element) -> str:
    return joint.find("child").get("link", "")  # type: ignore[union-attr]


def _joint(element: ET.Element) -> _Joint:
    axis = _numbers(element.find("axis"), "xyz", "1 0 0")
    limit = element.find("limit")
    ends = (0.0, 0.0) if limit is None else tuple(float(limit.get(end, "0")) for end in _ENDS)
    kind = {"continuous": "revolute"}.get(element.get("type", ""), element.get("type", ""))
    T = _origin(element)
    return _Joint(element.get("name", ""), kind, _child(element), T, axis / np.linalg.norm(axis), (ends[0], ends[1]))


def _solid(collision: ET.Element) -> Solids:
    T = _origin(collision)
    shape = next(iter(collision.find("geometry")))  # type: ignore[arg-type]
    half, disc, ball = np.zeros(3), 0.0, 0.0
    if shape.tag == "box":
        half = 0.5 * _numbers(shape, "size", "")
    elif shape.tag == "sphere":
        ball = float(shape.get("radius", ""))
    elif shape.tag == "cylinder":
        half[2], disc = 0.5 * float(shape.get("length", "")), float(shape.get("radius", ""))
    else:
        raise InvalidValueError("robot", shape.tag, "allowed: a tool of boxes, cylinders and spheres")
    return Solids(T[None, :3, 3], T[None, :3, :3], half[None], np.array([disc]), np.array([ball]))


def _origin(element: ET.Element) -> FloatArray:
    origin = element.find("origin")
    T = np.eye(4)
    T[:3, 3] = _numbers(origin, "xyz", "0 0 0")
    (cr, cp, cy), (sr, sp, sy) = (f(_numbers(origin, "rpy", "0 0 0")) for f in (np.cos, np.sin))
    T[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return T


def _numbers(element: ET.Element | None, key: str, default: str) -> FloatArray:
    text = default if element is None else element.get(key, default)
    return np.array([float(word) for word in text.split()])
