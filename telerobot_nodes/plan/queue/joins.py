"""Joins the trial path to the plan when the position clutch is engaged again [US5046022 claims 12, 13].

Everything is computed and checked before anything is changed: a refused join loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.plan.queue.path_connector import PathConnector
from telerobot_nodes.plan.queue.queue_values import Join
from telerobot_nodes.plan.queue.recorded_path import RecordedPath


@dataclass(frozen=True)
class JoinOutcome:
    """Result of engaging the position clutch."""

    engaged: bool
    appended: int  # points
    reason: str  # why the clutch is not engaged, or what was joined


def join(plan: RecordedPath, trial: RecordedPath, kind: Join, connector: PathConnector) -> int:
    """Append to the plan what `kind` selects; returns the number of points.

    Raises JoinError when there is no connecting path, QueueFullError when the plan has no room; then both paths are
    unchanged.
    """
    if kind is Join.DISCARD or len(trial) < 2:
        return 0
    return _connect(plan, trial, connector) if kind is Join.CONNECT else _adopt(plan, trial, connector)


def _connect(plan: RecordedPath, trial: RecordedPath, connector: PathConnector) -> int:
    points = connector.connect(plan.head_pose, trial.head_pose)
    plan.check_room(len(points))
    plan.append([points])
    if trial.gripper >= 0.0:
        plan.set_gripper(trial.gripper)  # at the end of the connecting path
    return len(points)


def _adopt(plan: RecordedPath, trial: RecordedPath, connector: PathConnector) -> int:
    block = trial.store.after(0)
    points = connector.connect(plan.head_pose, block.pose[0])
    plan.check_room(len(points) + len(block) - 1)
    connector.check(block.pose)
    plan.append([points])
    plan.append_path(block)
    return len(points) + len(block) - 1
