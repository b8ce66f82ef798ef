"""What the robot's plan buffer must remember over its own death, so that nothing is executed twice.

What belongs here: the value, and its text for a journal. What must never enter: files (whoever runs the executor
writes the text before it sends a window on, and hands the last complete one to the next executor).

The points themselves are not kept: those not committed come again from the operator's side. Those committed may have
been reached while nobody counted. The control loop, which lives on, says how far the arm went: they are resolved, not
guessed. When it was restarted too, they count as reached, so that none is executed twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from telerobot_nodes.core.validation import finite
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.control import ControlReport
from telerobot_nodes.plan.receiver import LogPosition

_SLACK = 1e-6  # [s]


@dataclass(frozen=True)
class ExecutorMemory:
    """State of a `PlanExecutor` that its successor goes on from."""

    position: LogPosition  # of the operation log
    executed_seq: int
    highest_seq: int  # highest number ever taken
    halt_number: int
    halted: str  # reason of the halt in force; empty: none
    plan_time: float  # [s] of the arm
    committed: tuple[tuple[int, float], ...]  # number and plan time [s] of points the arm may reach by itself

    def reached(self, report: ControlReport) -> tuple[int, float]:
        """Last point the arm has reached, and its plan time [s], from what the loop says at rest."""
        last = self.committed[-1][1] if self.committed else self.plan_time
        if report.window_number == 0:
            return self.committed[-1] if self.committed else (self.executed_seq, self.plan_time)
        plan_time = min(max(report.plan_time, self.plan_time), max(last, self.plan_time))
        done = [seq for seq, time in self.committed if time <= plan_time + _SLACK]
        return (done[-1] if done else self.executed_seq), plan_time

    def text(self) -> str:
        """One line of JSON."""
        position = [self.position.epoch, self.position.authority, self.position.applied_number]
        values = [self.executed_seq, self.highest_seq, self.halt_number, self.halted, self.plan_time]
        return json.dumps({"position": position, "values": values, "committed": self.committed})

    @classmethod
    def from_text(cls, line: str) -> ExecutorMemory:
        """The memory in one line of a journal. Raises InvalidValueError when it is damaged."""
        try:
            read = json.loads(line)
            epoch, authority, applied = read["position"]
            executed, highest, halt, halted, plan_time = read["values"]
            committed = tuple((int(seq), finite(time, "memory.committed")) for seq, time in read["committed"])
            position = LogPosition(int(epoch), str(authority), int(applied))
            time = finite(plan_time, "memory.plan_time")
            return cls(position, int(executed), int(highest), int(halt), str(halted), time, committed)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidValueError("memory", line, f"allowed: a line written by this version ({error})") from None
