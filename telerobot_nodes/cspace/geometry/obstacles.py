"""Named obstacles: boxes, spheres, cylinders and half-spaces; their arrays for compiled code; the file of a world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.config import FileMapping, Spot, build, read_yaml
from telerobot_nodes.core.values import FloatArray, finite_array, in_range, one_of, pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.geometry.solids import CollisionSphere
from telerobot_nodes.errors import InvalidValueError, ParameterFileError

BOX, SPHERE, CYLINDER, HALF_SPACE = 0, 1, 2, 3
KINDS = {"box": BOX, "sphere": SPHERE, "cylinder": CYLINDER, "half_space": HALF_SPACE}
SIZES = {BOX: ("size", 3), SPHERE: ("radius", 1), CYLINDER: ("radius, length", 2), HALF_SPACE: ("", 0)}
MOST_OBSTACLES = 4096
PART = "#"  # between a name and the number of one of its parts
FAR = 1e6  # [m] reach of what has no end

IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def object_name(name: str) -> str:
    """The name of the thing that a solid called `name` is, or is a part of."""
    return name.partition(PART)[0]


@dataclass(frozen=True)
class Obstacle:
    """One convex obstacle in WORLD. A half-space fills everything below z = 0 of its pose.

    `kind`: box, sphere, cylinder (along z) or half_space; `size` [m]: edge lengths (3,), radius (1,), radius and
    length (2,), nothing; `pose` (7,) `x y z [m], qx qy qz qw`. Raises InvalidValueError naming the field.
    """

    name: str
    kind: str
    size: tuple[float, ...] = ()
    pose: tuple[float, ...] = IDENTITY_POSE

    def __post_init__(self) -> None:
        one_of(self.kind, f"obstacle {self.name}: kind", KINDS)
        what, count = SIZES[KINDS[self.kind]]
        size = finite_array(self.size, f"obstacle {self.name}: {what}", count)
        for value in size:
            in_range(float(value), f"obstacle {self.name}: {what}", 1e-6, 1e3, "m")
        pose = pose_from_se3(se3_from_pose(self.pose, f"obstacle {self.name}: pose"))
        object.__setattr__(self, "size", tuple(size.tolist()))
        object.__setattr__(self, "pose", tuple(pose.tolist()))

    def at(self, T_world_obstacle: pin.SE3) -> Obstacle:
        """The same obstacle at another pose."""
        return replace(self, pose=tuple(pose_from_se3(T_world_obstacle).tolist()))

    @property
    def T_world_obstacle(self) -> pin.SE3:
        """Pose of the obstacle in WORLD."""
        return se3_from_pose(self.pose)


@dataclass(frozen=True)
class Attachment:
    """A solid fixed to the tool, such as a held object. `solid.pose` is in the tool frame.

    `touch_links`: URDF links that it may touch, besides those that the last joint moves.
    """

    solid: Obstacle
    touch_links: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.solid.kind == "half_space":
            raise InvalidValueError("attachment kind", self.solid.kind, "allowed: box, sphere, cylinder")

    @property
    def name(self) -> str:
        """The thing that the solid is a part of."""
        return object_name(self.solid.name)


class World(NamedTuple):
    """Obstacles as flat arrays for compiled code, one row each; margins count as part of every distance."""

    kind: FloatArray  # (k,) int64
    center: FloatArray  # (k, 3) [m]
    rotation: FloatArray  # (k, 3, 3) WORLD from the obstacle
    size: FloatArray  # (k, 3) [m] half edges | radius | radius, half length | -
    reach: FloatArray  # (k,) [m] radius of a sphere around the centre that holds it
    margin: float  # [m] kept from obstacles
    self_margin: float  # [m] kept between links
    allowed: npt.NDArray[np.int64]  # (k,) bit b: body b of the arm may touch it
    rows: npt.NDArray[np.float32]  # (k, 15) centre, rotation by rows, size in single precision


def box(name: str, size: Iterable[float], pose: Iterable[float] = IDENTITY_POSE) -> Obstacle:
    """A box of edge lengths `size` (3,) [m]."""
    return Obstacle(name, "box", tuple(size), _full_pose(pose))


def sphere(name: str, radius: float, center: Iterable[float]) -> Obstacle:
    """A sphere of `radius` [m] around `center` (3,) [m]."""
    return Obstacle(name, "sphere", (radius,), _full_pose(center))


def cylinder(name: str, radius: float, length: float, pose: Iterable[float] = IDENTITY_POSE) -> Obstacle:
    """A cylinder of `radius` and `length` [m] along z of its pose."""
    return Obstacle(name, "cylinder", (radius, length), _full_pose(pose))


def floor(name: str = "floor", height: float = 0.0) -> Obstacle:
    """A half-space: everything below `height` [m]."""
    return Obstacle(name, "half_space", (), _full_pose((0.0, 0.0, height)))


def sphere_obstacles(name: str, solids: Iterable[CollisionSphere]) -> list[Obstacle]:
    """Spheres (of a mesh covered, of an arm swept) as obstacles."""
    return [sphere(f"{name}_{i}", solid.radius, solid.center) for i, solid in enumerate(solids)]


def world_of(
    obstacles: Iterable[Obstacle],
    margin: float = 0.0,
    self_margin: float = 0.0,
    allowed: Mapping[str, int] | None = None,
) -> World:
    """The arrays of `obstacles`; margins [m] 0 .. 0.5. Raises InvalidValueError when two have one name.

    `allowed`: bit b of an obstacle's number is 1 when body b of the arm may touch it.
    """
    rows = list(obstacles)
    names = [entry.name for entry in rows]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidValueError("obstacle name", twice, "allowed: names given once")
    k = len(rows)
    if k > MOST_OBSTACLES:
        raise InvalidValueError("obstacles (number)", k, f"allowed: up to {MOST_OBSTACLES}")
    rotation = np.array([o.T_world_obstacle.rotation for o in rows], dtype=np.float64).reshape(k, 3, 3)
    center = np.array([o.pose[:3] for o in rows], dtype=np.float64).reshape(k, 3)
    for i in (i for i, o in enumerate(rows) if o.kind == "half_space"):  # its point nearest to the origin: in single
        normal = rotation[i, :, 2]  # precision one far along the plane would move the plane
        center[i] = (normal @ center[i]) * normal
    size = np.array([_row_size(o) for o in rows], dtype=np.float64).reshape(k, 3)
    return World(
        np.array([KINDS[o.kind] for o in rows], dtype=np.int64),
        center,
        rotation,
        size,
        np.array([_reach(o) for o in rows], dtype=np.float64),
        in_range(margin, "margin", 0.0, 0.5, "m"),
        in_range(self_margin, "self_margin", 0.0, 0.5, "m"),
        np.array([(allowed or {}).get(name, 0) for name in names], dtype=np.int64),
        np.column_stack([center, rotation.reshape(k, 9), size]).astype(np.float32),
    )


@dataclass(frozen=True)
class _Entry:
    """An obstacle as the file has it."""

    name: str
    kind: str
    size: tuple[float, ...] = ()
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    orientation: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class _WorldFile:
    obstacles: tuple[_Entry, ...]


def load_world(file: str | Path) -> list[Obstacle]:
    """The obstacles of a YAML file `obstacles: [{name, kind, size, position, orientation}]`.

    Raises ParameterFileError naming file, line, entry and field.
    """
    root = read_yaml(Path(file))
    entries = build(_WorldFile, root, Spot(root.file)).obstacles
    return [_obstacle(entry, root, number) for number, entry in enumerate(entries)]


def _obstacle(entry: _Entry, root: FileMapping, number: int) -> Obstacle:
    try:
        return Obstacle(entry.name, entry.kind, entry.size, (*entry.position, *entry.orientation))
    except InvalidValueError as error:
        line, column = root["obstacles"][number].mark
        raise ParameterFileError(root.file, line, f"obstacles[{number}]", str(error), column) from None


def _full_pose(pose: Iterable[float]) -> tuple[float, ...]:
    values = tuple(float(v) for v in pose)
    return values if len(values) != 3 else (*values, 0.0, 0.0, 0.0, 1.0)


def _row_size(obstacle: Obstacle) -> list[float]:
    size = obstacle.size
    if obstacle.kind == "box":
        return [0.5 * v for v in size]
    if obstacle.kind == "cylinder":
        return [size[0], 0.5 * size[1], 0.0]
    return [size[0] if size else 0.0, 0.0, 0.0]


def _reach(obstacle: Obstacle) -> float:
    if obstacle.kind == "half_space":
        return FAR
    return float(np.linalg.norm(_row_size(obstacle)))
