"""The operator's client: requests, status, view model. Takes values and the time, knows no ROS."""

from __future__ import annotations

from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.client import REQUEST_LIMIT, Answer, OperatorClient, Tone
from telerobot_nodes.operator.client.commands import Command, EStop, Halt, PoseTarget
from telerobot_nodes.operator.client.controls import CONTROLS, Control, Missing
from telerobot_nodes.operator.client.move import Move, MoveEnd, MoveGoal, MoveResult
from telerobot_nodes.operator.client.operator_words import OperatorWords
from telerobot_nodes.operator.client.plan_trace import PlanLines
from telerobot_nodes.operator.client.reports import (
    CommandEnd,
    CommandReport,
    CommandResult,
    PrimitiveEnd,
    PrimitiveReport,
    PrimitiveResult,
    ReportKind,
    TrialStep,
    pairs,
)
from telerobot_nodes.operator.client.requests import HaltStage, Outcome, RepeatedStop, Result
from telerobot_nodes.operator.client.robot_state import RobotState, state_of
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
    "CONTROLS",
    "NO_ANSWER",
    "REQUEST_LIMIT",
    "Answer",
    "Command",
    "CommandEnd",
    "CommandReport",
    "CommandResult",
    "ConsoleView",
    "Control",
    "Controls",
    "EStop",
    "Halt",
    "HaltStage",
    "LinkSetting",
    "Missing",
    "Move",
    "MoveEnd",
    "MoveGoal",
    "MoveResult",
    "OperatorClient",
    "OperatorWords",
    "Outcome",
    "PlanChange",
    "PlanLines",
    "PoseTarget",
    "PrimitiveEnd",
    "PrimitiveReport",
    "PrimitiveResult",
    "QueueStatus",
    "RepeatedStop",
    "ReportKind",
    "Result",
    "RobotState",
    "RobotStatus",
    "Row",
    "SceneView",
    "SentText",
    "SimulationStatus",
    "Solid",
    "TextExchange",
    "Tone",
    "TrialStep",
    "commands",
    "other_plan",
    "pairs",
    "plan_lines",
    "scene",
    "state_of",
    "view",
]
