"""Several arms: coordination space, schedules, right of way, execution of two arms."""

from __future__ import annotations

from telerobot_nodes.cspace.multi_arm.coordination_space import first_meeting, sampled, tick_times
from telerobot_nodes.cspace.multi_arm.dual_arm_execution import DualArmExecution, Phase
from telerobot_nodes.cspace.multi_arm.dual_arm_planner import DualArmPlan, DualArmPlanner, DualArmSettings
from telerobot_nodes.cspace.multi_arm.right_of_way import Granting, InTurns
from telerobot_nodes.cspace.multi_arm.schedule import coordinate, taking_turns, unscheduled
from telerobot_nodes.cspace.multi_arm.swept_volume import standing_obstacles, swept_obstacles

__all__ = [
    "DualArmExecution",
    "DualArmPlan",
    "DualArmPlanner",
    "DualArmSettings",
    "Granting",
    "InTurns",
    "Phase",
    "coordinate",
    "first_meeting",
    "sampled",
    "standing_obstacles",
    "swept_obstacles",
    "taking_turns",
    "tick_times",
    "unscheduled",
]
