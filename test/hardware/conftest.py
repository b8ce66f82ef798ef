from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware import Hardware, Setpoint
from telerobot_nodes.hardware.realism import IDEAL


def make_setpoint(robot, now, position=None, velocity=None, acceleration=None, number=1, **fingers) -> Setpoint:
    zero = np.zeros(robot.dof)
    return Setpoint(
        number,
        now,
        np.array(robot.home if position is None else position),
        zero if velocity is None else np.array(velocity),
        zero if acceleration is None else np.array(acceleration),
        **fingers,
    )


@dataclass
class Rig:
    """An arm in physics with its own clock; rows of the reference are kept for checks."""

    hardware: Hardware
    now: float = 10.0

    def __post_init__(self) -> None:
        self.hardware.open(self.now)
        self.robot = self.hardware.robot
        self.reference = [self.hardware._reference.q.copy()]

    def step(self, periods: int = 1) -> None:
        for _ in range(periods):
            self.now += self.hardware.period
            assert self.hardware.step(self.now) == 1
            self.reference.append(self.hardware._reference.q.copy())

    def send(self, position=None, velocity=None, acceleration=None, **more) -> str:
        return self.hardware.command(
            self.now, make_setpoint(self.robot, self.now, position, velocity, acceleration, **more)
        )

    def swing(self, seconds: float, joint: int = 0, speed: float = 0.4) -> None:
        """A smooth start of one joint up to `speed` [rad/s]; ends in motion."""
        begin, home, unit = self.now, np.array(self.robot.home), np.eye(self.robot.dof)[joint]
        while self.now < begin + seconds - 1e-9:
            t = self.now - begin
            ramp = min(t / 0.3, 1.0)
            travel = 0.5 * speed * t * ramp if t < 0.3 else speed * (t - 0.15)
            refusal = self.send(home + unit * travel, unit * speed * ramp, unit * (speed / 0.3 if t < 0.3 else 0.0))
            assert refusal == ""
            self.step(5)

    def accelerations(self) -> np.ndarray:
        v = np.diff(np.array(self.reference), axis=0) / self.hardware.period
        return np.diff(v, axis=0) / self.hardware.period

    def assert_limits_held(self) -> None:
        rows, limits = np.array(self.reference), self.robot.limits
        v = np.diff(rows, axis=0) / self.hardware.period
        assert (rows >= limits.lower).all() and (rows <= limits.upper).all()
        assert (np.abs(v) <= limits.velocity * (1 + 1e-5)).all()
        assert (np.abs(self.accelerations()) <= limits.acceleration * (1 + 1e-5) + 1e-6).all()


@pytest.fixture
def rig() -> Rig:
    return Rig(Hardware(load_robot("arm")))


@pytest.fixture
def rig_of() -> type[Rig]:
    return Rig


@pytest.fixture
def ideal_rig() -> Rig:
    return Rig(Hardware(load_robot("arm"), realism=IDEAL))


@pytest.fixture(params=("arm", "panda", "ur5"))
def any_rig(request) -> Rig:
    return Rig(Hardware(load_robot(request.param)))


@pytest.fixture
def setpoint():
    return make_setpoint
