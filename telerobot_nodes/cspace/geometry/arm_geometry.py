"""The arm as collision spheres on its links, as flat arrays for compiled code; held objects; pairs of links.

The spheres contain every collision shape of the URDF. Spheres form groups, groups form links, each with a sphere
around it: a bounding volume hierarchy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, chain_of
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry.forward_kinematics import Arm, IntArray, sphere_centers
from telerobot_nodes.cspace.geometry.obstacles import Obstacle
from telerobot_nodes.cspace.geometry.shapes import TOLERANCE, link_spheres
from telerobot_nodes.cspace.geometry.solids import (
    CollisionSphere,
    bounding_sphere,
    box_points,
    cover,
    cover_capsule,
    cylinder_points,
)
from telerobot_nodes.errors import InvalidValueError

GROUP = 6  # spheres of a group at most
SAMPLES = 300  # random configurations by which pairs of links that always overlap are found
ALWAYS = 0.98  # [-] of them; the spheres are too coarse to test such a pair


@dataclass(frozen=True)
class Attachment:
    """A solid fixed to the tool, such as a held object. `solid.pose` is in the tool frame."""

    solid: Obstacle

    def __post_init__(self) -> None:
        if self.solid.kind == "half_space":
            raise InvalidValueError("attachment kind", self.solid.kind, "allowed: box, sphere, cylinder")


@dataclass(frozen=True)
class ArmGeometry:
    """The spheres of `robot` with `attachments`; `excluded` names the pairs of links that are not tested and why."""

    robot: RobotModel
    arm: Arm
    attachments: tuple[Attachment, ...]
    excluded: tuple[tuple[int, int, str], ...]
    sphere_names: tuple[str, ...]  # the shape each sphere belongs to

    @property
    def dof(self) -> int:
        """Number of joints."""
        return self.robot.dof

    def key(self) -> str:
        """Digest of everything that decides a distance of this arm."""
        digest = hashlib.sha256()
        for array in self.arm:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def arm_geometry(
    robot: RobotModel, attachments: Sequence[Attachment] = (), tolerance: float = TOLERANCE
) -> ArmGeometry:
    """Cover every collision shape of the robot's URDF, and what is attached to its tool, with spheres.

    Pairs of links are left out when they are neighbours or their spheres overlap in nearly every sampled configuration.
    """
    chain = chain_of(robot.model, robot.tool_frame_id)
    align = [_z_to(axis) for axis in chain.axis]
    per_link: dict[int, list[tuple[CollisionSphere, str]]] = {i: [] for i in range(robot.dof + 1)}
    for entry in link_spheres(robot, tolerance):
        per_link[entry.link] += [(sphere, entry.name) for sphere in entry.spheres]
    per_link[robot.dof] += _attached(robot, attachments, tolerance)
    for i in range(robot.dof):
        per_link[i + 1] = [(CollisionSphere(align[i].T @ b.center, b.radius), name) for b, name in per_link[i + 1]]
    layers = {link: _groups(_outermost(per_link[link])) for link in sorted(per_link)}
    before = [np.eye(3), *align[:-1]]
    unpaired = _flatten(layers, before, align, chain.rotation, chain.offset, chain.prismatic, robot)
    pairs, excluded = _pairs(unpaired, robot)
    names = tuple(name for layer in layers.values() for group in layer for _, name in group)
    return ArmGeometry(robot, unpaired._replace(pairs=pairs), tuple(attachments), excluded, names)


def _z_to(axis: FloatArray) -> FloatArray:
    """A rotation that takes z to `axis`."""
    u, _, _ = np.linalg.svd(axis.reshape(3, 1))
    first = u[:, 1]
    return np.column_stack([first, np.cross(axis, first), axis])


def _attached(
    robot: RobotModel, attachments: Sequence[Attachment], tolerance: float
) -> list[tuple[CollisionSphere, str]]:
    T_joint_tool = robot.model.frames[robot.tool_frame_id].placement
    found = []
    for attachment in attachments:
        T = T_joint_tool * attachment.solid.T_world_obstacle
        found += [(sphere, attachment.solid.name) for sphere in solid_spheres(attachment.solid, T, tolerance)]
    return found


def solid_spheres(solid: Obstacle, T: pin.SE3, tolerance: float = TOLERANCE) -> list[CollisionSphere]:
    """Spheres that contain a box, sphere or cylinder at `T`."""
    size = np.array(solid.size)
    if solid.kind == "sphere":
        return cover_capsule(T.translation, T.translation, float(size[0]), tolerance)
    points = box_points(size) if solid.kind == "box" else cylinder_points(float(size[0]), float(size[1]))
    return [CollisionSphere(T.act(sphere.center), sphere.radius) for sphere in cover(points, tolerance)]


def _outermost(entries: list[tuple[CollisionSphere, str]]) -> list[tuple[CollisionSphere, str]]:
    """The spheres that lie inside no other."""
    kept: list[tuple[CollisionSphere, str]] = []
    for sphere, name in sorted(entries, key=lambda entry: -entry[0].radius):
        if not any(np.linalg.norm(sphere.center - k.center) + sphere.radius <= k.radius + 1e-12 for k, _ in kept):
            kept.append((sphere, name))
    return kept


def _groups(entries: list[tuple[CollisionSphere, str]]) -> list[list[tuple[CollisionSphere, str]]]:
    """Groups of at most GROUP spheres, made by halving along the longest side."""
    if len(entries) <= GROUP:
        return [entries] if entries else []
    centers = np.array([sphere.center for sphere, _ in entries])
    axis = int(np.ptp(centers, axis=0).argmax())
    order = np.argsort(centers[:, axis], kind="stable")
    half = len(entries) // 2
    return _groups([entries[i] for i in order[:half]]) + _groups([entries[i] for i in order[half:]])


def enclosing_sphere(spheres: Sequence[CollisionSphere]) -> CollisionSphere:
    """A sphere that holds every one of `spheres`; radius 0 for none."""
    if not spheres:
        return CollisionSphere(np.zeros(3), 0.0)
    centers = np.array([sphere.center for sphere in spheres])
    radii = np.array([sphere.radius for sphere in spheres])
    out = np.vstack([centers + radii[:, None] * d for d in np.vstack([np.eye(3), -np.eye(3)])])
    middle = bounding_sphere(out).center
    return CollisionSphere(middle, float((np.linalg.norm(centers - middle, axis=1) + radii).max()))


def _flatten(
    layers: dict[int, list[list[tuple[CollisionSphere, str]]]],
    before: list[FloatArray],
    align: list[FloatArray],
    rotation: FloatArray,
    offset: FloatArray,
    prismatic: FloatArray,
    robot: RobotModel,
) -> Arm:
    groups = [(link, [sphere for sphere, _ in group]) for link, layer in layers.items() for group in layer]
    spheres = [sphere for _, group in groups for sphere in group]
    of_group = [enclosing_sphere(group) for _, group in groups]
    of_link = [enclosing_sphere([b for k, group in groups if k == link for b in group]) for link in layers]
    return Arm(
        rotation=np.array([b.T @ R @ a for b, R, a in zip(before, rotation, align, strict=True)]),
        offset=np.array([b.T @ o for b, o in zip(before, offset, strict=True)]),
        prismatic=np.array(prismatic, dtype=np.float64),
        sphere_center=np.array([sphere.center for sphere in spheres]).reshape(-1, 3),
        sphere_radius=np.array([sphere.radius for sphere in spheres]),
        sphere_first=np.cumsum([0, *(len(group) for _, group in groups)]).astype(np.int64),
        group_link=np.array([link for link, _ in groups], dtype=np.int64),
        group_center=np.array([sphere.center for sphere in of_group]).reshape(-1, 3),
        group_radius=np.array([sphere.radius for sphere in of_group]),
        link_first=np.cumsum([0, *(len(layer) for layer in layers.values())]).astype(np.int64),
        link_center=np.array([sphere.center for sphere in of_link]).reshape(-1, 3),
        link_radius=np.array([sphere.radius for sphere in of_link]),
        pairs=np.empty((0, 2), dtype=np.int64),
        first_moving=1 if any(np.hypot(b.center[0], b.center[1]) > 1e-9 for k, g in groups if k == 1 for b in g) else 2,
        lower=np.array(robot.limits.lower),
        upper=np.array(robot.limits.upper),
    )


def _pairs(arm: Arm, robot: RobotModel) -> tuple[IntArray, tuple[tuple[int, int, str], ...]]:
    rng = np.random.default_rng(0)
    samples = rng.uniform(robot.limits.lower, robot.limits.upper, (SAMPLES, robot.dof))
    places = np.array([sphere_centers(arm, q) for q in samples])
    links = _sphere_links(arm)
    kept, excluded = [], []
    for a in range(robot.dof + 1):
        for b in range(a + 1, robot.dof + 1):
            first, second = np.flatnonzero(links == a), np.flatnonzero(links == b)
            if not first.size or not second.size:
                continue
            if b == a + 1:
                excluded.append((a, b, "neighbours"))
            elif (part := _overlap(places, arm.sphere_radius, first, second)) >= ALWAYS:
                excluded.append((a, b, f"overlap in {100.0 * part:.0f} % of sampled configurations"))
            else:
                kept.append((a, b))
    return np.array(kept, dtype=np.int64).reshape(-1, 2), tuple(excluded)


def _sphere_links(arm: Arm) -> IntArray:
    return np.repeat(arm.group_link, np.diff(arm.sphere_first))


def _overlap(places: FloatArray, radius: FloatArray, first: IntArray, second: IntArray) -> float:
    """Part of the sampled configurations in which two sets of spheres overlap."""
    gap = np.linalg.norm(places[:, first, None] - places[:, None, second], axis=3)
    clear = gap - radius[first][:, None] - radius[second][None, :]
    return float((clear.min(axis=(1, 2)) < 0.0).mean())
