"""What the operator is notified of: the latest notice and counts of refusals and jumps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from telerobot_nodes.errors import TelerobotError


class Notices:
    """Latest notice with its counts."""

    def __init__(self) -> None:
        self.latest = ""
        self.refused = 0  # commands refused
        self.jumps = 0  # jumps of the device removed

    def refuse(self, error: TelerobotError) -> TelerobotError:
        """Count a refused command; returns its error, to be raised."""
        self.refused += 1
        self.latest = str(error)
        return error

    @contextmanager
    def counting_refusals(self) -> Iterator[None]:
        """Count an error raised inside as a refused command."""
        try:
            yield
        except TelerobotError as error:
            raise self.refuse(error) from None

    def add_jump(self, jump: object) -> None:
        """Count a jump that was removed from the device's motion."""
        self.jumps += 1
        self.latest = f"device jumped {jump}: absorbed"
