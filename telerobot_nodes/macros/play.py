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

    @property
    def reason(self) -> str:
        """Why it stopped and where; empty: it did not."""
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


def play(steps: Iterable[BoundStep], send: Callable[[BoundStep], Ended], show: Callable[[StepEnd], None]) -> MacroEnd:
    """Send each step and wait for its end, until one is not accepted. `show` gets each end."""
    ends: list[StepEnd] = []
    for step in steps:
        ended = send(step)
        accepted = step.step.accepts(ended.result)
        ends.append(StepEnd(step.label, ended.result, accepted, ended.detail, ended.elapsed))
        show(ends[-1])
        if not accepted:
            break
    return MacroEnd(tuple(ends), bool(ends) and ends[-1].accepted)
