"""Look-ahead rate planning: how fast plan time may run so that the arm can always stop on its path.

This is the backward and forward pass of time-optimal path parameterization [BobrowDubowskyGibson1985] with
a bounded change of the rate. The rate r = dtau/dt is planned ("raw"), then averaged over a time W, which bounds its
second derivative too. The averaged motion lags the raw one, within the part of the path that the raw one passes in W.
A limit is therefore dilated: at distance d it applies only to a raw rate that can span d within W,

    r <= max(rate(tau + d), d / W)  for every d,

If that holds for the raw rate at all times, the averaged rate keeps rate(tau) everywhere: if it exceeded the limit at
its own place p, each raw rate in the average would be below the average itself. The limits of the rate's change are
dilated by the distance r W in the same way. The open end of the path counts as a limit of 0.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray

_TOLERANCE = 1e-9


@numba.njit(cache=True)
def _least(change: FloatArray, edge: FloatArray, cell: int, low: float, high: float) -> float:
    """Smallest rate change among `cell` and the cells it reaches between plan times `low` and `high` [s]."""
    least = change[cell]
    j = cell - 1
    while j >= 0 and edge[j + 1] > low:
        least = min(least, change[j])
        j -= 1
    j = cell + 1
    while j < change.size and edge[j] < high:
        least = min(least, change[j])
        j += 1
    return float(least)


@numba.njit(cache=True)
def _furthest(start: float, end: float, s0: float, s1: float, width: float) -> float:
    """Largest tau + r width while r^2 falls evenly from `s0` at `start` to `s1` at `end`."""
    far = max(start + width * math.sqrt(s0), end + width * math.sqrt(s1))
    if end <= start:  # the nominal time ended right at the cell's edge
        return far - 1e-9
    slope = (s0 - s1) / (end - start)  # 2 |dr/dt|
    turn = (0.5 * width * slope) ** 2
    if s1 < turn < s0:
        far = max(far, start + (s0 - turn) / slope + width * math.sqrt(turn))
    return far - 1e-9


@numba.njit(cache=True)
def _fall(change: FloatArray, edge: FloatArray, cell: int, tau: float, s: float, width: float) -> float:
    """Steepest fall of the raw rate [1/s] from `tau` inside `cell` to its end, at r^2 = `s` or less."""
    r = math.sqrt(s)
    low = edge[cell] - width * (r + width * change[cell])
    fall = _least(change, edge, cell, low, tau + width * r - 1e-9)
    for _ in range(2):
        after = max(s - 2.0 * fall * (edge[cell + 1] - tau), 0.0)
        fall = _least(change, edge, cell, low, _furthest(tau, edge[cell + 1], s, after, width) if s > 0.0 else low)
    return fall


@numba.njit(cache=True)
def _dilated(rate: FloatArray, edge: FloatArray, node: int, width: float, open_end: bool) -> float:
    """Largest raw rate at `edge[node]` that keeps the limits of every cell it can reach within `width` [s].

    Distances are those from the far edges of both cells at the node, so that the limit holds all through them.
    """
    n = rate.size
    ahead, behind = edge[min(node + 1, n)], edge[max(node - 1, 0)]
    most = rate[min(node, n - 1)]
    if node > 0:
        most = min(most, rate[node - 1])
    if open_end:
        most = min(most, (edge[n] - ahead) / width)
    j = node + 1
    while j < n and edge[j] - ahead < most * width:
        most = min(most, max(rate[j], (edge[j] - ahead) / width))
        j += 1
    j = node - 2
    while j >= 0 and behind - edge[j + 1] < most * width:
        most = min(most, max(rate[j], (behind - edge[j + 1]) / width))
        j -= 1
    return float(most)


@numba.njit(cache=True)
def ceiling_squared(
    edge: FloatArray, rate: FloatArray, change: FloatArray, open_end: bool, width: float, first: int
) -> FloatArray:
    """r^2 at each edge from `first` on, from which rest at the end can be reached; (n + 1,), 0 from the end on.

    Before an open end the last cell is not entered, so that coming to rest takes a finite time.
    """
    n = rate.size
    s = np.zeros(n + 1)
    end = n - 1 if open_end else n
    for k in range(end - 1, first - 1, -1):
        span = edge[k + 1] - edge[k]
        most = _dilated(rate, edge, k, width, open_end) ** 2
        guess = max(min(s[k + 1] + 2.0 * change[k] * span, most), s[k + 1])
        low = edge[k] - width * (math.sqrt(guess) + width * change[k])
        fall = _least(change, edge, k, low, _furthest(edge[k], edge[k + 1], guess, s[k + 1], width))
        s[k] = min(s[k + 1] + 2.0 * fall * span, most)
    return s


@numba.njit(cache=True)
def _aim(
    change: FloatArray, edge: FloatArray, cell: int, tau: float, s: float, wanted: float, end: float, width: float
) -> tuple[float, float, float]:
    """Fall and rise [1/s] allowed from `tau` on, and r^2 at the cell's end: towards `wanted`, at most `end`."""
    span = edge[cell + 1] - tau
    fall = _fall(change, edge, cell, tau, s, width)
    if wanted <= s:
        return fall, 0.0, min(max(s - 2.0 * fall * span, wanted), end)
    guess = math.sqrt(min(s + 2.0 * change[cell] * span, wanted))
    reach = width * (guess + width * change[cell])
    rise = _least(change, edge, cell, edge[cell] - width * guess, edge[cell + 1] + reach)
    return fall, rise, min(s + 2.0 * rise * span, wanted, end)


