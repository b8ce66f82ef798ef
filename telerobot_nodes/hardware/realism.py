"""Imperfections of the simulated arm: contact, wrist sensor, load, servo. The defaults are plausible.

Sensor values are of the size given in data sheets of six-axis wrist sensors for about 100 N: noise below 0.1 N,
resolution 1/40 N, an offset of a few newtons that taring removes and that drifts with temperature. The same seed gives
the same noise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from telerobot_nodes.core.config import check_parameter, parameter
from telerobot_nodes.core.values import FloatArray


@dataclasses.dataclass(frozen=True)
class Realism:
    """Parameters of the simulated arm. Raises InvalidValueError naming the field."""

    friction: float = parameter(0.5, unit="-", low=0.0, high=2.0, doc="simulated: sliding friction of every contact")
    payload_mass: float = parameter(
        0.1, unit="kg", low=0.0, high=20.0, doc="simulated: load at the tool, unknown to the servo"
    )
    servo_bandwidth: float = parameter(
        100.0, unit="rad/s", low=10.0, high=200.0, doc="simulated: bandwidth of the joint servo"
    )
    servo_lag: float = parameter(
        0.002, unit="s", low=0.0, high=0.005, doc="simulated: time constant from commanded torque to joint torque"
    )
    force_noise: float = parameter(
        0.08, unit="N", low=0.0, high=10.0, doc="simulated wrist sensor: standard deviation of each force reading"
    )
    torque_noise: float = parameter(
        0.003, unit="N m", low=0.0, high=1.0, doc="simulated wrist sensor: standard deviation of each torque reading"
    )
    force_bias: float = parameter(
        2.0, unit="N", low=0.0, high=50.0, doc="simulated wrist sensor: standard deviation of the initial force offset"
    )
    torque_bias: float = parameter(
        0.05,
        unit="N m",
        low=0.0,
        high=5.0,
        doc="simulated wrist sensor: standard deviation of the initial torque offset",
    )
    force_drift: float = parameter(
        0.01, unit="N/s^0.5", low=0.0, high=1.0, doc="simulated wrist sensor: random walk of the force offset"
    )
    torque_drift: float = parameter(
        0.0003, unit="N m/s^0.5", low=0.0, high=0.1, doc="simulated wrist sensor: random walk of the torque offset"
    )
    force_resolution: float = parameter(
        0.025, unit="N", low=0.0, high=1.0, doc="simulated wrist sensor: resolution of a force reading; 0: none"
    )
    torque_resolution: float = parameter(
        0.00125, unit="N m", low=0.0, high=0.1, doc="simulated wrist sensor: resolution of a torque reading; 0: none"
    )
    realism_seed: int = parameter(1, low=0, high=2**31 - 1, doc="simulated: seed of noise, offset and drift")

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            if entry.metadata:
                object.__setattr__(self, entry.name, check_parameter(type(self), entry.name, getattr(self, entry.name)))


IDEAL = Realism(
    payload_mass=0.0,
    servo_lag=0.0,
    force_noise=0.0,
    torque_noise=0.0,
    force_bias=0.0,
    torque_bias=0.0,
    force_drift=0.0,
    torque_drift=0.0,
    force_resolution=0.0,
    torque_resolution=0.0,
)


DRAWN_AHEAD = 100  # readings


class WristSensor:
    """Model of a wrist sensor: offset, drift, noise, resolution. One reading per servo period [s]."""

    def __init__(self, realism: Realism, period: float) -> None:
        self._random = np.random.default_rng(realism.realism_seed)
        self._noise = _six(realism.force_noise, realism.torque_noise)
        self._drift = _six(realism.force_drift, realism.torque_drift) * np.sqrt(period)
        self._step = _six(realism.force_resolution, realism.torque_resolution)
        self._stepped = self._step > 0.0
        self._offset = self._random.normal(size=6) * _six(realism.force_bias, realism.torque_bias)
        self._quiet = not (self._noise.any() or self._drift.any() or self._stepped.any())
        self._divisor = np.where(self._stepped, self._step, 1.0)
        self._draws: Iterator[FloatArray] = iter(())  # one call draws for many readings

    def reading(self, wrench: FloatArray) -> FloatArray:
        """The reading (6,) [N], [N m] of a true `wrench` (6,)."""
        if self._quiet:
            return wrench + self._offset
        drift, noise = self._draw()
        self._offset += self._drift * drift
        felt = wrench + self._offset + self._noise * noise
        return np.where(self._stepped, np.rint(felt / self._divisor) * self._step, felt)

    def _draw(self) -> tuple[FloatArray, FloatArray]:
        """Standard normal numbers (6,) for drift and for noise of one reading."""
        pair = next(self._draws, None)
        if pair is None:
            self._draws = iter(self._random.standard_normal((DRAWN_AHEAD, 2, 6)))
            pair = next(self._draws)
        return pair[0], pair[1]


def _six(force: float, torque: float) -> FloatArray:
    return np.repeat(np.array([force, torque]), 3)
