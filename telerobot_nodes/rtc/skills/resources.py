"""Resource logic: exclusive, shareable and queued resources, all of a command at once [JPL-RTC sections 3.3, 5].

Nobody waits while holding, so deadlock cannot happen. A waiting request is overtaken only by requests that share
nothing with it, so no command starves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.language import did_you_mean


class Kind(Enum):
    """How a resource is granted."""

    EXCLUSIVE = "exclusive"  # one holder; a second is refused unless the command has `queued`
    SHAREABLE = "shareable"  # up to `capacity` holders
    QUEUED = "queued"  # one holder; a second waits unless the command has `no-wait`


@dataclass(frozen=True)
class Resource:
    """An arm, gripper, camera, object, region or computing facility."""

    name: str
    kind: Kind = Kind.EXCLUSIVE
    capacity: int = 1

    def __post_init__(self) -> None:
        if self.capacity < 1 or (self.kind is not Kind.SHAREABLE and self.capacity != 1):
            raise ResourceError(f"resource {self.name}: capacity {self.capacity} does not fit {self.kind.value}")


class ResourceError(TelerobotError):
    """A resource is unknown, or asked for in a way that cannot be."""


class Answer(Enum):
    """What became of a request."""

    GRANTED = "granted"
    WAITING = "waiting"
    REFUSED = "refused"


@dataclass(frozen=True)
class Reply:
    """The answer to a request; `blocked_by`: busy resources and their holders."""

    answer: Answer
    blocked_by: tuple[tuple[str, int], ...] = ()


class ResourceManager:
    """Gives resources to commands by number. Values in, values out; no clock, no threads."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._resources = {resource.name: resource for resource in resources}
        self._holders: dict[str, list[int]] = {name: [] for name in self._resources}
        self._waiting: dict[int, frozenset[str]] = {}  # in the order they came

    @property
    def resources(self) -> Mapping[str, Resource]:
        """Every resource by name."""
        return self._resources

    @property
    def waiting(self) -> tuple[int, ...]:
        """Commands that wait, first come first."""
        return tuple(self._waiting)

    def holders(self, name: str) -> tuple[int, ...]:
        """Commands that hold a resource."""
        return tuple(self._holders[name])

    def held_by(self, command: int) -> frozenset[str]:
        """Resources a command holds."""
        return frozenset(name for name, holders in self._holders.items() if command in holders)

    def declare(self, resource: Resource) -> None:
        """Add a resource, or change one that is free; raises ResourceError otherwise."""
        if self._holders.get(resource.name):
            raise ResourceError(f"{resource.name} is held by command {self._holders[resource.name][0]}")
        self._resources[resource.name] = resource
        self._holders.setdefault(resource.name, [])

    def request(self, command: int, names: Iterable[str], wait: bool | None = None) -> Reply:
        """All of `names` for a command, or none. `wait` None: as the kinds of the busy ones require.

        Raises ResourceError for an unknown resource or a command that already asked.
        """
        wanted = frozenset(names)
        for name in sorted(wanted):
            if name not in self._resources:
                raise ResourceError(
                    f"no resource is called {name!r}; {did_you_mean(name, self._resources)}".strip("; ")
                )
        if command in self._waiting or self.held_by(command):
            raise ResourceError(f"command {command} has asked for its resources before")
        busy = self._busy(wanted)
        if not busy:
            self._give(command, wanted)
            return Reply(Answer.GRANTED)
        if wait is None:
            wait = all(self._resources[name].kind is not Kind.EXCLUSIVE for name, _ in busy)
        if not wait:
            return Reply(Answer.REFUSED, busy)
        self._waiting[command] = wanted
        return Reply(Answer.WAITING, busy)

    def release(self, command: int) -> tuple[int, ...]:
        """Take everything from a command, held or waited for; returns the commands that got theirs by it."""
        self._waiting.pop(command, None)
        for holders in self._holders.values():
            if command in holders:
                holders.remove(command)
        return self._serve()

    def _busy(self, wanted: frozenset[str], before: Iterable[int] | None = None) -> tuple[tuple[str, int], ...]:
        """Resources of `wanted` that are full, or that an earlier command waits for."""
        earlier = self._waiting if before is None else before
        reserved = {name: number for number in reversed(tuple(earlier)) for name in self._waiting[number]}
        blocked = []
        for name in sorted(wanted):
            holders = self._holders[name]
            if len(holders) >= self._resources[name].capacity:
                blocked.append((name, holders[0]))
            elif name in reserved:
                blocked.append((name, reserved[name]))
        return tuple(blocked)

    def _give(self, command: int, names: frozenset[str]) -> None:
        for name in names:
            self._holders[name].append(command)

    def _serve(self) -> tuple[int, ...]:
        served: list[int] = []
        still: list[int] = []
        for command, wanted in tuple(self._waiting.items()):
            if self._busy(wanted, still):
                still.append(command)
                continue
            del self._waiting[command]
            self._give(command, wanted)
            served.append(command)
        return tuple(served)
