"""The planning scene: named obstacles in WORLD and objects held by tools; a change is applied whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray, finite_array, pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.covering import THINNEST, cover, oriented_box, protrusion
from telerobot_nodes.cspace.geometry.obstacles import (
    MOST_OBSTACLES,
    PART,
    VOXELS,
    Attachment,
    Obstacle,
    box,
    object_name,
    sphere,
)
from telerobot_nodes.errors import InvalidValueError

HULL_TOLERANCE = 0.015  # [m] that spheres may stand out of a hull
HULL_SPHERES = 32


@dataclass(frozen=True)
class Change:
    """One named thing is added, moved or changed; without solids it is removed.

    `attached_to`: arm whose tool holds it, the poses are then in the tool frame; empty: it stands in WORLD.
    `touch_links`: URDF links that it may touch while it is held, besides those that the last joint moves. `pose` (7,):
    that of the thing itself, of which the solids' poses do not tell; empty: not known.
    """

    name: str
    solids: tuple[Obstacle, ...] = ()
    attached_to: str = ""
    touch_links: frozenset[str] = frozenset()
    pose: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidValueError("obstacle name", self.name, "allowed: a name")
        held = [s.kind for s in self.solids if self.attached_to and s.kind in ("half_space", VOXELS)]
        if held:
            raise InvalidValueError(f"obstacle {self.name}: attached kind", held[0], "allowed: box, sphere, cylinder")


def addition(solid: Obstacle, attached_to: str = "") -> Change:
    """The change that adds one solid."""
    return Change(solid.name, (solid,), attached_to, pose=solid.pose)


def hull(name: str, points: object, pose: object, attached_to: str = "") -> Change:
    """A convex piece of a mesh by its corners (n, 3) [m], as a box or as spheres that hold it, whatever fits closer.

    Flat ones and single points too. Raises InvalidValueError naming the field.
    """
    rows = finite_array(points, f"obstacle {name}: points")
    if rows.size < 3 or rows.size % 3:
        raise InvalidValueError(f"obstacle {name}: points (length)", rows.size, "allowed: 3 for each of 1 or more")
    T = se3_from_pose(pose, f"obstacle {name}: pose")
    corners: FloatArray = np.array([T.act(row) for row in rows.reshape(-1, 3)])
    solids = _covering(name, corners)
    return Change(name, solids, attached_to, pose=tuple(pose_from_se3(T).tolist()))


def _covering(name: str, corners: FloatArray) -> tuple[Obstacle, ...]:
    """A box or spheres that hold the hull of corners (n, 3) [m]."""
    around, spheres = oriented_box(corners), cover(corners, HULL_TOLERANCE, HULL_SPHERES)
    out = np.linalg.norm(around.corners[:, None] - corners[None], axis=2).min(axis=1).max()
    if out <= protrusion(spheres, corners):
        pose = pose_from_se3(pin.SE3(around.rotation, around.center))
        return (box(f"{name}{PART}0", np.maximum(around.size, THINNEST), pose),)
    return tuple(sphere(f"{name}{PART}{i}", max(s.radius, 1e-6), s.center) for i, s in enumerate(spheres))


@dataclass(frozen=True)
class Scene:
    """All obstacles and held objects by name; a name is unique among both."""

    entries: Mapping[str, Change] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))

    def __reduce__(self) -> tuple[type[Scene], tuple[dict[str, Change]]]:
        return Scene, (dict(self.entries),)

    @property
    def obstacles(self) -> list[Obstacle]:
        """Obstacles in WORLD."""
        return [solid for entry in self.entries.values() if not entry.attached_to for solid in entry.solids]

    def held(self, arm: str) -> list[Obstacle]:
        """Objects held by the tool of `arm`, poses in the tool frame."""
        return [solid for entry in self.entries.values() if entry.attached_to == arm for solid in entry.solids]

    def attachments(self, arm: str) -> list[Attachment]:
        """What the tool of `arm` holds, with the links that it may touch."""
        entries = [entry for entry in self.entries.values() if entry.attached_to == arm]
        return [Attachment(solid, entry.touch_links) for entry in entries for solid in entry.solids]

    def without(self, names: Iterable[str]) -> Scene:
        """The scene without these names, and without the parts of things so named; unknown names are ignored."""
        gone = set(names)
        kept = {name: entry for name, entry in self.entries.items() if not {name, object_name(name)} & gone}
        return Scene(kept)

    def changed(self, changes: Iterable[Change], replace: bool = False, arms: Iterable[str] = ()) -> Scene:
        """The scene after every change; `replace`: the old scene is discarded.

        Raises InvalidValueError on an arm not among `arms`, a name given twice, or too many solids.
        """
        entries = {} if replace else dict(self.entries)
        seen: set[str] = set()
        for change in changes:
            if change.name in seen:
                raise InvalidValueError("obstacle name", change.name, "allowed: names given once")
            if change.attached_to and change.attached_to not in set(arms):
                raise InvalidValueError(
                    f"obstacle {change.name}: attached_to", change.attached_to, f"allowed: {', '.join(arms) or 'none'}"
                )
            seen.add(change.name)
            entries.pop(change.name, None)
            if change.solids:
                entries[change.name] = change
        count = sum(len(solid) for entry in entries.values() for solid in entry.solids)
        if count > MOST_OBSTACLES:
            raise InvalidValueError("obstacles (number)", count, f"allowed: up to {MOST_OBSTACLES}")
        return Scene(entries)


def scene_of(obstacles: Iterable[Obstacle]) -> Scene:
    """A scene of obstacles in WORLD."""
    return Scene().changed([addition(solid) for solid in obstacles])
