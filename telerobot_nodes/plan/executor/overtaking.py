"""Stops that overtake points on the link: the arm obeys them at once, before their turn in the log has come.

What belongs here: whether an operation that waits for earlier ones holds the arm. What must never enter: its effect
on the plan (`executor.py`), which comes in its turn.
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.executor.motion import PlanMotion
from telerobot_nodes.plan.log import Operation

BRAKE_SLACK = 0.5  # [s] of plan time before points that a waiting TRUNCATE deletes, where the arm waits for it


def stop_overtakes(waiting: list[Operation], motion: PlanMotion) -> bool:
    """True while one of the `waiting` operations, in order of number, holds the arm.

    The last word of PAUSE and RESUME counts. A CLEAR holds; a TRUNCATE or LIMIT holds before the points after it.
    """
    words = [entry.kind for entry in waiting if entry.kind in (OperationKind.PAUSE, OperationKind.RESUME)]
    paused = bool(words) and words[-1] is OperationKind.PAUSE
    return paused or any(_deletes_soon(entry, motion) for entry in waiting)


def _deletes_soon(operation: Operation, motion: PlanMotion) -> bool:
    """True for a CLEAR, and for a TRUNCATE or LIMIT before points that the arm is about to be committed to."""
    if operation.kind not in (OperationKind.TRUNCATE, OperationKind.LIMIT):
        return operation.kind is OperationKind.CLEAR
    path = motion.path
    lifted = operation.kind is OperationKind.LIMIT and operation.after_seq == 0
    if lifted or operation.after_seq >= int(path.seqs[-1]):
        return False
    return motion.stop_time + BRAKE_SLACK >= float(path.times[path.index_of_seq(operation.after_seq)])
