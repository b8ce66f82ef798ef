"""Thresholds of motions that begin where the arm presses already [JPL-RTC section 4, F]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from telerobot_nodes.motion.parameters import FIELDS, KINDS
from telerobot_nodes.nodes.decision.executive_goals import ExecutiveGoal
from telerobot_nodes.rtc.decision import reflex_of_threshold
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.language import GRAVITY
from telerobot_nodes.rtc.skills import Primitive

GUARDED = frozenset(("cartesian_guarded", "joint_guarded", "joint_path", "free_grasp"))
PRESSED = 0.8  # of a threshold


class ContactLimits:
    """Of one arm: which thresholds are a person's own, and which count from the contact that a motion leaves."""

    def __init__(self) -> None:
        self._keeps = 0  # the latest command that kept a force: the arm still presses with it

    def of(self, goal: ExecutiveGoal, primitive: Primitive, request: Request, wrench: Sequence[float]) -> ExecutiveGoal:
        """The goal with the thresholds for an arm that `wrench` (6,) [N], [N m] presses."""
        kept = self._keeps == primitive.command
        if np.any(np.asarray(primitive.parameters.get("force_setpoints", 0.0))):
            self._keeps = primitive.command
        reflex = any(reflex_of_threshold(primitive, request, kind) for kind in ("force", "torque"))
        if reflex or ("force" in request.constraints and not kept):
            return goal
        return begun_in_contact(goal, wrench)


def begun_in_contact(goal: ExecutiveGoal, wrench: Sequence[float]) -> ExecutiveGoal:
    """The goal of an arm that `wrench` (6,) [N], [N m] presses already: guarding thresholds count from there.

    Otherwise a motion that leaves a contact would be stopped by it before it has begun.
    """
    if goal.name not in GUARDED or len(wrench) != 6:
        return goal
    values = dict(goal.values)
    weight = GRAVITY * float(np.ravel(values.get("mass_prop", 0.0))[0])  # of what is held: no contact
    measured = {"max_force_thres": np.linalg.norm(wrench[:3]) - weight, "max_torque_thres": np.linalg.norm(wrench[3:])}
    for name, now in measured.items():
        preset = KINDS[goal.name].defaults.get(name, FIELDS[name].default)
        limit = float(values.get(name, preset))  # type: ignore[arg-type]
        if now > PRESSED * limit > 0.0:
            values[name] = round(float(now) + limit, 3)
    return ExecutiveGoal(goal.name, values)
