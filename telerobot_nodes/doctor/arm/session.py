"""An arm served for its check: measurements are recorded, and one joint at a time moves a little and back.

The product's own `Hardware` stands between: its checks, limits and watchdog hold, and a fault ends the motion.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import Hardware, Setpoint

TICK = 0.002  # [s] between two looks
SEND = 0.004  # [s] between two setpoints


@dataclass
class Record:
    """Measurements in the order they came; each measured time once."""

    time: list[float] = field(default_factory=list)  # [s]
    position: list[FloatArray] = field(default_factory=list)  # (dof,) [rad]
    velocity: list[FloatArray] = field(default_factory=list)
    wrench: list[FloatArray] = field(default_factory=list)  # (6,) [N], [N m] as the driver gives it

    @property
    def times(self) -> FloatArray:
        """(n,) [s]."""
        return np.array(self.time)


@dataclass(frozen=True)
class SmallMotion:
    """One joint away by `amount` [rad] within `way` [s], a stay of `stay` [s], and back; smooth, from rest to rest."""

    begin: float  # [s]
    amount: float
    way: float
    stay: float = 0.5

    @property
    def end(self) -> float:
        """Time [s] at which it is over."""
        return self.begin + 2.0 * self.way + self.stay

    def offsets(self, times: FloatArray) -> FloatArray:
        """Offsets (n,) [rad] at times (n,) [s]."""
        t = times - self.begin
        u = np.clip(np.minimum(t, 2.0 * self.way + self.stay - t) / self.way, 0.0, 1.0)
        return np.asarray(self.amount * (10 * u**3 - 15 * u**4 + 6 * u**5))

    def at(self, now: float) -> tuple[float, float, float]:
        """Offset [rad], velocity and acceleration at `now` [s]."""
        t = now - self.begin
        sign = 1.0
        if t > self.way + self.stay:
            t, sign = 2.0 * self.way + self.stay - t, -1.0
        u = min(max(t / self.way, 0.0), 1.0)
        offset = 10 * u**3 - 15 * u**4 + 6 * u**5
        speed = 30 * u**2 * (1 - u) ** 2 / self.way
        push = 60 * u * (1 - u) * (1 - 2 * u) / self.way**2
        return self.amount * offset, sign * self.amount * speed, self.amount * push


class Session:
    """Serves one arm on a clock. `now` and `sleep` [s] are the host's, or a test's own."""

    def __init__(
        self,
        hardware: Hardware,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.hardware, self.now, self._sleep = hardware, now, sleep
        self._number = 0

    @property
    def fault(self) -> str:
        """The arm's fault, or ""."""
        status = self.hardware.status()
        return status.reason if status.state in (HardwareState.FAULT, HardwareState.ESTOP) else ""

    def open(self) -> None:
        """Connect."""
        self.hardware.open(self.now())

    def watch(self, seconds: float) -> Record:
        """Serve for a time, or until a fault."""
        record, end = Record(), self.now() + seconds
        while self.now() < end and not self.fault:
            self._serve(record)
        return record

    def move(self, joint: int, motion: SmallMotion) -> Record:
        """Serve while one joint makes a motion from where the arm rests, or until a fault."""
        record, start, due = Record(), self.hardware.arm.position.copy(), motion.begin
        unit = np.eye(start.size)[joint]
        while self.now() < motion.end + SEND and not self.fault:
            now = self.now()
            if now >= due:
                due = now + SEND
                self._send(now, start, unit, motion)
            self._serve(record)
        return record

    def recover(self, seconds: float) -> bool:
        """After a fault that is over: serve until the arm takes references again; False after `seconds`."""
        end = self.now() + seconds
        while self.now() < end:
            self._serve(Record())
            try:
                self.hardware.reset()
            except InvalidValueError:
                continue
            return True
        return False

    def _send(self, now: float, start: FloatArray, unit: FloatArray, motion: SmallMotion) -> None:
        offset, speed, push = motion.at(now)
        self._number += 1
        goal: Any = Setpoint(self._number, now, start + offset * unit, speed * unit, push * unit, -1.0)
        refusal = self.hardware.command(now, goal)
        if refusal and not self.fault:  # a fault says more
            raise InvalidValueError("setpoint", self._number, refusal)

    def _serve(self, record: Record) -> None:
        self.hardware.step(self.now())
        measured = self.hardware.arm.read()
        if np.isfinite(measured.time) and (not record.time or measured.time > record.time[-1]):
            record.time.append(measured.time)
            record.position.append(measured.position)
            record.velocity.append(measured.velocity)
            record.wrench.append(measured.wrench_sensor)
        self._sleep(TICK)

    def close(self) -> None:
        """Disconnect; the arm is left holding."""
        self.hardware.close()
