"""MoveIt's planning scenes: things in any frame, held things, allowed contacts, to a scene of ours.

Reads the fields of moveit_msgs/PlanningScene without importing it: messages, and files read by `scene_files`, are the
same here. What cannot be kept as it is meant is refused by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray, pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.covering import NamePair, name_pair
from telerobot_nodes.cspace.geometry import PART, Change, Obstacle, Scene, hull
from telerobot_nodes.cspace.scenes.frames import Frames
from telerobot_nodes.cspace.scenes.octomap import NAME as OCTOMAP
from telerobot_nodes.cspace.scenes.octomap import octomap_voxels
from telerobot_nodes.errors import InvalidValueError

KINDS = {1: "box", 2: "sphere", 3: "cylinder"}  # shape_msgs/SolidPrimitive
CONE = 4
CORNERS = 16  # of the prism around a cone's base
ADD, REMOVE, APPEND, MOVE = 0, 1, 2, 3  # moveit_msgs/CollisionObject


def scene_after(message: Any, before: Scene, frames: Frames, arm: str, arms: Iterable[str] = ()) -> Scene:
    """The scene after a PlanningScene message; one that is no difference replaces everything.

    What a link holds is held by the tool of `arm`, and may touch its `touch_links`. Poses are taken in the frames that
    the message names, of which `frames` knows the place. Raises InvalidValueError.
    """
    _refuse_unkept(message)
    add_fixed_frames(message, frames)
    things = _Things(before if message.is_diff else Scene(), frames, arm)
    for entry in message.robot_state.attached_collision_objects:  # first, as MoveIt does
        things.attach(entry)
    for entry in message.world.collision_objects:
        things.apply(entry)
    things.map(message.world.octomap)
    return Scene().changed(things.entries.values(), arms=(arm, *arms))


def attached_after(state: Any, before: Scene, frames: Frames, arm: str) -> Scene:
    """The scene after the attached objects of a RobotState message; raises InvalidValueError."""
    things = _Things(before, frames, arm)
    for entry in state.attached_collision_objects:
        things.attach(entry)
    return Scene().changed(things.entries.values(), arms=(arm,))


def add_fixed_frames(message: Any, frames: Frames) -> None:
    """Add the fixed frames of a scene to `frames`; raises InvalidValueError."""
    for entry in message.fixed_frame_transforms:
        T = frames.pose(entry.header.frame_id, f"fixed frame {entry.child_frame_id}: frame_id")
        move, turn = entry.transform.translation, entry.transform.rotation
        frames.add(entry.child_frame_id, T * _pose_of(move, turn, f"fixed frame {entry.child_frame_id}"))


def allowed_contacts(matrix: Any, names: Collection[str]) -> frozenset[NamePair]:
    """Pairs of links and things that an AllowedCollisionMatrix allows to touch; `names`: all there are.

    A default counts for pairs that the matrix does not have; two defaults must both allow. Raises InvalidValueError.
    """
    listed = list(matrix.entry_names)
    rows = [list(entry.enabled) for entry in matrix.entry_values]
    _check_square(listed, rows)
    found = {name_pair(listed[i], listed[j]) for i, row in enumerate(rows) for j in range(i) if row[j]}
    defaults = dict(zip(matrix.default_entry_names, matrix.default_entry_values, strict=False))
    if len(defaults) != len(matrix.default_entry_values):
        raise InvalidValueError("default_entry_values (length)", len(matrix.default_entry_values), "allowed: as names")
    known = set(listed)
    for a, b in combinations(sorted({*names, *listed}), 2) if defaults else ():
        given = [defaults[name] for name in (a, b) if name in defaults]
        if given and all(given) and not (a in known and b in known):
            found.add((a, b))
    return frozenset(found)


def _check_square(names: list[str], rows: list[list[bool]]) -> None:
    if len(rows) != len(names):
        raise InvalidValueError("entry_values (length)", len(rows), f"allowed: {len(names)}, as entry_names")
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise InvalidValueError(f"entry_values[{i}] (length)", len(row), f"allowed: {len(names)}, as entry_names")
    for i, row in enumerate(rows):
        for j in range(i):
            if row[j] != rows[j][i]:
                raise InvalidValueError(
                    f"entry_values[{i}][{j}]", row[j], f"allowed: as [{j}][{i}], {names[i]} with {names[j]}"
                )


def _refuse_unkept(message: Any) -> None:
    """Raise InvalidValueError where ignoring a field would let the arm come nearer than the scene means."""
    for entry in message.link_padding:
        if entry.padding != 0.0:
            raise InvalidValueError(f"link_padding {entry.link_name}", entry.padding, "allowed: 0; use the margin")
    for entry in message.link_scale:
        if entry.scale != 1.0:
            raise InvalidValueError(f"link_scale {entry.link_name}", entry.scale, "allowed: 1; use the margin")


class _Things:
    """The entries of a scene while a message is applied."""

    def __init__(self, before: Scene, frames: Frames, arm: str) -> None:
        self.entries = dict(before.entries)
        self._frames, self._arm = frames, arm
        self._links = frozenset(frame.name for frame in frames.robot.model.frames)

    def apply(self, entry: Any) -> None:
        """Apply a CollisionObject."""
        operation, old = _operation(entry), self.entries.get(entry.id)
        if operation == REMOVE:
            self._remove(entry.id)
            return
        if old is not None and old.attached_to:
            raise InvalidValueError(
                "obstacle id", entry.id, f"allowed: names of things that arm {old.attached_to} does not hold"
            )
        T = self._frames.pose(entry.header.frame_id, f"obstacle {entry.id}: frame_id") * _placement(entry.pose)
        if operation == MOVE:
            self.entries[entry.id] = _moved(entry, old, T)
            return
        kept = old.solids if old is not None and operation == APPEND else ()
        pose = old.pose if old is not None and operation == APPEND else tuple(pose_from_se3(T).tolist())
        solids = (*kept, *_solids(entry, T, len(kept)))
        if not solids:
            raise InvalidValueError(f"obstacle {entry.id}: shapes (number)", 0, "allowed: 1 or more")
        self.entries[entry.id] = Change(entry.id, solids, pose=pose)

    def _remove(self, name: str) -> None:
        """Of what nobody holds; without a name all of it."""
        gone = [key for key, entry in self.entries.items() if not entry.attached_to and name in ("", key)]
        for key in gone:
            del self.entries[key]

    def map(self, entry: Any) -> None:
        """Apply an OctomapWithPose, which replaces the octomap before it; one without data changes nothing."""
        if not len(entry.octomap.data):
            return
        T = self._frames.pose(entry.header.frame_id, "octomap: frame_id") * _placement(entry.origin)
        voxels = octomap_voxels(entry.octomap, T)
        self.entries.pop(OCTOMAP, None)
        if voxels:
            self.entries[OCTOMAP] = Change(OCTOMAP, tuple(voxels), pose=tuple(pose_from_se3(T).tolist()))

    def attach(self, entry: Any) -> None:
        """Apply an AttachedCollisionObject: hold a thing, which may already be in the scene, or put it down."""
        thing = entry.object
        operation, old = _operation(thing), self.entries.get(thing.id)
        if operation == REMOVE:
            self._put_down(thing.id)
            return
        if operation not in (ADD, APPEND):
            raise InvalidValueError(f"attached {thing.id}: operation", operation, "allowed: 0 add, 1 remove, 2 append")
        self._frames.fixed_to_tool(entry.link_name, f"attached {thing.id}: link_name")
        for link in entry.touch_links:
            if link not in self._links:
                raise InvalidValueError(f"attached {thing.id}: touch_links", link, "allowed: links of the robot")
        solids = self._held_solids(thing, old, operation)
        self.entries.pop(thing.id, None)
        self.entries[thing.id] = Change(thing.id, solids, self._arm, frozenset(entry.touch_links))

    def _held_solids(self, thing: Any, old: Change | None, operation: int) -> tuple[Obstacle, ...]:
        """Solids in the tool frame: the message's, else those of the thing in the scene."""
        where = f"attached {thing.id}: frame_id"
        kept: tuple[Obstacle, ...] = ()
        if old is not None and (operation == APPEND or not _has_shapes(thing)):
            T = pin.SE3.Identity() if old.attached_to else self._frames.tool(where).inverse()
            kept = tuple(solid.at(T * solid.T_world_obstacle) for solid in old.solids)
        if _has_shapes(thing):
            T = self._frames.in_tool(thing.header.frame_id, where) * _placement(thing.pose)
            kept += tuple(_solids(thing, T, len(kept)))
        if not kept:
            raise InvalidValueError(f"attached {thing.id}: shapes (number)", 0, "allowed: 1 or more, or a known thing")
        return kept

    def _put_down(self, name: str) -> None:
        """Without a name: everything that is held."""
        held = {key: old for key, old in self.entries.items() if old.attached_to and name in ("", key)}
        T = self._frames.tool(f"attached {name}: frame_id") if held else pin.SE3.Identity()
        for key, old in held.items():
            solids = tuple(solid.at(T * solid.T_world_obstacle) for solid in old.solids)
            self.entries[key] = Change(key, solids, pose=tuple(pose_from_se3(T).tolist()))


