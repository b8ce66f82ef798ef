"""State of the plan buffer that survives its process, so that nothing is executed twice.

What belongs here: the value, and its text for a journal. What must never enter: files. The host of the executor writes
the text before it sends a window, and passes the last complete one to the next executor.

The points themselves are not stored: the operator's side sends those that are not committed again. Committed points
may have been reached after the process died. The control loop, which continues, reports how far the arm went. If it
was restarted too, the place where the arm stands tells: the nearest of the committed path, the last one where the path
comes there again. An arm that is nowhere on that path tells nothing; all committed points count as reached then, so
that none is executed twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import RATE_RANGE, ControlReport, LogPosition

_SLACK = 1e-6  # [s]
_NEAR = 0.02  # [rad] of each joint between the arm and the path: an arm farther away is nowhere on it
_ALIKE = 1e-3  # [rad] of each joint: two places of the path whose distances to the arm differ less are one place
MAX_NUMBER = 1 << 62  # of epochs, operations and points: a message has room for 2^64


@dataclass(frozen=True)
class ExecutorMemory:
    """State of a `PlanExecutor` for its successor."""

    position: LogPosition  # of the operation log
    executed_seq: int
    highest_seq: int  # highest number ever taken
    held: bool  # paused or halted: a successor waits for RESUME
    rate_goal: float  # [-] the operator's latest
    plan_time: float  # [s] of the arm
    committed: tuple[tuple[int, float], ...]  # number and plan time [s] of points that the arm may reach by itself
    joints: tuple[tuple[float, ...], ...] = ()  # [rad] of the last executed point and of the committed ones

    def reached(self, report: ControlReport) -> tuple[int, float]:
        """Last point that the arm has reached and its plan time [s], from the loop's report at rest."""
        last = self.committed[-1][1] if self.committed else self.plan_time
        if report.window_number == 0:
            return self._reached_at(report.joint_position)
        plan_time = min(max(report.arrived_time, self.plan_time), max(last, self.plan_time))
        done = [seq for seq, time in self.committed if time <= plan_time + _SLACK]
        return (done[-1] if done else self.executed_seq), plan_time

    def _reached_at(self, q: FloatArray) -> tuple[int, float]:
        """The last point that an arm at rest at `q` (dof,) [rad] has reached, and the plan time [s] of its place."""
        points = [(self.executed_seq, self.plan_time), *self.committed]
        knots = np.array(self.joints)
        if knots.shape != (len(points), q.size):
            return points[-1]
        begin, step = knots[:-1], np.diff(knots, axis=0)
        length = np.maximum((step * step).sum(axis=1), np.finfo(float).tiny)
        share = np.clip(((q - begin) * step).sum(axis=1) / length, 0.0, 1.0)
        gap = np.abs(begin + share[:, None] * step - q).max(axis=1)
        if gap.min(initial=np.inf) > _NEAR:
            return points[-1]
        at = int(np.flatnonzero(gap <= gap.min() + _ALIKE)[-1])
        if np.abs(knots[at + 1] - q).max() <= gap.min() + _ALIKE:
            return points[at + 1]
        (seq, before), (_, after) = points[at], points[at + 1]
        return seq, before + float(share[at]) * (after - before)

    def text(self) -> str:
        """One line of JSON."""
        position = [self.position.epoch, self.position.authority, self.position.applied_number]
        values = [self.executed_seq, self.highest_seq, self.held, self.rate_goal, self.plan_time]
        return json.dumps({"position": position, "values": values, "committed": self.committed, "joints": self.joints})

    @classmethod
    def from_text(cls, line: str) -> ExecutorMemory:
        """Memory from one line of a journal. Raises InvalidValueError when it is damaged."""
        try:
            read = json.loads(line)
            epoch, authority, applied = read["position"]
            executed, highest, held, rate, plan_time = read["values"]
            committed = tuple((_number(seq), finite(time, "memory.committed")) for seq, time in read["committed"])
            joints = tuple(tuple(finite_array(q, "memory.joints").tolist()) for q in read.get("joints", ()))
            if len({len(q) for q in joints}) > 1:
                raise ValueError("joints of different numbers")
            position = LogPosition(_number(epoch), str(authority), _number(applied))
            time = finite(plan_time, "memory.plan_time")
            rate = in_range(rate, "memory.rate_goal", *RATE_RANGE)
            return cls(position, _number(executed), _number(highest), bool(held), rate, time, committed, joints)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidValueError("memory", line, f"allowed: a line written by this version ({error})") from None


def _number(value: object) -> int:
    """A counter that leaves room for many more. Raises ValueError."""
    if not isinstance(value, int) or not 0 <= value < MAX_NUMBER:
        raise ValueError(f"{value!r} is not a number from 0 to 2^62")
    return value
