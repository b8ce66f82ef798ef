"""Primitives in physics without a graph; contact tasks, judged by the true state of the physics."""

from __future__ import annotations

from telerobot_nodes.tasks.primitive_rig import SERVO_PERIOD, PrimitiveEnd, PrimitiveRig
from telerobot_nodes.tasks.rig import TaskResult, TaskRig
from telerobot_nodes.tasks.task import Measure, Task
from telerobot_nodes.tasks.task_file import load_task, task_names

__all__ = [
    "SERVO_PERIOD",
    "Measure",
    "PrimitiveEnd",
    "PrimitiveRig",
    "Task",
    "TaskResult",
    "TaskRig",
    "load_task",
    "task_names",
]
