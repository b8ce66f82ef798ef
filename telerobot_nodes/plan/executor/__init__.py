"""The robot's side of the plan: second buffer, look-ahead, trajectory segments for the control loop [US5046022]."""

from __future__ import annotations

from telerobot_nodes.plan.executor.executor import ExecutorConfig, PlanExecutor
from telerobot_nodes.plan.executor.memory import ExecutorMemory
from telerobot_nodes.plan.executor.motion import MotionConfig, PlanMotion
from telerobot_nodes.plan.executor.path import PathLimits

__all__ = [
    "ExecutorConfig",
    "ExecutorMemory",
    "MotionConfig",
    "PathLimits",
    "PlanExecutor",
    "PlanMotion",
]
