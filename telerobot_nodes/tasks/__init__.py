"""Contact tasks: parameter files run in simulated contact and judged by the true state of the physics."""

from __future__ import annotations

from telerobot_nodes.tasks.rig import TaskResult, TaskRig
from telerobot_nodes.tasks.task import Measure, Task
from telerobot_nodes.tasks.task_file import load_task, task_names

__all__ = [
    "Measure",
    "Task",
    "TaskResult",
    "TaskRig",
    "load_task",
    "task_names",
]
