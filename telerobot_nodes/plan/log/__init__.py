"""The operation log: plan points numbered, sent, acknowledged and retransmitted over the link [US5046022]."""

from __future__ import annotations

from telerobot_nodes.plan.log.control import ControlReport
from telerobot_nodes.plan.log.feed import PlanFeed, PlanUpdate
from telerobot_nodes.plan.log.operations import (
    MAX_WINDOW,
    RATE_RANGE,
    ExecutorReport,
    Operation,
    UnreadableOperation,
    agent_name,
)
from telerobot_nodes.plan.log.points import EPOCH_BLOCK, MIN_STEP, PlanPoints, Timing
from telerobot_nodes.plan.log.receiver import LogPosition, Receiver
from telerobot_nodes.plan.log.sender import Sender, SenderConfig
from telerobot_nodes.plan.log.store import PlanStore, PointBlock
from telerobot_nodes.plan.log.replication import PlanReplication
from telerobot_nodes.plan.log.replication_states import Event, Phase

__all__ = [
    "ControlReport",
    "EPOCH_BLOCK",
    "Event",
    "ExecutorReport",
    "LogPosition",
    "MAX_WINDOW",
    "MIN_STEP",
    "Operation",
    "Phase",
    "PlanFeed",
    "PlanPoints",
    "PlanStore",
    "PlanUpdate",
    "RATE_RANGE",
    "Receiver",
    "Sender",
    "SenderConfig",
    "PointBlock",
    "Timing",
    "UnreadableOperation",
    "agent_name",
    "PlanReplication",
]
