"""A primitive inside the control step: begun at rest, stopped as everything is stopped, reported on the way.

What belongs here: what the control step asks of the executive. What must never enter: states of the loop, limits of
the setpoint (`control_step.py`), the primitive itself (`executive.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.exchange import Record
from telerobot_nodes.motion.executive import Executive, Prepared
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.preparation import PreparedChange
from telerobot_nodes.motion.primitive import Phase
from telerobot_nodes.motion.status_records import pack_status, status_dtype

# Ends in which the arm stays ready; after the others a stop is told, and somebody should look.
CALM = frozenset(
    {
        Termination.COMPLETED,
        Termination.CONDITIONS,
        Termination.END_TIME,
        Termination.TOUCHED,
        Termination.MISSED,
        Termination.HELD_BACK,
        Termination.GRIPPED,
        Termination.OPENED,
        Termination.BLOCKED,
        Termination.EMPTY,
    }
)


class PrimitiveRunner:
    """The executive of one loop. `status` is a record of `status_dtype`; `news` counts what was written to it."""

    def __init__(self, robot: RobotModel, period: float) -> None:
        self.executive = Executive(robot, period)
        self.status: Record = np.zeros((), status_dtype(robot.dof))
        self.news = 0
        self._began = 0.0
        self._why = ""  # of a stop from outside

    @property
    def running(self) -> bool:
        """True while a primitive runs."""
        return self.executive.running

    @property
    def id(self) -> int:
        """Of the primitive that runs; 0: none."""
        return self.executive.request.id if self.executive.running else 0

    def begin(self, now: float, q: FloatArray, prepared: Prepared) -> str:
        """Begin, the arm at rest at the setpoint `q` (dof,) [rad]; "" or the refusal."""
        try:
            self.executive.begin(now, q, prepared)
        except TelerobotError as error:
            return str(error)
        self._began, self._why = now, ""
        return ""

    def change(self, now: float, prepared: PreparedChange) -> str:
        """Put a change in force between two samples; "" or the refusal."""
        base: Any = self.executive.parameters
        try:
            if prepared.base != base:
                raise InvalidValueError("change", sorted(prepared.values), "allowed: one made from the set in force")
            self.executive.change(now, replace(prepared, base=base))  # the same set, from another process
        except TelerobotError as error:
            return str(error)
        return ""

    def stop(self, reason: str) -> None:
        """Come to rest; to be repeated until it does not run, for a primitive may go on after its own stop."""
        self._why = self._why or reason
        self.executive.stop()

    def drop(self, q: FloatArray) -> None:
        """The setpoint stands still at `q` [rad]: the motion is over, and ends with the next step."""
        if self.running:
            self.executive.setpoint.reset(q)
            self.executive.stop()

    def step(self, now: float) -> bool:
        """One sample into `executive.setpoint`; False when it is over, the arm told to rest."""
        executive = self.executive
        going = executive.step(now)
        if not going or executive.primitive.report_due(now):
            detail = self._why if executive.reason is Termination.EXTERNAL_STOP else ""
            pack_status(executive, now - self._began, detail, self.status)
            if not going:
                self.status["phase"] = list(Phase).index(Phase.ENDED)
            self.news += 1
        return going

    @property
    def end(self) -> str:
        """Why the arm is stopped by the end of the latest primitive; "" when it ended calmly."""
        executive = self.executive
        if executive.reason in CALM:
            return ""
        why = f": {self._why}" if self._why else ""
        return f"primitive {executive.request.id} ({executive.request.name}): {executive.reason.name}{why}"
