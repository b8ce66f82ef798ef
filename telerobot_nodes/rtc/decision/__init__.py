"""The decision unit: states of a command, conditions, analysis of failures, recovery [JPL-RTC]."""

from __future__ import annotations

from telerobot_nodes.rtc.decision.analysis import AnalysisUnit, Context, Recommendation
from telerobot_nodes.rtc.decision.command_record import CommandRecord
from telerobot_nodes.rtc.decision.conditions import Firing, Measured, ReflexWatch, reflex_of_threshold
from telerobot_nodes.rtc.decision.decision import MAX_MACROS, DecisionUnit
from telerobot_nodes.rtc.decision.jobs import (
    DATABASE_WORK,
    AbandonPrimitive,
    AnalyseReport,
    BindPrimitive,
    ElaborateScript,
    Job,
    JobDone,
    JobResult,
    ObserveArm,
    OpenContext,
    Parsed,
    ParseText,
    ReloadSkills,
    TrialReport,
    TrialStep,
    TryRequest,
    Work,
)
from telerobot_nodes.rtc.decision.messages import (
    CommandOutcome,
    CommandReport,
    Dispatch,
    HaltSubsystem,
    HoldSubsystem,
    Output,
    Progress,
    Reply,
    ResumeSubsystems,
    Send,
    ShowTask,
)
from telerobot_nodes.rtc.decision.script_trace import ScriptState, TracedStep

__all__ = [
    "DATABASE_WORK",
    "MAX_MACROS",
    "AbandonPrimitive",
    "AnalyseReport",
    "AnalysisUnit",
    "BindPrimitive",
    "CommandOutcome",
    "CommandRecord",
    "CommandReport",
    "Context",
    "DecisionUnit",
    "Dispatch",
    "ElaborateScript",
    "Firing",
    "HaltSubsystem",
    "HoldSubsystem",
    "Job",
    "JobDone",
    "JobResult",
    "Measured",
    "ObserveArm",
    "OpenContext",
    "Output",
    "ParseText",
    "Parsed",
    "Progress",
    "Recommendation",
    "ReflexWatch",
    "ReloadSkills",
    "Reply",
    "ResumeSubsystems",
    "ScriptState",
    "Send",
    "ShowTask",
    "TracedStep",
    "TrialReport",
    "TrialStep",
    "TryRequest",
    "Work",
    "reflex_of_threshold",
]
