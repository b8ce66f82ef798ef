"""An own judge of contact: the shapes of a robot's URDF file as Pinocchio and Coal read them, and nothing else.

None of the planner's geometry is used: file, pairs of links, followers, fingers, spheres around the shapes and the
insides of meshes are read or made here. Coal gets a fresh request for every pair: a guess kept from another pose makes
it miss contacts.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import example_robot_data
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray

ON_AXIS = 1e-9  # [m]
ALWAYS, SAMPLES = 0.95, 200  # links that touch in this part of so many samples are not told apart
FAR = 1.0  # [m] distances are not measured beyond
WIDE = 20.0  # [m] edge of the box that stands for a half-space


@dataclass(frozen=True)
class Solid:
    """One thing to measure: a shape, its place on the joint `joint` that moves it, and a sphere around it."""

    body: str  # URDF link, or obstacle
    joint: int  # of the whole robot; 0: fixed in WORLD
    shape: coal.CollisionGeometry
    T: pin.SE3
    middle: FloatArray  # (3,) [m] in the frame of the joint
    radius: float  # [m]
    triangles: FloatArray | None  # (k, 3, 3) [m] of a mesh, in its own frame
    box: tuple[coal.CollisionGeometry, pin.SE3] | None  # around a mesh, in its own frame


@dataclass(frozen=True)
class Nearest:
    """The least distance [m] of a pair that must not touch, below or at 0: penetration; and its names."""

    distance: float
    names: tuple[str, str]


class TrueShapes:
    """Distances of one robot to obstacles and to itself. Joints that are not the arm's are drawn anew each time."""

    def __init__(self, robot: RobotModel, rng: np.random.Generator) -> None:
        self._robot, self._rng = robot, rng
        urdf = robot.urdf_path.read_text()
        self._model = pin.buildModelFromXML(urdf)
        self._data = self._model.createData()
        self._arm = [self._model.getJointId(name) for name in robot.joint_names]
        self._followers = _followers(ET.fromstring(urdf))
        shapes = pin.buildGeomFromUrdfString(
            self._model, urdf, pin.GeometryType.COLLISION, package_dirs=_folders(robot.urdf_path),
            mesh_loader=coal.MeshLoader(),
        )  # fmt: skip
        self._own = [
            _solid(self._model.frames[s.parentFrame].name, s.parentJoint, s.geometry, s.placement)
            for s in shapes.geometryObjects
        ]
        self._carrier = {solid.body: self._carried_by(solid.joint) for solid in self._own}
        self._solids, self._pairs = list(self._own), np.empty((0, 2), np.int64)
        self.checked = self._told_apart(urdf)  # pairs of URDF links
        self.surround([])

    def surround(self, obstacles: Iterable[tuple[str, str, tuple[float, ...], pin.SE3]]) -> None:
        """Obstacles from now on: name, kind (box, sphere, cylinder, half_space), size [m], T_world_obstacle."""
        around = [_solid(name, 0, *_obstacle(kind, size, T)) for name, kind, size, T in obstacles]
        self._solids = self._own + around
        own, first = range(len(self._own)), len(self._own)
        pairs = [
            (i, j) for i, j in combinations(own, 2)
            if tuple(sorted((self._own[i].body, self._own[j].body))) in self.checked
        ]  # fmt: skip
        moving = [i for i in own if self._carrier[self._own[i].body] > 0 and not self._stands_still(self._own[i])]
        self._pairs = np.array(
            pairs + [(i, first + k) for i in moving for k in range(len(around))], dtype=np.int64
        ).reshape(-1, 2)

    def nearest(self, q: FloatArray, within: float = FAR) -> Nearest:
        """The pair with the least distance at `q` (n,) [rad]; those beyond `within` [m] are not measured."""
        placed = self._place(q)
        R, p = placed
        joints = np.array([solid.joint for solid in self._solids])
        middles = np.einsum("sij,sj->si", R[joints], np.array([s.middle for s in self._solids])) + p[joints]
        radii = np.array([solid.radius for solid in self._solids])
        a, b = self._pairs.T
        bounds = np.linalg.norm(middles[a] - middles[b], axis=1) - radii[a] - radii[b]
        best = Nearest(within, ("", ""))
        for k in np.argsort(bounds).tolist():
            if bounds[k] >= best.distance:
                break
            one, other = self._solids[a[k]], self._solids[b[k]]
            T, U = _at(placed, one), _at(placed, other)
            if (one.box or other.box) and _boxes_apart(one, T, other, U) >= best.distance:
                continue
            distance = _distance(one, T, other, U)
            if distance < best.distance:
                best = Nearest(distance, (one.body, other.body))
        return best

    def _place(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rotations and origins of every joint in WORLD, at `q`."""
        model, full = self._model, pin.neutral(self._model)
        for joint in range(1, model.njoints):
            low, high = (limit[model.idx_qs[joint]] for limit in (model.lowerPositionLimit, model.upperPositionLimit))
            turns = model.nqs[joint] == 2
            self._set(full, joint, self._rng.uniform(*((-np.pi, np.pi) if turns else (low, high))))
        for joint, value in zip(self._arm, q.tolist(), strict=True):
            self._set(full, joint, value)
        for follower, (leader, ratio, offset) in self._followers.items():
            value = full[model.idx_qs[model.getJointId(leader)]]
            self._set(full, model.getJointId(follower), ratio * value + offset)
        pin.forwardKinematics(model, self._data, full)
        base = self._robot.T_world_base
        R = np.array([np.eye(3), *(base.rotation @ T.rotation for T in list(self._data.oMi)[1:])])
        p = np.array([np.zeros(3), *(base.act(T.translation) for T in list(self._data.oMi)[1:])])
        return R, p

    def _set(self, full: FloatArray, joint: int, value: float) -> None:
        at = self._model.idx_qs[joint]
        if self._model.nqs[joint] == 2:  # without end stops: cosine and sine
            full[at], full[at + 1] = np.cos(value), np.sin(value)
        else:
            full[at] = value

    def _carried_by(self, joint: int) -> int:
        """The number, from 1, of the arm's joint that carries a joint; 0: none."""
        while joint and joint not in self._arm:
            joint = self._model.parents[joint]
        return self._arm.index(joint) + 1 if joint else 0

    def _stands_still(self, solid: Solid) -> bool:
        """True for a round shape around the axis of joint 1, if that turns: the planner cannot move it away."""
        kind = self._model.joints[self._arm[0]].shortname()
        if solid.joint != self._arm[0] or "P" in kind.removeprefix("JointModel") or len(kind) < 3:
            return False
        axis = np.array([kind.rstrip("BU")[-1] == letter for letter in "XYZ"], dtype=float)
        if not axis.any() or isinstance(solid.shape, coal.Box) or solid.triangles is not None:
            return False
        off = np.linalg.norm(np.cross(solid.T.translation, axis))
        tilt = 0.0 if isinstance(solid.shape, coal.Sphere) else np.linalg.norm(np.cross(solid.T.rotation[:, 2], axis))
        return bool(max(off, tilt) <= ON_AXIS)

    def _told_apart(self, urdf: str) -> frozenset[tuple[str, str]]:
        """Pairs of URDF links that must not touch: without those of one link of the arm, and as a person would."""
        bodies = sorted(self._carrier)
        pairs = {(a, b) for a, b in combinations(bodies, 2) if self._carrier[a] != self._carrier[b]}
        if self._robot.srdf is not None:
            entries = ET.parse(self._robot.srdf.path).getroot().findall("disable_collisions")
            return frozenset(pairs - {tuple(sorted((e.get("link1", ""), e.get("link2", "")))) for e in entries})
        pairs -= _joined(ET.fromstring(urdf), set(bodies))
        home, limits = np.array(self._robot.home), self._robot.limits
        pairs -= {pair for pair in pairs if any(self._touch(pair, home) for _ in range(20))}
        samples = [self._rng.uniform(limits.lower, limits.upper) for _ in range(SAMPLES)]
        often = {pair for pair in pairs if all(self._touch(pair, q) for q in samples[:3])}
        return frozenset(pairs - {pair for pair in often if np.mean([self._touch(pair, q) for q in samples]) >= ALWAYS})

    def _touch(self, pair: tuple[str, str], q: FloatArray) -> bool:
        placed = self._place(q)
        one, other = ([s for s in self._own if s.body == name] for name in pair)
        return any(_distance(a, _at(placed, a), b, _at(placed, b)) <= 0.0 for a in one for b in other)


def _folders(urdf: Path) -> list[str]:
    """Folders in which packages of meshes may lie."""
    ament = [str(Path(p) / "share") for p in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if p]
    return [*(str(parent) for parent in urdf.resolve().parents[:4]), *ament, str(example_robot_data().parent)]


def _solid(body: str, joint: int, shape: coal.CollisionGeometry, T: pin.SE3) -> Solid:
    shape.computeLocalAABB()
    triangles, around = None, None
    if isinstance(shape, coal.BVHModelBase):
        corners = np.array([shape.vertex(i) for i in range(shape.num_vertices)])
        faces = [[shape.tri_indices(i)[k] for k in range(3)] for i in range(shape.num_tris)]
        triangles = corners[np.array(faces, dtype=np.int64)]
        low, high = corners.min(axis=0), corners.max(axis=0)
        around = coal.Box(*(high - low + 1e-6)), pin.SE3(np.eye(3), 0.5 * (low + high))
    middle, radius = T.act(np.array(shape.aabb_center)), float(shape.aabb_radius)
    return Solid(body, joint, shape, T, middle, radius, triangles, around)


def _obstacle(kind: str, size: tuple[float, ...], T: pin.SE3) -> tuple[coal.CollisionGeometry, pin.SE3]:
    if kind == "half_space":
        return coal.Box(WIDE, WIDE, WIDE), T * pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 * WIDE]))
    return {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}[kind](*size), T


