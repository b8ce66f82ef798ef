"""What a command has done, does and will do, step by step, for people who watch it.

What belongs here: the record of steps begun and how each ended. What must never enter: decisions, the order of steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.rtc.elaboration import PlannedStep
from telerobot_nodes.rtc.skills import Primitive, Recovery

MOST_STEPS = 64  # begun steps that are kept, the latest; and steps to come that are shown


@dataclass(frozen=True)
class TracedStep:
    """One attempt at one step; times [s] since the command began."""

    name: str
    state: StepState
    kind: str  # of primitive
    subsystem: str = ""
    recovery: str = ""  # name of the recovery that it belongs to
    note: str = ""  # why it failed or was stopped
    began: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class ScriptState:
    """The live script of one command."""

    command: int
    origin: int  # first command of the same message
    sender: str
    text: str
    state: str
    paused: bool
    steps: tuple[TracedStep, ...]
    outcome: str = ""  # of the command, once it has ended
    reason: str = ""
    elapsed: float = 0.0  # [s]


class ScriptTrace:
    """The steps of one command that were begun; `version` changes with each of them."""

    def __init__(self, started: float) -> None:
        self.version = 0
        self.steps: list[TracedStep] = []
        self._started = started
        self._recovery_of: dict[str, str] = {}

    def foresee(self, recovery: Recovery, steps: Iterable[PlannedStep]) -> None:
        """These steps belong to a recovery."""
        self._recovery_of.update((planned.name, recovery.name) for planned in steps)

    def begin(self, planned: PlannedStep, now: float) -> None:
        """A step is active from now [s] on."""
        self.steps.append(replace(self.coming(planned), state=StepState.ACTIVE, began=now - self._started))
        del self.steps[:-MOST_STEPS]
        self.version += 1

    def sent(self, primitive: Primitive) -> None:
        """The active step has its primitive."""
        self._change(kind=primitive.kind, subsystem=primitive.subsystem)

    def end(self, state: StepState, now: float, note: str = "") -> None:
        """The active step has ended; without effect when none is active."""
        if self.steps and self.steps[-1].state is StepState.ACTIVE:
            self._change(state=state, note=note, ended=now - self._started)

    def coming(self, planned: PlannedStep) -> TracedStep:
        """A step that was not begun."""
        recovery = self._recovery_of.get(planned.name, "")
        return TracedStep(planned.name, StepState.TO_COME, planned.kind.name, recovery=recovery)

    def _change(self, **values: object) -> None:
        self.steps[-1] = replace(self.steps[-1], **values)  # type: ignore[arg-type]
        self.version += 1
