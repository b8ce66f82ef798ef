"""The operator's client: requests, status, view model. Takes values and the time, knows no ROS."""

from __future__ import annotations

from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.client import REQUEST_LIMIT, Answer, OperatorClient, Tone
from telerobot_nodes.operator.client.commands import Command, EStop, Halt, PoseTarget
from telerobot_nodes.operator.client.plan_trace import PlanLines
from telerobot_nodes.operator.client.requests import HaltStage, Outcome, RepeatedStop
from telerobot_nodes.operator.client.status import LinkSetting, PlanChange, QueueStatus, RobotStatus, SimulationStatus
from telerobot_nodes.operator.client.surroundings import Solid
from telerobot_nodes.operator.client.text_exchange import NO_ANSWER, SentText, TextExchange
from telerobot_nodes.operator.client.view_model import (
    ConsoleView,
    Controls,
    Row,
    SceneView,
    other_plan,
    plan_lines,
    scene,
    view,
)

__all__ = [
    "NO_ANSWER",
    "REQUEST_LIMIT",
    "Answer",
    "Command",
    "ConsoleView",
    "Controls",
    "EStop",
    "Halt",
    "HaltStage",
    "LinkSetting",
    "OperatorClient",
    "Outcome",
    "PlanChange",
    "PlanLines",
    "PoseTarget",
    "QueueStatus",
    "RepeatedStop",
    "RobotStatus",
    "Row",
    "SceneView",
    "SentText",
    "SimulationStatus",
    "Solid",
    "TextExchange",
    "Tone",
    "commands",
    "other_plan",
    "plan_lines",
    "scene",
    "view",
]
