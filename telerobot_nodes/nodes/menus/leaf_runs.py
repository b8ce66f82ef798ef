"""A leaf of a menu under way: its primitive, or its macro on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Any, Protocol

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.macros import StepEnd
from telerobot_nodes.menus import Leaf
from telerobot_nodes.nodes.clients import Robot, RunningPrimitive
from telerobot_nodes.nodes.macros import MacroPlayer
from telerobot_nodes.nodes.menus.motion import Motion
from telerobot_nodes.operator.client import PrimitiveReport, PrimitiveResult

LIMIT = 3600.0  # [s] for a leaf to end
SILENT = 3.0  # [s] without a state of the robot, after which a person is told


@dataclass(frozen=True)
class LeafEnd:
    """How a leaf ended, for a person."""

    text: str
    ok: bool


class LeafRun(Protocol):
    """A leaf under way."""

    @property
    def progress(self) -> str:
        """What it does now."""

    @property
    def end(self) -> LeafEnd | None:
        """None: it has not ended."""

    @property
    def motion(self) -> Motion | None:
        """To be drawn by the forward simulation; None: the robot itself moves, which is drawn anyhow."""

    def stop(self) -> None:
        """Bring the arm to rest on its path."""


class LeafRuns(Protocol):
    """Begins the leaves of one arm."""

    def begin(self, leaf: Leaf, values: Mapping[str, Any]) -> LeafRun:
        """Run a leaf with checked values. Raises TelerobotError when it may not run."""

    def simulate(self, leaf: Leaf, values: Mapping[str, Any]) -> LeafRun:
        """Run a leaf with checked values on an arm in physics on this host, from where the real one stands."""

    def practise(self, leaf: Leaf, values: Mapping[str, Any]) -> LeafRun:
        """Run a leaf with checked values on the practice robot of this host, behind its delay."""

    def draw(self, motion: Motion | None) -> None:
        """Let the forward simulation draw this motion as it grows; None: none."""

    def clear(self) -> None:
        """Let it draw no motion, whoever has sent one."""

    def step(self, now: float) -> None:
        """Send what could not be sent before."""


class PrimitiveRun:
    """A leaf of a primitive."""

    motion: Motion | None = None

    def __init__(self, running: RunningPrimitive) -> None:
        self._running = running
        self.stop = running.stop

    @property
    def progress(self) -> str:
        """Phase, time and force, as reported last."""
        return _progress(self._running.report)

    @property
    def end(self) -> LeafEnd | None:
        """As reported; None: it has not ended."""
        return _end(self._running.wait(0.0)) if self._running.ended else None


class ClientRun:
    """A leaf through a client of its own, on a thread of its own; a macro is sent step by step.

    A macro that is not tested is refused at its end; `telerobot menu run --override` runs it nevertheless.
    """

    def __init__(
        self,
        leaf: Leaf,
        values: Mapping[str, Any],
        robot: str,
        join: Callable[[], AbstractContextManager[Robot]],
        motion: Motion | None = None,
    ) -> None:
        """`join` connects a client, on that thread, and closes it at the end. `motion`: gets what its arm does."""
        self.motion = motion
        self.progress = "begins"
        self.end: LeafEnd | None = None
        self._leaf, self._values, self._robot, self._join = leaf, values, robot, join
        self._player: MacroPlayer | RunningPrimitive | None = None
        self._stopped = False
        Thread(target=self._run, name=f"leaf {leaf.path}", daemon=True).start()

    def stop(self) -> None:
        """Bring the arm to rest on its path; no further step is sent."""
        self._stopped = True
        if self._player is not None:
            self._player.stop()

    def _run(self) -> None:
        try:
            with self._join() as robot:
                end_listening = robot.listen(self._follower(robot))
                try:
                    self.end = self._begin(robot)
                finally:
                    end_listening()
        except TelerobotError as error:
            self.end = LeafEnd(f"refused: {error}", ok=False)
        except Exception as error:  # noqa: BLE001 -- boundary of the thread: a person must see that it ended
            self.end = LeafEnd(f"failed: {error}", ok=False)

    def _begin(self, robot: Robot) -> LeafEnd:
        if self._stopped:  # while the client was connected
            return LeafEnd("stopped before it was sent", ok=False)
        return self._play(robot) if self._leaf.entry.macro else self._move(robot)

    def _move(self, robot: Robot) -> LeafEnd:
        self._player = running = robot.begin_primitive(self._leaf.runs, self._values)
        if self._stopped:
            running.stop()
        for report in running:
            self.progress = _progress(report)
        return _end(running.wait())

    def _play(self, robot: Robot) -> LeafEnd:
        self._player = player = MacroPlayer(robot)
        if self._stopped:
            player.stop()
        macros = self._leaf.macros
        if macros is None:
            raise TelerobotError(f"{self._leaf.path} is no leaf of a macro")
        end = player.run(macros, self._leaf.runs, self._values, self._robot, show=self._show)
        return LeafEnd("succeeded" if end.succeeded else end.reason, end.succeeded)

    def _show(self, end: StepEnd) -> None:
        self.progress = f"{end.label}: {end.result}"

    def _follower(self, robot: Robot) -> Callable[[object], None]:
        """Adds the joints of the arm to the motion with each call, or says since when nothing was received."""
        begun = monotonic()

        def note(_view: object) -> None:
            state = robot.state
            if state.age is not None and state.age > SILENT:
                self.progress = f"nothing received for {state.age:.0f} s"
            elif self.motion is not None and state.joint_position.size:
                self.motion.add(monotonic() - begun, state.joint_position)

        return note


def _progress(report: PrimitiveReport | None) -> str:
    if report is None:
        return "sent"
    force = sum(float(part) ** 2 for part in report.wrench[:3]) ** 0.5
    return f"{report.phase}, {report.elapsed:.1f} s, {force:.1f} N"


def _end(result: PrimitiveResult) -> LeafEnd:
    report = result.report
    detail = f": {report.detail}" if report is not None and report.detail else ""
    took = f" ({report.elapsed:.1f} s)" if report is not None and report.elapsed else ""
    return LeafEnd(f"{result.end.value}, {result.reason}{detail}{took}", result.ok)
