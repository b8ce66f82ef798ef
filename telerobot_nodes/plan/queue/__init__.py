"""The operator's side of the plan: clutches, trial path, brake, joins [US5046022]."""

from __future__ import annotations

from telerobot_nodes.plan.queue.collision_stop import CollisionCheck
from telerobot_nodes.plan.queue.joins import JoinOutcome
from telerobot_nodes.plan.queue.queue import PathPlanQueue
from telerobot_nodes.plan.queue.queue_values import Join, QueueConfig

__all__ = [
    "CollisionCheck",
    "Join",
    "JoinOutcome",
    "PathPlanQueue",
    "QueueConfig",
]
