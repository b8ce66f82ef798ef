"""Who has made the stop that is in force: by what the robot's link hears and what the robot reports afterwards.

A name belongs to the first who is heard in it: to the host whose halt came over the link, or, when the robot reports a
halt of that name before, to somebody at the robot's host. Nobody can take a name later by sending a halt in it, for the
link hears every halt before the robot reports it. When in doubt, a stop is somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable

from telerobot_nodes.core.protocol import ESTOP_SENDER, role_of

HERE = ""  # owner of names of the robot's host
MOST_NAMES = 64  # of one operator's host
MOST_HERE = 4096
MOST_RECEIPTS = 8  # that a report has: with so many new ones there may have been more
_LENGTH = 100  # characters of a name that are compared
_ROBOTS = ("program", "link")  # roles of the robot's own programs, which stop the arm for reasons of theirs
_MORE = "\0more"

Receipt = tuple[str, int]  # agent, number


class PresentStop:
    """Follows halts as they come and the robot's reports. One thread at a time."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._receipts: frozenset[Receipt] = frozenset()
        self._count = 0
        self._makers: set[str] = set()

    def hear(self, host: str, agent: str) -> None:
        """Take the sender of a halt that came from a host, before the halt is passed on."""
        name = agent[:_LENGTH]
        if name and name not in self._owners:
            self._own(host, name, MOST_NAMES)

    def update(self, stopped: bool, halt_count: int, receipts: Iterable[Receipt]) -> None:
        """Take a report: whether a halt or the e-stop is in force, the robot's count, the latest halts obeyed."""
        received = frozenset(receipts)
        new, self._receipts = received - self._receipts, received
        unexplained, self._count = halt_count - self._count > len(new), halt_count
        names = {_name(agent) for agent, _ in new}
        if unexplained:  # a halt without a number leaves the same receipt each time
            names |= {_name(agent) for agent, number in received if not number}
        for name in names - self._owners.keys():
            self._own(HERE, name, MOST_HERE)
        if not stopped:
            self._makers.clear()
            return
        self._makers |= names
        if len(new) >= MOST_RECEIPTS or (unexplained and received and not names):
            self._makers.add(_MORE)

    def is_of(self, host: str) -> bool:
        """Whether all of the present stop was made by this host, or by the robot itself."""
        return all(self._owners.get(name) == host or self._is_robots(name) for name in self._makers)

    def _is_robots(self, name: str) -> bool:
        return self._owners.get(name) == HERE and role_of(name) in _ROBOTS

    def _own(self, owner: str, name: str, most: int) -> None:
        """A new name; the oldest of the same owner makes room, so that no other owner loses one."""
        names = [known for known, whose in self._owners.items() if whose == owner]
        if len(names) >= most:
            del self._owners[names[0]]
        self._owners[name] = owner


def _name(agent: str) -> str:
    return agent.removeprefix(ESTOP_SENDER)[:_LENGTH]