@numba.njit(cache=True)
def plan_rate(
    edge: FloatArray,
    rate: FloatArray,
    change: FloatArray,
    open_end: bool,
    tau: float,
    now_rate: float,
    goal: float,
    nominal: float,
    width: float,
    times: FloatArray,
    taus: FloatArray,
    rates: FloatArray,
) -> int:
    """Raw motion from `tau` at `now_rate`: towards `goal` for `nominal` [s], then to rest; constant change per piece.

    Piece ends go into `times` [s from now], `taus`, `rates`; entry 0 is the start. Returns their number, or 0 when
    rest cannot be reached inside the limits (the motion planned before stays the one to follow).
    """
    times[0], taus[0], rates[0] = 0.0, tau, now_rate
    end = rate.size - 1 if open_end else rate.size
    if end <= 0 or tau >= edge[end]:
        return 1 if now_rate == 0.0 else 0
    k = max(int(np.searchsorted(edge, tau + 1e-12, side="right")) - 1, 0)
    ceiling = ceiling_squared(edge, rate, change, open_end, width, k)
    count, t, s, risen = 1, 0.0, now_rate * now_rate, False
    while k < end and count < times.size:
        span, r = edge[k + 1] - tau, math.sqrt(s)
        wanted = goal * goal if t < nominal else 0.0
        fall, rise, target = _aim(change, edge, k, tau, s, wanted, ceiling[k + 1], width)
        low = s - 2.0 * fall * span
        if target < low - _TOLERANCE * (1.0 + s):
            return 0
        if target <= 0.0 and low < 0.0 and wanted == 0.0:  # rest inside the cell
            return _rest_within(s / (2.0 * fall), r, t, tau, count, times, taus, rates)
        halfway = target <= 0.0 and not risen and wanted > s  # rest at the cell's end: up in its first half, then down
        if halfway:
            span *= 0.5
            top = min(s + 1.8 * rise * span, 0.5 * ceiling[k], wanted)
            # the way down looks farther back than the way up, and may have to be less steep
            top = min(top, 1.8 * _fall(change, edge, k, tau + span, top, width) * span)
            risen = True
            if s == 0.0 and (top <= 0.0 or span < 1e-9):
                return count
            halfway = top > s
            target = top if halfway else target
            span = span if halfway else 2.0 * span
        after = math.sqrt(max(target, 0.0))
        spent = 2.0 * span / (r + after)
        if wanted > 0.0 and t + spent > nominal:
            x, slope = nominal - t, (after - r) / spent
            t, tau, r = nominal, tau + r * x + 0.5 * slope * x * x, r + slope * x
        else:
            t, tau, r = t + spent, tau + span if halfway else edge[k + 1], after
            k += 0 if halfway else 1
        s = r * r
        times[count], taus[count], rates[count] = t, tau, r
        count += 1
    return count if rates[count - 1] == 0.0 else 0


@numba.njit(cache=True)
def _rest_within(
    run: float,
    r: float,
    t: float,
    tau: float,
    count: int,
    times: FloatArray,
    taus: FloatArray,
    rates: FloatArray,
) -> int:
    """Add the last piece, to rest after `run` [s] of plan time; returns the number of piece ends."""
    if r <= 0.0:
        return count
    times[count], taus[count], rates[count] = t + 2.0 * run / r, tau + run, 0.0
    return count + 1


@numba.njit(cache=True)
def sample_average(
    times: FloatArray, taus: FloatArray, rates: FloatArray, at: FloatArray, width: float, out: FloatArray
) -> None:
    """Averaged motion at times `at` (n,): plan time, rate, change of rate into `out` (3, n).

    Raw motion is given by the ends of its pieces of constant change; it rests before the first and after the last.
    """
    area = np.zeros(times.size)
    for i in range(times.size - 1):
        h = times[i + 1] - times[i]
        slope = (rates[i + 1] - rates[i]) / h if h > 0.0 else 0.0
        area[i + 1] = area[i] + h * (taus[i] - taus[0] + h * (0.5 * rates[i] + h * slope / 6.0))
    for n in range(at.size):
        tau1, r1, area1 = _raw(times, taus, rates, area, at[n])
        tau0, r0, area0 = _raw(times, taus, rates, area, at[n] - width)
        out[0, n] = taus[0] + (area1 - area0) / width
        out[1, n] = (tau1 - tau0) / width
        out[2, n] = (r1 - r0) / width


@numba.njit(cache=True)
def _raw(
    times: FloatArray, taus: FloatArray, rates: FloatArray, area: FloatArray, t: float
) -> tuple[float, float, float]:
    """Raw plan time past `taus[0]`, rate, and integral of the former at time `t`."""
    last = times.size - 1
    if t <= times[0]:
        return 0.0, 0.0, 0.0
    if t >= times[last]:
        held = taus[last] - taus[0]
        return held, 0.0, area[last] + held * (t - times[last])
    i = int(np.searchsorted(times, t, side="right")) - 1
    h, x = times[i + 1] - times[i], t - times[i]
    slope = (rates[i + 1] - rates[i]) / h
    tau = taus[i] - taus[0]
    return (
        tau + x * (rates[i] + 0.5 * slope * x),
        rates[i] + slope * x,
        area[i] + x * (tau + x * (0.5 * rates[i] + slope * x / 6.0)),
    )
