"""The folder in which the nodes of a graph leave what their successors go on from, for one graph at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from telerobot_nodes.errors import InvalidValueError

LOCK = "in_use"
LOCK_LIMIT = 10.0  # [s] for the nodes of a supervisor that was killed to end


class StateFolder:
    """A folder of the user, made if missing; or a temporary one, which is gone after `close`.

    The nodes hold its lock too (`descriptors`): until the last one has ended, no other graph writes there.
    """

    def __init__(self, folder: Path | None, gives_up: Callable[[], bool] = lambda: False) -> None:
        """Waits while another graph's last nodes end; `gives_up()` ends that. Raises InvalidValueError."""
        self._temporary = tempfile.TemporaryDirectory(prefix="telerobot-") if folder is None else None
        self.folder = Path(self._temporary.name) if self._temporary is not None else Path(folder or "").absolute()
        self.made = False  # it was missing
        self.descriptors: tuple[int, ...] = ()
        if folder is not None:
            self._open(folder, gives_up)

    def _open(self, folder: Path, gives_up: Callable[[], bool]) -> None:
        self.made = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.descriptors = (os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600),)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidValueError("state", str(folder), f"allowed: a folder that can be written ({reason})") from None
        if not _locked(self.descriptors[0], gives_up):
            self.close()
            raise InvalidValueError("state", str(folder), "allowed: a folder that no running graph uses")

    def close(self) -> None:
        """Leave the folder; may be repeated."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()
        if self._temporary is not None:
            self._temporary.cleanup()


def _locked(descriptor: int, gives_up: Callable[[], bool]) -> bool:
    end = time.monotonic() + LOCK_LIMIT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end or gives_up():
                return False
            time.sleep(0.05)
        else:
            return True
