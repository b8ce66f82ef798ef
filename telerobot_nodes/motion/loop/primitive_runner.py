"""The executive inside the control step: a primitive begins at rest, is stopped and reports its status.

What belongs here: the calls of the control step to the executive. What must never enter: states of the loop, limits of
the setpoint (`control_step.py`), the primitive itself (`executive.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from telerobot_nodes.core.memory import Record
from telerobot_nodes.core.protocol import StopCause
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.loop.control_records import encoded
from telerobot_nodes.motion.loop.status_records import pack_status, status_dtype
from telerobot_nodes.motion.primitives import Executive, Phase, Prepared, PreparedChange
from telerobot_nodes.motion.tracking import Arrival

# After these ends the arm stays ready; after all others the loop is STOPPED and an operator should look.
READY_AFTER = frozenset(
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


CONFIRM_LIMIT = 1.0  # [s] for the arm to come to where a primitive ended


class PrimitiveRunner:
    """The executive of one loop. `status` is a record of `status_dtype`; `status_count` counts its changes.

    A success is reported once the arm has followed: until then the primitive is `confirming`.
    """

    def __init__(self, robot: RobotModel, period: float) -> None:
        self.executive = Executive(robot, period)
        self.status: Record = np.zeros((), status_dtype(robot.dof))
        self.status_count = 0
        self.confirming = False
        self._began, self._ended = 0.0, 0.0  # [s]
        self._last_setpoint = 0  # number of the setpoint at which the primitive ended
        self._stop_reason, self._stop_cause = "", StopCause.NONE  # of an external stop

    @property
    def running(self) -> bool:
        """True while a primitive runs."""
        return self.executive.running

    @property
    def id(self) -> int:
        """Id of the running primitive; 0: none."""
        return self.executive.request.id if self.executive.running else 0

    def begin(self, now: float, q: FloatArray, prepared: Prepared) -> str:
        """Begin with the arm at rest at the setpoint `q` (dof,) [rad]; returns "" or the reason of the rejection."""
        try:
            self.executive.begin(now, q, prepared)
        except TelerobotError as error:
            return str(error)
        self._began, self._stop_reason, self._stop_cause = now, "", StopCause.NONE
        return ""

    def change(self, now: float, prepared: PreparedChange) -> str:
        """Apply a change between two samples; returns "" or the reason of the rejection."""
        base: Any = self.executive.parameters
        try:
            if prepared.base != base:
                raise InvalidValueError("change", sorted(prepared.values), "allowed: one made from the set in force")
            self.executive.change(now, replace(prepared, base=base))  # the same set, from another process
        except TelerobotError as error:
            return str(error)
        return ""

    def stop(self, reason: str, cause: StopCause) -> None:
        """Come to rest. Call it until no primitive runs: move to touch backs off after its own stop."""
        if self._stop_cause is StopCause.NONE:
            self._stop_reason, self._stop_cause = reason, cause
        self.executive.stop()

    def drop(self, q: FloatArray) -> None:
        """Stop at once at `q` (dof,) [rad]; the primitive ends with the next step."""
        if self.running:
            self.executive.setpoint.reset(q)
            self.executive.stop()

    def step(self, now: float) -> bool:
        """Compute one sample into `executive.setpoint`; False when the primitive has ended at rest."""
        executive = self.executive
        going = executive.step(now)
        if not going or executive.primitive.report_due(now):
            external = executive.reason is Termination.EXTERNAL_STOP
            detail, cause = (self._stop_reason, self._stop_cause) if external else ("", StopCause.NONE)
            pack_status(executive, now - self._began, detail, cause, self.status)
            if not going:
                self.status["phase"] = list(Phase).index(Phase.ENDED)
                self._ended, self.confirming = now, executive.reason.succeeded
                self._last_setpoint = 0
            self.status_count += not self.confirming
        return going

    def confirm(self, now: float, number: int, arrival: Arrival, measured_q: FloatArray) -> str:
        """Report the end of a confirming primitive when the arm has come; returns why it has not within the limit.

        `number`: of the latest setpoint; `measured_q` (dof,) [rad].
        """
        self._last_setpoint = self._last_setpoint or number
        away = float(np.abs(self.status["q"] - measured_q).max())
        follows = arrival.accepted(number) >= self._last_setpoint
        if not (follows and away <= arrival.error) and now - self._ended < CONFIRM_LIMIT:
            return ""
        why = "" if follows else "the hardware interface did not accept its setpoints"
        if away > arrival.error:
            why = f"a joint is {away:.3f} rad from where it ended; allowed: {arrival.error:g}"
        if why:
            self.status["reason"], self.status["cause"] = Termination.EXTERNAL_STOP, StopCause.NOT_FOLLOWING
            self.status["detail"] = encoded(why)
        self.confirming = False
        self.status_count += 1
        return f"primitive {self.status['id']}: {why}" if why else ""

    @property
    def end(self) -> str:
        """Why the end of the latest primitive stops the arm; "" if the arm stays ready."""
        executive = self.executive
        if executive.reason in READY_AFTER:
            return ""
        why = f": {self._stop_reason}" if self._stop_reason else ""
        return f"primitive {executive.request.id} ({executive.request.name}): {executive.reason.name}{why}"
