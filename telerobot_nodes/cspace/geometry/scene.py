"""The planning scene: named obstacles in WORLD and objects held by tools; a change is applied whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, se3_from_pose
from telerobot_nodes.cspace.geometry.obstacles import MOST_OBSTACLES, PART, Attachment, Obstacle, sphere
from telerobot_nodes.cspace.geometry.solids import cover
from telerobot_nodes.errors import InvalidValueError

HULL_TOLERANCE = 0.015  # [m] that spheres may stand out of a hull
HULL_SPHERES = 32


@dataclass(frozen=True)
class Change:
    """One named thing is added, moved or changed; without solids it is removed.

    `attached_to`: arm whose tool holds it, the poses are then in the tool frame; empty: it stands in WORLD.
    `touch_links`: URDF links that it may touch while it is held, besides those that the last joint moves.
    """

    name: str
    solids: tuple[Obstacle, ...] = ()
    attached_to: str = ""
    touch_links: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidValueError("obstacle name", self.name, "allowed: a name")
        held = [solid.kind for solid in self.solids if self.attached_to and solid.kind == "half_space"]
        if held:
            raise InvalidValueError(f"obstacle {self.name}: attached kind", held[0], "allowed: box, sphere, cylinder")


def addition(solid: Obstacle, attached_to: str = "") -> Change:
    """The change that adds one solid."""
    return Change(solid.name, (solid,), attached_to)


def hull(name: str, points: object, pose: object, attached_to: str = "") -> Change:
    """A convex piece of a mesh by its corners (n, 3) [m], covered by spheres; flat ones and single points too.

    Raises InvalidValueError naming the field.
    """
    rows = finite_array(points, f"obstacle {name}: points")
    if rows.size < 3 or rows.size % 3:
        raise InvalidValueError(f"obstacle {name}: points (length)", rows.size, "allowed: 3 for each of 1 or more")
    T = se3_from_pose(pose, f"obstacle {name}: pose")
    corners: FloatArray = np.array([T.act(row) for row in rows.reshape(-1, 3)])
    covering = enumerate(cover(corners, HULL_TOLERANCE, HULL_SPHERES))
    solids = tuple(sphere(f"{name}{PART}{i}", max(solid.radius, 1e-6), solid.center) for i, solid in covering)
    return Change(name, solids, attached_to)


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
        """The scene without these names; unknown names are ignored."""
        gone = set(names)
        return Scene({name: entry for name, entry in self.entries.items() if name not in gone})

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
        count = sum(len(entry.solids) for entry in entries.values())
        if count > MOST_OBSTACLES:
            raise InvalidValueError("obstacles (number)", count, f"allowed: up to {MOST_OBSTACLES}")
        return Scene(entries)


def scene_of(obstacles: Iterable[Obstacle]) -> Scene:
    """A scene of obstacles in WORLD."""
    return Scene().changed([addition(solid) for solid in obstacles])