def _operation(entry: Any) -> int:
    operation = entry.operation[0] if isinstance(entry.operation, bytes) else int(entry.operation)
    if operation not in (ADD, REMOVE, APPEND, MOVE):
        raise InvalidValueError(
            f"obstacle {entry.id}: operation", operation, "allowed: 0 add, 1 remove, 2 append, 3 move"
        )
    if PART in entry.id:
        raise InvalidValueError("obstacle id", entry.id, f"allowed: names without {PART}")
    return operation


def _has_shapes(entry: Any) -> bool:
    return bool(len(entry.primitives) + len(entry.meshes) + len(entry.planes))


def _moved(entry: Any, old: Change | None, T: pin.SE3) -> Change:
    """A thing of the scene at another pose, its shapes as they were on it."""
    if old is None or not old.pose:
        raise InvalidValueError(f"obstacle {entry.id}: operation", MOVE, "allowed: 0 add, as its pose is not known")
    if _has_shapes(entry) or len(entry.primitive_poses) + len(entry.mesh_poses) + len(entry.plane_poses):
        raise InvalidValueError(f"obstacle {entry.id}: shapes", "some", "allowed with 3 move: the pose alone")
    shift = T * se3_from_pose(old.pose).inverse()
    solids = tuple(solid.at(shift * solid.T_world_obstacle) for solid in old.solids)
    return replace(old, solids=solids, pose=tuple(pose_from_se3(T).tolist()))


