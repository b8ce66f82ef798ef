"""Tasks, conditions and order of the delay study, the scripted operator, the judge of a trial, workload."""

from __future__ import annotations

from telerobot_nodes.study.design.conditions import CONDITIONS, DIRECT, TOUCH_COST
from telerobot_nodes.study.design.judge import Ending, Judge
from telerobot_nodes.study.design.operator import Act, Goal, Human, ScriptedOperator, Strategy, View
from telerobot_nodes.study.design.order import Trial, order_of, williams
from telerobot_nodes.study.design.settings import StudySettings
from telerobot_nodes.study.design.tasks import PLATE, STUDIED, TASKS, WARM_UP, Task, task_named
from telerobot_nodes.study.design.workload import HIGHEST, LOWEST, SCALES, STEP, Scale, Workload

__all__ = [
    "CONDITIONS",
    "DIRECT",
    "HIGHEST",
    "LOWEST",
    "PLATE",
    "SCALES",
    "STEP",
    "STUDIED",
    "TASKS",
    "TOUCH_COST",
    "WARM_UP",
    "Act",
    "Ending",
    "Goal",
    "Human",
    "Judge",
    "Scale",
    "ScriptedOperator",
    "Strategy",
    "StudySettings",
    "Task",
    "Trial",
    "View",
    "Workload",
    "order_of",
    "task_named",
    "williams",
]
