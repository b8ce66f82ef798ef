"""Joining the trial path to the plan when the position clutch is engaged again [US5046022 claims 12, 13].

Everything is found out before anything is changed: a join that is refused loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.plan.links import Linker
from telerobot_nodes.plan.points import Timing
from telerobot_nodes.plan.queue_values import Join
from telerobot_nodes.plan.track import Track


@dataclass(frozen=True)
class JoinOutcome:
    """What an engagement of the position clutch did."""

    engaged: bool
    appended: int  # points
    reason: str  # why it is not engaged, or what was done


def join(plan: Track, trial: Track, kind: Join, linker: Linker) -> int:
    """Append to the plan what `kind` says; returns how many points.

    Raises JoinError when there is no link, QueueFullError when the plan has no room; both paths are unchanged then.
    """
    if kind is Join.DISCARD or len(trial) < 2:
        return 0
    return _link(plan, trial, linker) if kind is Join.LINK else _adopt(plan, trial, linker)


def _link(plan: Track, trial: Track, linker: Linker) -> int:
    timed = linker.link(plan.head_pose, trial.head_pose)
    plan.check_room(len(timed))
    plan.lay_timed(timed, Timing.LINK)
    if trial.gripper >= 0.0:
        plan.ask_gripper(trial.gripper)  # at the link's end
    return len(timed)


def _adopt(plan: Track, trial: Track, linker: Linker) -> int:
    stretch = trial.store.after(0)
    timed = linker.link(plan.head_pose, stretch.pose[0])
    plan.check_room(len(timed) + len(stretch) - 1)
    plan.lay_timed(timed, Timing.LINK)
    plan.lay_stretch(stretch)
    return len(timed) + len(stretch) - 1
