"""Outcomes of an arm's primitive, from the executive's reason and cause of its end; tables [JPL-RTC section 4, F]."""

from __future__ import annotations

from telerobot_nodes.core.protocol import PrimitiveOutcome, StopCause
from telerobot_nodes.rtc.decision import reflex_of_threshold
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.skills import Primitive

# Reason of the executive to outcome; first by executive, then for all.
_OF_KIND: dict[str, dict[str, str]] = {
    "compliant_motion": {"max_force": "force_limit", "max_torque": "torque_limit", "trans_threshold": "deviation",
                         "ang_threshold": "deviation"},
    "teleoperation": {"max_force": "force_limit", "max_torque": "torque_limit", "trans_threshold": "force_limit",
                      "ang_threshold": "torque_limit", "external_stop": "done", "completed": "done",
                      "end_time": "timeout"},
}  # fmt: skip
_OF_ALL: dict[str, str] = {
    "completed": "reached",
    "conditions": "reached",
    "end_time": "timeout",
    "max_force": "collision",
    "max_torque": "collision",
    "min_force": "collision",
    "min_torque": "collision",
    "trans_threshold": "collision",
    "ang_threshold": "collision",
    "joint_limit": "joint_limit",
    "singularity": "joint_limit",
    "unreachable": "joint_limit",
    "stale_sensor": "sensor_loss",
    "frozen_sensor": "sensor_loss",
    "invalid_sensor": "sensor_loss",
    "external_stop": "halted",
    "touched": "contact",
    "missed": "missed",
    "snagged": "collision",
    "held_back": "collision",
    "gripped": "gripped",
    "opened": "opened",
    "blocked": "blocked",
    "empty": "empty",
    "guard": "collision",
}
_EXPLAINED = frozenset(("refused", "sensor_loss", "estop", "halted"))  # reported with the executive's own words
# A stop because a sensor, the servo or the loop itself fell silent.
_SILENT = frozenset((StopCause.STALE_JOINTS, StopCause.HARDWARE, StopCause.LOOP_STALL))


def outcome_of(primitive: Primitive, request: Request | None, reason: str, cause: int = StopCause.NONE) -> str:
    """Outcome of the primitive that a reason of the executive means; the reason itself when the table has none.

    `cause` (StopCause) distinguishes stops from outside: a silent sensor or servo is no halt.
    """
    word = reason.strip().lower().replace(" ", "_").replace("-", "_")
    for kind in ("force", "torque"):
        if word == f"max_{kind}" and request is not None and (reflex := reflex_of_threshold(primitive, request, kind)):
            return reflex
    if "e_stop" in word or word.startswith("estop"):
        return "estop"
    if word == "external_stop" and cause in _SILENT:
        return "sensor_loss"
    return _OF_KIND.get(primitive.executive, {}).get(word) or _OF_ALL.get(word) or word


def ended_outcome(outcome: str, ended: int, stopped_as: str, estop: bool, slips: bool) -> str:
    """Outcome of a primitive that the executive reports as `ended` (PrimitiveOutcome).

    `outcome`: from `outcome_of`; `stopped_as`: outcome of a stop that the decision unit asked for, or empty.
    """
    if stopped_as and ended != PrimitiveOutcome.SUCCEEDED:
        return stopped_as
    if ended == PrimitiveOutcome.REFUSED:
        return "refused"
    if estop:
        return "estop"
    if ended == PrimitiveOutcome.SUCCEEDED and slips:
        return "slip"
    return outcome or "refused"


def needs_note(primitive: Primitive, outcome: str) -> bool:
    """Whether an outcome is reported with the executive's own words."""
    return outcome in _EXPLAINED or outcome not in primitive.outcomes
