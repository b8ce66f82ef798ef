"""One planned motion along the path: plan time as a function of time, with rest at its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.executor.path import RateLimits
from telerobot_nodes.plan.executor.rate import ceiling_squared, plan_rate, sample_average

FILTER = 0.08  # [s] default averaging time


@dataclass(frozen=True)
class Profile:
    """Raw motion as ends of pieces of constant change of rate; the arm follows its average over `width` [s]."""

    times: FloatArray  # (n,) [s] increasing
    taus: FloatArray  # (n,) [s] plan time
    rates: FloatArray  # (n,) [-] 0 in the last
    width: float = FILTER

    @classmethod
    def rest(cls, now: float, tau: float, width: float = FILTER) -> Profile:
        """At rest at plan time `tau` [s], before and after `now` [s]."""
        return cls(np.array([now]), np.array([tau]), np.zeros(1), width)

    @property
    def end(self) -> float:
        """Time from which the arm rests [s]."""
        return float(self.times[-1]) + (self.width if self.times.size > 1 else 0.0)

    @property
    def end_tau(self) -> float:
        """Plan time where the arm rests [s]."""
        return float(self.taus[-1])

    def sample(self, at: FloatArray) -> FloatArray:
        """(3, n): plan time [s], rate [-], change of rate [1/s] of the arm at times `at` (n,) [s]."""
        out = np.empty((3, at.size))
        sample_average(self.times, self.taus, self.rates, at, self.width, out)
        return out

    def raw(self, t: float) -> tuple[float, float]:
        """Plan time and rate of the raw motion at time `t` [s]."""
        i = int(np.searchsorted(self.times, t, side="right")) - 1
        if i < 0 or i >= self.times.size - 1:
            return float(self.taus[max(i, 0)]), 0.0
        h, x = self.times[i + 1] - self.times[i], t - self.times[i]
        slope = (self.rates[i + 1] - self.rates[i]) / h
        rate = self.rates[i] + slope * x
        return float(self.taus[i] + 0.5 * (self.rates[i] + rate) * x), float(rate)

    def rested_since(self, t: float) -> float:
        """Time since the raw motion came to rest, at time `t` [s]; negative while it moves."""
        return t - float(self.times[-1]) if self.times.size > 1 else np.inf

    def committed(self, t: float) -> float:
        """Plan time [s] that the motion from time `t` [s] on depends on: what its rates could reach within `width`."""
        tau, rate = self.raw(t)
        later = self.times > t
        reach = self.taus[later] + self.rates[later] * self.width
        return float(max(tau + rate * self.width, self.end_tau, reach.max(initial=-np.inf)))

    def continued(
        self, splice: float, limits: RateLimits, goal: float, nominal: float, oldest: float
    ) -> Profile | None:
        """The same motion up to time `splice`, then towards rate `goal` for `nominal` [s], then to rest.

        Pieces before `oldest` [s] are dropped. None if rest cannot be reached that way; this motion stays valid.
        """
        tau, rate = self.raw(splice)
        times, taus, rates = _planned(limits, tau, rate, goal, nominal, self.width)
        if times.size == 0:
            return None
        if times.size == 1 and rate == 0.0:
            return self
        first = max(int(np.searchsorted(self.times, oldest, side="right")) - 1, 0)
        last = int(np.searchsorted(self.times, splice))
        return Profile(
            np.concatenate([self.times[first:last], splice + times]),
            np.concatenate([self.taus[first:last], taus]),
            np.concatenate([self.rates[first:last], rates]),
            self.width,
        )


def stop_distance(limits: RateLimits, tau: float, rate: float, width: float = FILTER) -> float:
    """Plan time [s] needed to come to rest from raw `rate` at `tau`, inside the limits; inf if it is impossible."""
    taus = _planned(limits, tau, rate, 0.0, 0.0, width)[1]
    return float(taus[-1] - tau) if taus.size else np.inf


def rate_ceiling(limits: RateLimits, width: float = FILTER) -> FloatArray:
    """Largest raw rate (n + 1,) at each edge from which rest can be reached inside the limits."""
    return np.asarray(np.sqrt(ceiling_squared(limits.edge, limits.rate, limits.change, limits.open_end, width, 0)))


def _planned(
    limits: RateLimits, tau: float, rate: float, goal: float, nominal: float, width: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Piece ends (n,) of `plan_rate`: times from now [s], plan times [s], rates [-]; empty if rest is unreachable."""
    size = limits.rate.size + 8
    times, taus, rates = np.empty(size), np.empty(size), np.empty(size)
    edge, most, change = limits.edge, limits.rate, limits.change
    n = plan_rate(edge, most, change, limits.open_end, tau, rate, goal, nominal, width, times, taus, rates)
    return times[:n], taus[:n], rates[:n]
