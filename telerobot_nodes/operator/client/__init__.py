"""The operator's client: requests, status. Takes values and the time, knows no ROS."""

from __future__ import annotations

from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.client import REQUEST_LIMIT, Answer, LastReceived, Notice, OperatorClient, Tone
from telerobot_nodes.operator.client.commands import Command, EStop, Halt, PoseTarget
from telerobot_nodes.operator.client.controls import CONTROLS, Control, Missing
from telerobot_nodes.operator.client.from_messages import (
    MOTION,
    DrawnLines,
    lines_from_markers,
    plan_change_from_message,
    robot_from_message,
    solids_from_message,
    status_from_message,
)
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
    PrimitiveStep,
    ReportKind,
    SequenceReport,
    SequenceResult,
    TrialStep,
    pairs,
)
from telerobot_nodes.operator.client.requests import Confirmation, HaltStage, Outcome, RepeatedStop, Result
from telerobot_nodes.operator.client.robot_state import RobotState, state_of
from telerobot_nodes.operator.client.status import (
    InputStatus,
    LinkSetting,
    PeerStatus,
    PlanChange,
    QueueStatus,
    RecorderStatus,
    RobotStatus,
    SimulationStatus,
)
from telerobot_nodes.operator.client.surroundings import Solid
from telerobot_nodes.operator.client.text_exchange import NO_ANSWER, SentText, TextExchange

__all__ = [
    "CONTROLS",
    "MOTION",
    "NO_ANSWER",
    "REQUEST_LIMIT",
    "Answer",
    "Command",
    "CommandEnd",
    "CommandReport",
    "CommandResult",
    "Confirmation",
    "Control",
    "DrawnLines",
    "EStop",
    "Halt",
    "HaltStage",
    "InputStatus",
    "LastReceived",
    "LinkSetting",
    "Missing",
    "Move",
    "MoveEnd",
    "MoveGoal",
    "MoveResult",
    "Notice",
    "OperatorClient",
    "OperatorWords",
    "Outcome",
    "PeerStatus",
    "PlanChange",
    "PlanLines",
    "PoseTarget",
    "PrimitiveEnd",
    "PrimitiveReport",
    "PrimitiveResult",
    "PrimitiveStep",
    "QueueStatus",
    "RecorderStatus",
    "RepeatedStop",
    "ReportKind",
    "Result",
    "RobotState",
    "RobotStatus",
    "SentText",
    "SequenceReport",
    "SequenceResult",
    "SimulationStatus",
    "Solid",
    "TextExchange",
    "Tone",
    "TrialStep",
    "commands",
    "lines_from_markers",
    "pairs",
    "plan_change_from_message",
    "robot_from_message",
    "solids_from_message",
    "state_of",
    "status_from_message",
]
