"""The planner as a service: requests, goals, planner plugins, timed answers for one arm or several."""

from __future__ import annotations

from telerobot_nodes.cspace.service import precompile
from telerobot_nodes.cspace.service.arm_planning import ServiceSettings
from telerobot_nodes.cspace.service.cartesian_planner import CartesianPathPlanner
from telerobot_nodes.cspace.service.in_process_planner import InProcessPlanner
from telerobot_nodes.cspace.service.planner_plugins import PlannerPlugin, default_plugins, proved
from telerobot_nodes.cspace.service.planning_service import PlanningService
from telerobot_nodes.cspace.service.requests import (
    PLUGINS,
    Goal,
    PathAnswer,
    PathDisplay,
    PlanAnswer,
    PlannedPath,
    PlanRequest,
    Proof,
    Refusal,
    Result,
    StateAnswer,
)
from telerobot_nodes.cspace.service.workcell import ArmPlace, arm_rows, arms_of, world_file

__all__ = [
    "PLUGINS",
    "ArmPlace",
    "CartesianPathPlanner",
    "Goal",
    "InProcessPlanner",
    "PathAnswer",
    "PathDisplay",
    "PlanAnswer",
    "PlanRequest",
    "PlannedPath",
    "PlannerPlugin",
    "PlanningService",
    "Proof",
    "Refusal",
    "Result",
    "ServiceSettings",
    "StateAnswer",
    "arm_rows",
    "arms_of",
    "default_plugins",
    "precompile",
    "proved",
    "world_file",
]
