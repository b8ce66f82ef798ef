"""Where an arm stands, in a file that outlives its process: a simulated arm has no other place to stand still in."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from telerobot_nodes.core.memory import Mailbox
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError


@dataclass(frozen=True)
class ArmPose:
    """Joints and fingers at rest."""

    position: FloatArray  # (dof,) [rad]
    gripper: float  # [m] opening; 0 without a gripper


class KeptPose:
    """The latest pose of one arm in `file`, which is made, or made anew for another number of joints.

    A write takes microseconds and waits for no disk: the pose outlives the process, not the host. Raises
    InvalidValueError when the file cannot be used.
    """

    def __init__(self, file: Path, robot: RobotModel) -> None:
        dtype = np.dtype([("position", "f8", (robot.dof,)), ("gripper", "f8")])
        size = Mailbox.size(dtype)
        try:
            with file.open("a+b") as opened:
                if opened.seek(0, 2) != size:
                    opened.truncate(0)
                    os.posix_fallocate(opened.fileno(), 0, size)  # a disk that is full later does not matter
                self._mailbox = Mailbox(dtype, memoryview(mmap.mmap(opened.fileno(), size)))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidValueError("pose", str(file), f"allowed: a file that can be written ({reason})") from None
        self._limits = robot.limits
        self._most = robot.gripper.max_opening if robot.gripper else 0.0
        self._record = np.zeros((), dtype)

    def keep(self, position: FloatArray, gripper: float) -> None:
        """Keep joints (dof,) [rad] and opening [m]."""
        self._record["position"], self._record["gripper"] = position, gripper
        self._mailbox.write(self._record)

    def latest(self) -> ArmPose | None:
        """The pose kept last; None: there is none, or its joints are not inside their limits."""
        if not self._mailbox.read(self._record):
            return None
        q, gripper = np.array(self._record["position"]), float(self._record["gripper"])
        if not (np.all(q >= self._limits.lower) and np.all(q <= self._limits.upper)):
            return None
        return ArmPose(q, min(max(gripper, 0.0), self._most))
