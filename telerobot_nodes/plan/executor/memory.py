"""State of the plan buffer that survives its process, so that nothing is executed twice.

What belongs here: the value, and its text for a journal. What must never enter: files. The host of the executor writes
the text before it sends a window, and passes the last complete one to the next executor.

The points themselves are not stored: the operator's side sends those that are not committed again. Committed points
may have been reached after the process died. The control loop, which continues, reports how far the arm went. If it
was restarted too, they count as reached, so that none is executed twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from telerobot_nodes.core.values import finite, in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import RATE_RANGE, ControlReport, LogPosition

_SLACK = 1e-6  # [s]
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

    def reached(self, report: ControlReport) -> tuple[int, float]:
        """Last point that the arm has reached and its plan time [s], from the loop's report at rest."""
        last = self.committed[-1][1] if self.committed else self.plan_time
        if report.window_number == 0:
            return self.committed[-1] if self.committed else (self.executed_seq, self.plan_time)
        plan_time = min(max(report.arrived_time, self.plan_time), max(last, self.plan_time))
        done = [seq for seq, time in self.committed if time <= plan_time + _SLACK]
        return (done[-1] if done else self.executed_seq), plan_time

    def text(self) -> str:
        """One line of JSON."""
        position = [self.position.epoch, self.position.authority, self.position.applied_number]
        values = [self.executed_seq, self.highest_seq, self.held, self.rate_goal, self.plan_time]
        return json.dumps({"position": position, "values": values, "committed": self.committed})

    @classmethod
    def from_text(cls, line: str) -> ExecutorMemory:
        """Memory from one line of a journal. Raises InvalidValueError when it is damaged."""
        try:
            read = json.loads(line)
            epoch, authority, applied = read["position"]
            executed, highest, held, rate, plan_time = read["values"]
            committed = tuple((_number(seq), finite(time, "memory.committed")) for seq, time in read["committed"])
            position = LogPosition(_number(epoch), str(authority), _number(applied))
            time = finite(plan_time, "memory.plan_time")
            rate = in_range(rate, "memory.rate_goal", *RATE_RANGE)
            return cls(position, _number(executed), _number(highest), bool(held), rate, time, committed)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidValueError("memory", line, f"allowed: a line written by this version ({error})") from None


def _number(value: object) -> int:
    """A counter that leaves room for many more. Raises ValueError."""
    if not isinstance(value, int) or not 0 <= value < MAX_NUMBER:
        raise ValueError(f"{value!r} is not a number from 0 to 2^62")
    return value
