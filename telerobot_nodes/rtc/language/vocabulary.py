"""The names a command may use, by kind: for the check of a command and for completion [JPL-RTC]."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.protocol import fold
from telerobot_nodes.rtc.language.verbs import Slots, Verb


@dataclass(frozen=True)
class Vocabulary:
    """Names by kind, and the verbs of the skill files. Made from the world, the skills and the macros."""

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
    verbs: tuple[Verb, ...] = ()

    def of(self, *kinds: str) -> frozenset[str]:
        """All names of these kinds."""
        return frozenset().union(*(getattr(self, kind) for kind in kinds))

    def everything(self) -> frozenset[str]:
        """All names."""
        return self.of(*KINDS)

    def slots(self, verb: str) -> Slots | None:
        """What a verb of a skill file takes; None for a verb of the grammar file."""
        return next((known.slots for known in self.verbs if known.word == verb), None)

    def target_kinds(self, verb: str) -> tuple[str, ...]:
        """What the first name after a verb is."""
        slots = self.slots(verb)
        return slots.object if slots is not None else TARGET_KINDS.get(verb, ("objects",))

    def find(self, text: str, *kinds: str) -> str | None:
        """The known spelling of a name, case and hyphens aside, or None."""
        names = self.of(*kinds)
        if text in names:
            return text
        folded = fold(text)
        return next((name for name in sorted(names) if fold(name) == folded), None)


KINDS = tuple(name for name in Vocabulary.__dataclass_fields__ if name != "verbs")
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
