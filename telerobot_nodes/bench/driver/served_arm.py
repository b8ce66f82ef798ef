"""The stand-in as a process with its arm file, and the hardware interface's core that drives it on the wall clock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from typing_extensions import Self

from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.hardware import Hardware, Setpoint
from telerobot_nodes.nodes.drivers import DriverSetting, make_arm

READY = "stand-in ready"
TICK = 0.002  # [s]
SEND = 0.004  # [s] between setpoints
ARM_FILE = """\
urdf: {robot}
driver: ros2_control
options:
  namespace: {namespace}
  rate: {rate:g}
  silence: 0.5
  running_topic: robot_program_running
  wrench: {{frame: wrist_sensor}}
"""


def write_arm_file(folder: Path, robot: str, rate: float) -> Path:
    """The arm file of a robot known by name, behind a stand-in."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{robot}_{rate:g}.yaml"
    file.write_text(ARM_FILE.format(robot=robot, namespace=f"/stand_in_{robot}_{rate:g}", rate=rate), encoding="utf-8")
    return file


class StandInProcess:
    """`telerobot arm stand-in` as a process; use as a context."""

    def __init__(self, file: Path, rate: float) -> None:
        self.command = [sys.executable, "-m", "telerobot_nodes", "arm", "stand-in", str(file), "--rate", f"{rate:g}"]

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True, env=dict(os.environ))
        output: IO[str] = self._process.stdout  # type: ignore[assignment]
        if not any(line.strip() == READY for line in output):
            raise TelerobotError(f"the stand-in ended with exit code {self._process.wait()}")
        return self

    def order(self, word: str) -> None:
        """Bring a fault about by its name, or `release` all."""
        if self._process.stdin is not None:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(10.0)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class ServedArm:
    """An arm behind its driver, served as its node does; `q` (dof,) [rad] is the arm measured."""

    def __init__(self, file: Path) -> None:
        self.robot: RobotModel = load_robot(str(file))
        self.arm = make_arm(DriverSetting(self.robot, 0.001))
        self.hardware = Hardware(self.robot, 0.001, self.arm)
        self.hardware.open(time.monotonic())
        self._number = 0
        self._due = 0.0

    @property
    def q(self) -> FloatArray:
        """The joints measured (dof,) [rad]."""
        return self.arm.position

    @property
    def fault(self) -> str:
        """The fault, or ""."""
        status = self.hardware.status()
        return status.reason if status.state is HardwareState.FAULT else ""

    def until(
        self, over: Callable[[], bool], longest: float, goal: Callable[[float], FloatArray] | None = None
    ) -> bool:
        """Serve, with setpoints at `goal(now)`, until `over`; False after `longest` [s]."""
        end = time.monotonic() + longest
        while not over():
            now = time.monotonic()
            if now > end:
                return False
            if goal is not None and now >= self._due:
                self._due = now + SEND
                self._send(now, goal)
            self.hardware.step(time.monotonic())
            time.sleep(TICK)
        return True

    def can_be_reset(self) -> bool:
        """Whether a fault could be ended; the arm then holds."""
        try:
            self.hardware.reset()
        except InvalidValueError:
            return False
        return True

    def _send(self, now: float, goal: Callable[[float], FloatArray]) -> None:
        self._number += 1
        zero = np.zeros(self.robot.dof)
        speed = (goal(now + 1e-3) - goal(now - 1e-3)) / 2e-3
        setpoint: Any = Setpoint(self._number, now, goal(now), speed, zero)
        self.hardware.command(now, setpoint)

    def close(self) -> None:
        """Disconnect."""
        self.hardware.close()
