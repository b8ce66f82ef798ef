"""Where an arm stands, in a file that outlives its process: a simulated arm has no other place to stand still in."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np

from telerobot_nodes.core.memory import Mailbox
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError


class KeptPose:
    """The latest joints of one arm in `file`, which is made, or made anew for another number of joints.

    A write takes microseconds and waits for no disk: the joints outlive the process, not the host. Raises
    InvalidValueError when the file cannot be used.
    """

    def __init__(self, file: Path, robot: RobotModel) -> None:
        dtype = np.dtype([("q", "f8", (robot.dof,))])
        size = Mailbox.size(dtype)
        try:
            with file.open("a+b") as opened:
                if opened.seek(0, 2) != size:
                    opened.truncate(0)
                    opened.truncate(size)
                self._mailbox = Mailbox(dtype, memoryview(mmap.mmap(opened.fileno(), size)))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidValueError("pose", str(file), f"allowed: a file that can be written ({reason})") from None
        self._limits = robot.limits
        self._record = np.zeros((), dtype)

    def keep(self, q: FloatArray) -> None:
        """Keep the joints (dof,) [rad]."""
        self._record["q"] = q
        self._mailbox.write(self._record)

    def latest(self) -> FloatArray | None:
        """The joints (dof,) [rad] kept last; None: there are none, or none inside the limits."""
        if not self._mailbox.read(self._record):
            return None
        q = np.array(self._record["q"])
        return q if np.all(q >= self._limits.lower) and np.all(q <= self._limits.upper) else None
