"""The names a command may use, by kind: what the parser's check and completion know of the workcell [JPL-RTC]."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Vocabulary:
    """Names by kind. Made from the world, the skills and the macros; never kept in the grammar."""

    objects: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    arms: frozenset[str] = frozenset()
    cameras: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    skills: frozenset[str] = frozenset()
    macros: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    signals: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()  # grasp points of any object

    def of(self, *kinds: str) -> frozenset[str]:
        """All names of these kinds."""
        return frozenset().union(*(getattr(self, kind) for kind in kinds))

    def everything(self) -> frozenset[str]:
        """All names."""
        return self.of(*(field.name for field in fields(self)))

    def find(self, text: str, *kinds: str) -> str | None:
        """The known spelling of a name, case and hyphens aside, or None."""
        names = self.of(*kinds)
        if text in names:
            return text
        folded = text.lower().replace("-", "_")
        return next((name for name in sorted(names) if name.lower().replace("-", "_") == folded), None)


# What the first name after a verb is.
TARGET_KINDS: dict[str, tuple[str, ...]] = {
    "move": ("arms", "objects"),
    "follow": ("paths",),
    "retract": ("arms",),
    "hold": ("arms",),
    "comply": ("arms",),
    "teleoperate": ("arms",),
    "trade": ("arms",),
    "return": ("arms",),
    "tare": ("arms",),
    "perform": ("skills",),
    "request": ("arms",),
    "grant": ("arms",),
    "open": ("objects",),
    "close": ("objects",),
    "touch": ("objects", "places"),
    "run": ("macros",),
    "forget": ("macros",),
}
PLACE_KINDS = ("places", "objects")
PERFORMER_KINDS = ("arms", "cameras")