def _solids(entry: Any, T: pin.SE3, first: int) -> list[Obstacle]:
    """The shapes of a thing at `T`, numbered from `first`."""
    solids: list[Obstacle] = []
    for i, (primitive, pose) in enumerate(_paired(entry, "primitive")):
        solids += _primitive(f"{entry.id}{PART}{first + i}", primitive, T * _placement(pose))
    for i, (mesh, pose) in enumerate(_paired(entry, "mesh", "meshes")):
        corners = [(p.x, p.y, p.z) for p in mesh.vertices]
        placed = pose_from_se3(T * _placement(pose))
        solids += hull(f"{entry.id}{PART}mesh{first + i}", np.array(corners), placed).solids
    for i, (plane, pose) in enumerate(_paired(entry, "plane")):
        solids.append(_plane(f"{entry.id}{PART}plane{first + i}", plane.coef, T * _placement(pose)))
    return solids


def _paired(entry: Any, one: str, several: str = "") -> list[tuple[Any, Any]]:
    """Shapes of one kind with their poses; one shape without a pose stands at the thing's own."""
    shapes, poses = getattr(entry, several or f"{one}s"), getattr(entry, f"{one}_poses")
    if len(shapes) == 1 and not len(poses):
        return [(shapes[0], None)]
    if len(shapes) != len(poses):
        raise InvalidValueError(
            f"obstacle {entry.id}: {one}_poses (length)", len(poses), f"allowed: {len(shapes)}, one for each"
        )
    return list(zip(shapes, poses, strict=True))


def _placement(pose: Any) -> pin.SE3:
    return pin.SE3.Identity() if pose is None else _pose_of(pose.position, pose.orientation, "pose")


def _pose_of(position: Any, turn: Any, field: str) -> pin.SE3:
    values = [position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w]
    if not any(values[3:]):  # a pose that was never set
        values[6] = 1.0
    return se3_from_pose(values, field)


def _primitive(name: str, primitive: Any, T: pin.SE3) -> list[Obstacle]:
    size, kind = [float(v) for v in primitive.dimensions], int(primitive.type)
    if kind == CONE and len(size) == 2:
        return list(hull(name, _cone_points(*size), pose_from_se3(T)).solids)
    if kind not in KINDS:
        raise InvalidValueError(f"obstacle {name}: primitive", kind, "allowed: 1 box, 2 sphere, 3 cylinder, 4 cone")
    if KINDS[kind] == "cylinder":
        size = size[::-1]  # height, radius there
    return [Obstacle(name, KINDS[kind], tuple(size), tuple(pose_from_se3(T).tolist()))]


def _cone_points(height: float, radius: float) -> FloatArray:
    """Corners of a pyramid around a cone along z, its middle at the origin."""
    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    wide = radius / np.cos(np.pi / CORNERS)
    ring = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), np.full(CORNERS, -0.5 * height)])
    return np.vstack([ring, [0.0, 0.0, 0.5 * height]])


def _plane(name: str, coefficients: Any, T: pin.SE3) -> Obstacle:
    """The half-space below a x + b y + c z + d = 0."""
    normal = np.array(coefficients[:3], dtype=np.float64)
    length = float(np.linalg.norm(normal))
    if not np.isfinite(length) or length < 1e-9:
        raise InvalidValueError(f"obstacle {name}: plane", list(coefficients), "allowed: a normal that is not zero")
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal / length).matrix()
    place = pin.SE3(turn, -float(coefficients[3]) / length**2 * normal)
    return Obstacle(name, "half_space", (), tuple(pose_from_se3(T * place).tolist()))
