"""Joint path of the plan over plan time: twice continuously differentiable, local, growing at its tail.

What belongs here: knots, spline segments, the rate limits that follow from joint limits. What must never enter: clock
time, motion along the path (`rate.py`), kinematics (`executor.py`).

Near a joint limit the knots' derivatives are scaled so that the path does not leave it (`curve.stay_inside`). A spline
segment depends on the knots before and after it. It is *settled* once the next knot exists, or once its last
knot is *sealed* (velocity and acceleration zero). Settled segments never change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray, GrowableArray, IntArray
from telerobot_nodes.plan.executor.curve import CELL, MAX_CELLS, evaluate_into, settle

_ROUNDING = 1e-9  # [s]

MIN_SPACING = 1e-3  # [s] between knots; points nearer in plan time are moved apart


@dataclass(frozen=True)
class PathLimits:
    """Use of the joint limits along the path."""

    reserve: float = 0.95  # [-] share of velocity and acceleration limits in use
    share: float = 0.6  # [-] share of the acceleration for the path's curvature; the rest changes the rate
    jerk_time: float = 0.02  # [s] acceleration limit / least jerk of the path at constant rate
    jerk_shares: tuple[float, float, float] = (0.45, 0.11, 0.19)  # for r^3 q''', r'' q', 3 r r' q''; see `bounds`
    filter_time: float = 0.08  # [s] averaging time of the rate
    ramp_time: float = 0.1  # [s] shortest time to change the rate by its own limit
    ceiling: float = 10.0  # [-] largest rate

    def bounds(self, limits: JointLimits) -> FloatArray:
        """Bounds (5, dof) for `curve.segment_limits`.

        The averaged rate's r'' is at most 2 r' / filter_time. A quarter of the jerk limit is left for the loop, whose
        quintics between the samples of a window have more jerk than the motion sampled.
        """
        velocity, acceleration = self.reserve * limits.velocity, self.reserve * limits.acceleration
        bending = self.share * acceleration
        along, bent, mixed = (share * self.reserve * limits.jerk for share in self.jerk_shares)
        change = np.minimum(acceleration - bending, 0.5 * self.filter_time * bent)
        jerk = np.minimum(limits.acceleration / self.jerk_time, along)
        return np.vstack([velocity, bending, jerk, change, mixed / 3.0])


@dataclass(frozen=True)
class RateLimits:
    """Rate limits of consecutive cells: cell k spans `edge[k] .. edge[k + 1]` of plan time."""

    edge: FloatArray  # (n + 1,) [s] plan time
    rate: FloatArray  # (n,) [-]
    change: FloatArray  # (n,) [1/s]
    open_end: bool  # more cells follow, or may follow, without a stop


class JointPath:
    """Knots with numbers; number 0 is the anchor the plan starts from."""

    def __init__(self, limits: JointLimits, share: PathLimits | None = None) -> None:
        self.share = share or PathLimits()
        self._limits, self._bounds = limits, self.share.bounds(limits)
        velocity, bending, _, change, mixed = self._bounds
        slowest = np.maximum(velocity / change, bending / mixed).max()
        self.stop_time = max(float(slowest), self.share.ramp_time)  # [s] at most
        dof = limits.dof
        self._time, self._seq = GrowableArray(), GrowableArray(dtype=np.int64)
        self._q, self._v, self._a = GrowableArray((dof,)), GrowableArray((dof,)), GrowableArray((dof,))
        self._gripper, self._sealed = GrowableArray(), GrowableArray(dtype=np.bool_)
        self._cell_first = GrowableArray(dtype=np.int64)  # absolute number of a knot's first cell
        self._edge, self._rate, self._change = GrowableArray(), GrowableArray(), GrowableArray()
        self._dropped_cells = 0
        self._settled = 0  # settled segments among those held
        self._knots = (self._time, self._seq, self._q, self._v, self._a, self._gripper, self._sealed, self._cell_first)
        self.begun_at = np.zeros(dof)  # [rad] joints at which the plan began
        self.reset(0.0, np.zeros(dof))

    def __len__(self) -> int:
        """Knots held."""
        return len(self._time)

    def reset(self, time: float, q: FloatArray, seq: int = 0) -> None:
        """Start anew at rest at `q` (dof,) [rad], plan time `time` [s]."""
        for rows in (*self._knots, self._edge, self._rate, self._change):
            rows.clear()
        self._dropped_cells = self._settled = 0
        self._add(np.array([seq]), np.array([time]), q.reshape(1, -1), np.array([np.nan]))
        self._v.view[:] = self._a.view[:] = 0.0
        self._sealed.view[:] = True
        self._cell_first.view[:] = 0
        self._edge.extend(1)[:] = time

    def begin(self, time: float, q: FloatArray, seq: int = 0) -> None:
        """As `reset`, for a plan that begins there, whatever follows: the posture that pulls a redundant arm."""
        self.reset(time, q, seq)
        self.begun_at = q.copy()

    def append(self, seq: IntArray, time: FloatArray, q: FloatArray, gripper: FloatArray | None = None) -> None:
        """Add knots (n,) `seq`, `time` [s] not before the tail, `q` (n, dof) [rad], `gripper` (n,) [m] or None."""
        opening = np.full(time.size, self._gripper.view[-1]) if gripper is None or not gripper.size else gripper
        self._add(seq, spread(float(self._time.view[-1]), time), q, opening)
        self._settle_to(len(self) - 2)

    def seal(self) -> None:
        """End the path at rest at its tail; knots appended later start from this rest."""
        if not self._sealed.view[-1]:
            self._sealed.view[-1] = True
            self._v.view[-1] = self._a.view[-1] = 0.0
            self._settle_to(len(self) - 1)

    def truncate(self, keep: int) -> None:
        """Keep `keep` knots (1 or more); the new tail is unsettled unless it was sealed."""
        if keep >= len(self):
            return
        for rows in self._knots:
            rows.cut(max(keep, 1))
        last = len(self) - 1
        self._settled = min(self._settled, last if self._sealed.view[last] else max(last - 1, 0))
        cells = int(self._cell_first.view[self._settled]) - self._dropped_cells
        self._edge.cut(cells + 1)
        self._rate.cut(cells)
        self._change.cut(cells)

    def rejoin(self, time: float, q: FloatArray, seq: int, keep: float | None = None) -> None:
        """Start at rest at `q` (dof,) [rad], plan time `time` [s], number `seq`; keep the knots after it.

        `keep` [s]: keep only those after this later plan time; the fingers' opening is that of the first at once.
        """
        first = int(np.searchsorted(self._time.view, time if keep is None else keep, side="right"))
        kept = [rows.view[first:].copy() for rows in (self._seq, self._time, self._q, self._gripper)]
        ends = self.sealed
        self.reset(time, q, seq)
        if kept[0].size:
            if keep is not None:
                self._gripper.view[0] = kept[3][0]
            self.append(*kept)
            if ends:
                self.seal()

    def drop_before(self, time: float) -> None:
        """Drop settled segments that end before `time` [s]; the last three knots always stay."""
        count = min(int(np.searchsorted(self._time.view, time, side="right")) - 1, len(self) - 3, self._settled)
        if count <= 0:
            return
        cells = int(self._cell_first.view[count]) - self._dropped_cells
        for rows in self._knots:
            rows.drop(count)
        for rows in (self._edge, self._rate, self._change):
            rows.drop(cells)
        self._dropped_cells += cells
        self._settled -= count

    def evaluate(self, taus: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, dq/dtau, d2q/dtau2, each (n, dof), at plan times `taus` (n,) of settled segments."""
        shape = (taus.size, self._q.view.shape[1])
        out, slope, curvature = np.empty(shape), np.empty(shape), np.empty(shape)
        n = self._settled + 1
        evaluate_into(
            self._time.view[:n], self._q.view[:n], self._v.view[:n], self._a.view[:n], taus, out, slope, curvature
        )
        return out, slope, curvature

    def rate_limits(self, start: float, rest: float, reach: float, most: int = 4096) -> RateLimits:
        """Rate limits of the cells from plan time `start` up to the first seal beyond `rest`, at most to `reach` [s].

        Cells before the last seal at or before `rest` are left out: motion never passes a seal.
        """
        time, sealed = self._time.view[: self._settled + 1], self._sealed.view[: self._settled + 1]
        here = int(np.searchsorted(time, rest + _ROUNDING, side="right")) - 1
        low = max(int(np.searchsorted(time, start, side="right")) - 1, 0)
        behind = np.flatnonzero(sealed[low : here + 1])
        low += int(behind[-1]) if behind.size else 0
        high = min(int(np.searchsorted(time, reach)), self._settled)
        ahead = np.flatnonzero(sealed[here + 1 : high + 1])
        high = here + 1 + int(ahead[0]) if ahead.size else high
        first = int(self._cell_first.view[low]) - self._dropped_cells
        last = min(int(self._cell_first.view[high]) - self._dropped_cells, first + most)
        whole = last == int(self._cell_first.view[high]) - self._dropped_cells
        return RateLimits(
            self._edge.view[first : last + 1],
            self._rate.view[first:last],
            self._change.view[first:last],
            not (whole and bool(sealed[high])),
        )

    def gripper_at(self, taus: FloatArray) -> FloatArray:
        """Opening (n,) [m] at plan times, GRIPPER_UNCHANGED before the first opening; empty if there is none."""
        n = self._settled + 1
        first = max(int(np.searchsorted(self._time.view[:n], taus.min(), side="right")) - 1, 0)
        last = min(int(np.searchsorted(self._time.view[:n], taus.max())) + 1, n)
        known, times = self._gripper.view[first:last], self._time.view[first:last]
        if np.isnan(self._gripper.view[n - 1]):
            return np.empty(0)
        if np.isnan(known[-1]):
            return np.full(taus.size, GRIPPER_UNCHANGED)
        begin = int(np.argmax(~np.isnan(known)))  # every later knot has an opening too
        opening = np.interp(taus, times[begin:], known[begin:])
        return np.where(taus < times[begin] - _ROUNDING, GRIPPER_UNCHANGED, opening)

    def index_needed(self, time: float) -> int:
        """Last knot that the motion up to plan time `time` [s] depends on."""
        end = int(np.searchsorted(self._time.view[: self._settled + 1], time - 1e-9))
        end = min(end, self._settled)
        if end == 0 or self._sealed.view[end]:
            return end
        return min(end + 1, len(self) - 1)

    def index_of_seq(self, seq: int) -> int:
        """Last knot with number `seq` or less, -1 when all are later."""
        return int(np.searchsorted(self._seq.view, seq, side="right")) - 1

    def index_reached(self, time: float) -> int:
        """Last knot at or before plan time `time` [s], -1 when all are later."""
        return int(np.searchsorted(self._time.view, time, side="right")) - 1

    @property
    def seqs(self) -> IntArray:
        """(n,) numbers of the knots held."""
        return self._seq.view

    @property
    def times(self) -> FloatArray:
        """(n,) [s] plan times of the knots held."""
        return self._time.view

    @property
    def joints(self) -> FloatArray:
        """(n, dof) [rad] of the knots held."""
        return self._q.view

    @property
    def sealed(self) -> bool:
        """True when the path ends at rest at its tail."""
        return bool(self._sealed.view[-1])

    @property
    def memory(self) -> int:
        """[bytes] of the knots and cells held."""
        return sum(rows.view.nbytes for rows in (*self._knots, self._edge, self._rate, self._change))

    @property
    def settled(self) -> int:
        """Number of settled segments held."""
        return self._settled

    @property
    def settled_end(self) -> float:
        """[s] plan time up to which the path is final."""
        return float(self._time.view[self._settled])

    def _add(self, seq: IntArray, time: FloatArray, q: FloatArray, gripper: FloatArray) -> None:
        n = time.size
        values = (time, seq, q, 0.0, 0.0, gripper, False, 0)
        for rows, value in zip(self._knots, values, strict=True):
            rows.extend(n)[:] = value

    def _settle_to(self, last: int) -> None:
        first = self._settled
        if last <= first:
            return
        time = self._time.view
        spans = np.diff(time[first : last + 1])
        cells = int(np.clip(np.ceil(spans / CELL - 1e-9), 1, MAX_CELLS).sum())
        base = int(self._cell_first.view[first])
        settle(
            time,
            self._q.view,
            self._v.view,
            self._a.view,
            self._sealed.view,
            first,
            last,
            self._limits.lower,
            self._limits.upper,
            self._bounds,
            self.share.ceiling,
            self.share.ramp_time,
            self._edge.extend(cells),
            self._rate.extend(cells),
            self._change.extend(cells),
            self._cell_first.view,
            base,
        )
        self._settled = last


def spread(tail: float, time: FloatArray) -> FloatArray:
    """Plan times [s] at least MIN_SPACING apart and after `tail`, changed no more than that takes."""
    steps = MIN_SPACING * np.arange(1, time.size + 1)
    return np.asarray(np.maximum(np.maximum.accumulate(time - steps), tail) + steps)
