"""Sequence control: a step is sent when the one before it ended with an accepted result [US5231693]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from telerobot_nodes.macros.binding import BoundStep

REFUSED = "refused"  # before anything moved
NOT_SERVED = "not served"  # nobody is there to do it


@dataclass(frozen=True)
class StepEnd:
    """How one step ended."""

    label: str
    result: str  # of PRIMITIVE_RESULTS or TEXT_RESULTS, or why there is none: refused, external_stop, no answer ...
    accepted: bool
    detail: str = ""
    elapsed: float = 0.0  # [s]


@dataclass(frozen=True)
class MacroEnd:
    """How a macro ended: the ends of the steps that were sent."""

    steps: tuple[StepEnd, ...]
    succeeded: bool
    broken_off: str = ""  # label of the step before which a person ended it; empty: nobody did

    @property
    def reason(self) -> str:
        """Why it stopped and where; empty: it did not."""
        if self.broken_off:
            return f"{self.broken_off}: ended by a person before this step"
        if self.succeeded or not self.steps:
            return "" if self.succeeded else "nothing was sent"
        last = self.steps[-1]
        return f"{last.label}: {last.result}, which is not accepted" + (f" ({last.detail})" if last.detail else "")


@dataclass(frozen=True)
class Ended:
    """What the robot says of a step."""

    result: str
    detail: str = ""
    elapsed: float = 0.0  # [s]


def play(
    steps: Iterable[BoundStep],
    send: Callable[[BoundStep], Ended],
    show: Callable[[StepEnd], None],
    ask: Callable[[int], str] = lambda number: "",
) -> MacroEnd:
    """Send each step and wait for its end, until one is not accepted. `show` gets each end.

    `ask` is called with the number of each step, from 0, before the step is computed: `Stops.ended_before`.
    """
    ends: list[StepEnd] = []
    coming = iter(steps)
    while not (ended_before := ask(len(ends))):
        step = next(coming, None)
        if step is None:
            break
        ended = send(step)
        accepted = step.step.accepts(ended.result)
        ends.append(StepEnd(step.label, ended.result, accepted, ended.detail, ended.elapsed))
        show(ends[-1])
        if not accepted:
            break
    return MacroEnd(tuple(ends), not ended_before and bool(ends) and ends[-1].accepted, ended_before)