def _at(placed: tuple[FloatArray, FloatArray], solid: Solid) -> pin.SE3:
    return pin.SE3(placed[0][solid.joint], placed[1][solid.joint]) * solid.T


def _boxes_apart(a: Solid, T: pin.SE3, b: Solid, U: pin.SE3) -> float:
    """Distance [m] of boxes around meshes, and of what is no mesh itself; 0 where they overlap."""
    one, T = (a.box[0], T * a.box[1]) if a.box else (a.shape, T)
    other, U = (b.box[0], U * b.box[1]) if b.box else (b.shape, U)
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return float(coal.distance(one, first, other, second, coal.DistanceRequest(), coal.DistanceResult())) - 1e-6


def _distance(a: Solid, T: pin.SE3, b: Solid, U: pin.SE3) -> float:
    """Distance [m]; at or below 0 when they touch, also when one is inside the other's mesh."""
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    found = float(coal.distance(a.shape, first, b.shape, second, coal.DistanceRequest(), coal.DistanceResult()))
    inside = found > 0.0 and (_inside(a, T, b, U) or _inside(b, U, a, T))
    return -found if inside else found


def _inside(mesh: Solid, T: pin.SE3, other: Solid, U: pin.SE3) -> bool:
    """True when a point of `other` is inside a mesh, by the solid angle under which its faces appear."""
    if mesh.triangles is None:
        return False
    point = other.triangles[0, 0] if other.triangles is not None else np.zeros(3)
    local = T.actInv(U.act(point))
    low, high = mesh.triangles.min(axis=(0, 1)), mesh.triangles.max(axis=(0, 1))
    if not ((local > low) & (local < high)).all():
        return False
    a, b, c = (mesh.triangles[:, k] - local for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("ki,ki->k", a, np.cross(b, c))
    rest = x * y * z + z * np.einsum("ki,ki->k", a, b) + x * np.einsum("ki,ki->k", b, c)
    rest += y * np.einsum("ki,ki->k", c, a)
    return bool(abs(np.arctan2(volume, rest).sum()) > np.pi)  # half of 2 pi, the sum inside


def _followers(urdf: ET.Element) -> dict[str, tuple[str, float, float]]:
    """Joints that follow another: its name, multiplier and offset."""
    rows = ((joint.get("name", ""), joint.find("mimic")) for joint in urdf.findall("joint"))
    return {
        name: (mimic.get("joint", ""), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0")))
        for name, mimic in rows
        if mimic is not None
    }


def _joined(urdf: ET.Element, bodies: set[str]) -> set[tuple[str, str]]:
    """Pairs of links that joints join, with nothing but links without shapes between."""
    above: dict[str, str] = {}
    for joint in urdf.findall("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is not None and child is not None:
            above[child.get("link", "")] = parent.get("link", "")
    found = set()
    for body in bodies:
        link = above.get(body, "")
        while link and link not in bodies:
            link = above.get(link, "")
        if link:
            found.add((min(body, link), max(body, link)))
    return found
