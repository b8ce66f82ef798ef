"""Measured arms watched against the reflexes of their motions, and what a reflex does at once [JPL-RTC] figure 2."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.rtc.decision import Firing, Measured, Output, ReflexWatch
from telerobot_nodes.rtc.server.text_server import InterfaceServer
from telerobot_nodes.rtc.skills import Primitive, Report
from telerobot_nodes.rtc.world import DatabaseError, Validity


class Arms(Protocol):
    """What a reflex does to a motion under way."""

    def stop(self, subsystem: str, reason: str, primitive: int, outcome: str = "") -> None:
        """End a motion; its report gives the outcome."""

    def slow(self, primitive: Primitive, speed: float) -> None:
        """Go on at this speed [m/s]."""


class Reactions:
    """Compares each measured arm with the reflexes of its motion, on the decision thread."""

    def __init__(self, interface: InterfaceServer, reflexes: ReflexWatch, arms: Arms) -> None:
        self._interface, self._reflexes, self._arms = interface, reflexes, arms

    def measured(self, arm: str, measured: Measured, now: float) -> list[Output]:
        """Reports of the reflexes that fire, and the arm's state for the database."""
        names = self._reflexes.names(arm)
        places = {name: at for name in names if (at := self._position(name)) is not None}
        measured = replace(measured, signals=self._interface.unit.waits.signals, places=places)
        fired = self._reflexes.measured(arm, measured, now)
        outputs = [output for firing in fired for output in self._react(arm, firing, now)]
        if measured.joints:
            outputs += self._interface.measured(arm, measured.joints, measured.pose, now)
        return outputs

    def _react(self, arm: str, firing: Firing, now: float) -> list[Output]:
        """What a reflex does at once; what follows a stop is for the analysis of its report."""
        number, rule = firing.primitive.number, firing.rule
        outputs = self._interface.report(Report(number, "running", final=False, note=firing.text), now)
        if firing.outcome:
            self._arms.stop(arm, firing.outcome, number, firing.outcome)
        elif rule is not None and rule.action.quantity is not None:
            self._arms.slow(firing.primitive, rule.action.quantity.si)
        elif rule is not None and rule.action.kind == "hold":
            record = self._interface.unit.commands.get(firing.primitive.command)
            outputs += self._interface.unit.pause([] if record is None else [record], True, now)
        return outputs

    def _position(self, name: str) -> FloatArray | None:
        """Position (3,) [m] of an object or place in WORLD; None: the database does not trust what it has."""
        view = self._interface.database.view
        busy = view.has(f"{name}.pose") and view.item(f"{name}.pose").validity is Validity.BUSY
        try:
            return view.pose(name, Validity.BUSY if busy else Validity.VALID)[:3]
        except DatabaseError:
            return None
