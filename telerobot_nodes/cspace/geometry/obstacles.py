"""Named obstacles: boxes, spheres, cylinders, half-spaces, voxels; their arrays for compiled code; a world's file."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.config import FileMapping, Spot, build, read_yaml
from telerobot_nodes.core.values import FloatArray, finite_array, in_range, one_of, pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.covering import CollisionSphere
from telerobot_nodes.errors import InvalidValueError, ParameterFileError

BOX, SPHERE, CYLINDER, HALF_SPACE = 0, 1, 2, 3
KINDS = {"box": BOX, "sphere": SPHERE, "cylinder": CYLINDER, "half_space": HALF_SPACE}
SIZES = {BOX: ("size", 3), SPHERE: ("radius", 1), CYLINDER: ("radius, length", 2), HALF_SPACE: ("", 0)}
VOXELS = "boxes"  # kind of a thing of many equal boxes
MOST_OBSTACLES = 8192  # each voxel counts
BLOCK = 16  # obstacles, one after the other, in one sphere of a world
PART = "#"  # between a name and the number of one of its parts
FAR = 1e6  # [m] reach of what has no end
SINGLE = 1e-5  # [-], [m] by which spheres of blocks are larger in single precision

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
        one_of(self.kind, f"obstacle {self.name}: kind", self._kinds())
        what, count = SIZES[KINDS.get(self.kind, BOX)]
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

    @staticmethod
    def _kinds() -> Collection[str]:
        return KINDS

    def __len__(self) -> int:
        """Convex solids that it consists of."""
        return 1


@dataclass(frozen=True, eq=False, repr=False)
class Voxels(Obstacle):
    """Many equal boxes that are one thing, such as an octomap or a cloud of points.

    `size` (3,) [m] of each; `centers` (k, 3) [m] in the frame of `pose`, along which their edges are; read-only.
    Neighbours should follow each other: then most of them need not be looked at. Raises InvalidValueError.
    """

    kind: str = VOXELS
    centers: FloatArray = field(default_factory=lambda: np.empty((0, 3)))

    def __post_init__(self) -> None:
        super().__post_init__()
        flat = finite_array(self.centers, f"obstacle {self.name}: points")
        if not flat.size or flat.size % 3:
            raise InvalidValueError(
                f"obstacle {self.name}: points (length)", flat.size, "allowed: 3 for each of 1 or more boxes"
            )
        centers = np.array(flat, dtype=np.float64).reshape(-1, 3)
        if float(np.abs(centers).max()) > FAR:
            raise InvalidValueError(f"obstacle {self.name}: points", np.abs(centers).max(), f"allowed: up to {FAR:g} m")
        centers.setflags(write=False)
        object.__setattr__(self, "centers", centers)

    @staticmethod
    def _kinds() -> Collection[str]:
        return (VOXELS,)

    def __len__(self) -> int:
        """Number of boxes."""
        return len(self.centers)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Voxels):
            return False
        mine, theirs = (self.name, self.size, self.pose), (other.name, other.size, other.pose)
        return mine == theirs and np.array_equal(self.centers, other.centers)

    def __hash__(self) -> int:
        return hash((self.name, self.size, self.pose, len(self)))

    def __repr__(self) -> str:
        digest = hashlib.sha256(self.centers.tobytes()).hexdigest()
        return f"Voxels({self.name!r}, {self.size}, {self.pose}, {len(self)} of {digest})"

    @property
    def places(self) -> FloatArray:
        """Centres (k, 3) [m] in WORLD."""
        T = self.T_world_obstacle
        return np.asarray(self.centers @ T.rotation.T + T.translation)


@dataclass(frozen=True)
class Attachment:
    """A solid fixed to the tool, such as a held object. `solid.pose` is in the tool frame.

    `touch_links`: URDF links that it may touch, besides those that the last joint moves.
    """

    solid: Obstacle
    touch_links: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.solid.kind in ("half_space", VOXELS):
            raise InvalidValueError("attachment kind", self.solid.kind, "allowed: box, sphere, cylinder")

    @property
    def name(self) -> str:
        """The thing that the solid is a part of."""
        return object_name(self.solid.name)


class World(NamedTuple):
    """Obstacles as flat arrays for compiled code, one row each; margins count as part of every distance.

    Voxels have a row for each box; the rows of one obstacle are `first[i]` to `first[i + 1]`.
    """

    kind: FloatArray  # (k,) int64
    center: FloatArray  # (k, 3) [m]
    rotation: FloatArray  # (k, 3, 3) WORLD from the obstacle
    size: FloatArray  # (k, 3) [m] half edges | radius | radius, half length | -
    reach: FloatArray  # (k,) [m] radius of a sphere around the centre that holds it
    margin: float  # [m] kept from obstacles
    self_margin: float  # [m] kept between links
    allowed: npt.NDArray[np.int64]  # (k,) bit b: body b of the arm may touch it
    rows: npt.NDArray[np.float32]  # (k, 15) centre, rotation by rows, size in single precision
    first: npt.NDArray[np.int64]  # (obstacles + 1,) row of each obstacle
    blocks: FloatArray  # (b, 4) [m] centre and radius of a sphere that holds rows BLOCK b to BLOCK (b + 1)
    blocks32: npt.NDArray[np.float32]  # (b, 4) the same in single precision, a little larger


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
    things = list(obstacles)
    names = [entry.name for entry in things]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidValueError("obstacle name", twice, "allowed: names given once")
    counts = np.array([len(entry) for entry in things], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    k = int(first[-1])
    if k > MOST_OBSTACLES:
        raise InvalidValueError("obstacles (number)", k, f"allowed: up to {MOST_OBSTACLES}")
    turns = np.array([o.T_world_obstacle.rotation for o in things], dtype=np.float64).reshape(-1, 3, 3)
    centers = [o.places if isinstance(o, Voxels) else np.array([o.pose[:3]]) for o in things]
    for i in (i for i, o in enumerate(things) if o.kind == "half_space"):  # its point nearest to the origin: in single
        normal = turns[i, :, 2]  # precision one far along the plane would move the plane
        centers[i] = (normal @ centers[i][0]) * normal[None]
    center = np.vstack([np.empty((0, 3)), *centers])
    rotation = np.repeat(turns, counts, axis=0)
    size = np.repeat(np.array([_row_size(o) for o in things], dtype=np.float64).reshape(-1, 3), counts, axis=0)
    reach = np.repeat(np.array([_reach(o) for o in things], dtype=np.float64), counts)
    blocks = _blocks(center, reach)
    return World(
        np.repeat(np.array([KINDS.get(o.kind, BOX) for o in things], dtype=np.int64), counts),
        center,
        rotation,
        size,
        reach,
        in_range(margin, "margin", 0.0, 0.5, "m"),
        in_range(self_margin, "self_margin", 0.0, 0.5, "m"),
        np.repeat(np.array([(allowed or {}).get(name, 0) for name in names], dtype=np.int64), counts),
        np.column_stack([center, rotation.reshape(k, 9), size]).astype(np.float32),
        first,
        blocks,
        (blocks * [1.0, 1.0, 1.0, 1.0 + SINGLE] + [0.0, 0.0, 0.0, SINGLE]).astype(np.float32),
    )


def _blocks(center: FloatArray, reach: FloatArray) -> FloatArray:
    """Spheres (b, 4) around every BLOCK rows."""
    if not len(center):
        return np.empty((0, 4))
    starts = np.arange(0, len(center), BLOCK)
    low = np.minimum.reduceat(center - reach[:, None], starts)
    high = np.maximum.reduceat(center + reach[:, None], starts)
    middle = 0.5 * (low + high)
    away = np.linalg.norm(center - np.repeat(middle, BLOCK, axis=0)[: len(center)], axis=1) + reach
    return np.column_stack([middle, np.maximum.reduceat(away, starts)])


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
    if obstacle.kind in ("box", VOXELS):
        return [0.5 * v for v in size]
    if obstacle.kind == "cylinder":
        return [size[0], 0.5 * size[1], 0.0]
    return [size[0] if size else 0.0, 0.0, 0.0]


def _reach(obstacle: Obstacle) -> float:
    if obstacle.kind == "half_space":
        return FAR
    return float(np.linalg.norm(_row_size(obstacle)))
