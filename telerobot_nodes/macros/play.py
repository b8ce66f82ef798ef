"""Sequence control: a step is sent when the one before it ended with an accepted result [US5231693].

A run may wait for a person: before every step, or before some that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros.binding import BoundStep
from telerobot_nodes.rtc.language import did_you_mean

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


@dataclass(frozen=True)
class Stops:
    """The steps of a run before which a person is asked."""

    labels: tuple[str, ...]  # of all steps, in their order
    before: frozenset[int]  # numbers of steps, from 0
    goes_on: Callable[[str], bool]  # asked with the label of the next step; False ends the run

    def ended_before(self, number: int) -> str:
        """Ask before the step of this number where the run waits; its label if the run ends there, else empty."""
        if number not in self.before or self.goes_on(self.labels[number]):
            return ""
        return self.labels[number]


def stops_of(labels: Sequence[str], every: bool, names: Sequence[str]) -> frozenset[int]:
    """Numbers, from 0, of the steps before which a run waits. `labels`: of all steps in their order.

    `every`: before each. A name is that of a step, here or in a macro that is used, or a label as it is shown; a step
    that is repeated waits each time. Raises InvalidValueError for a name of no step.
    """
    begun = [_begun(label, before) for before, label in zip(("", *labels), labels, strict=False)]
    for name in names:
        known = sorted({word for words in begun for word in words})
        if name not in known:
            hint = did_you_mean(name, known) or f"steps: {', '.join(word for word in known if '/' not in word)}"
            raise InvalidValueError("break", name, f"allowed: a step of the macro; {hint}")
    return frozenset(number for number, words in enumerate(begun) if every or words & set(names))


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


def play_parts(steps: Sequence[BoundStep], stops: Stops, run: Callable[[Sequence[BoundStep]], MacroEnd]) -> MacroEnd:
    """Run the steps in parts that begin at the stops, each by `run`, while the part before has succeeded."""
    edges = sorted({0, *stops.before})
    done: tuple[StepEnd, ...] = ()
    for begin, end in zip(edges, (*edges[1:], len(steps)), strict=True):
        if label := stops.ended_before(begin):
            return MacroEnd(done, False, label)
        part = run(steps[begin:end])
        done = (*done, *part.steps)
        if not part.succeeded:
            return MacroEnd(done, False)
    return MacroEnd(done, True)


def _begun(label: str, before: str) -> frozenset[str]:
    """The words for what begins with a step: itself, and each macro whose first step it is."""
    parts, earlier = label.split("/"), before.split("/")
    words: set[str] = set()
    for depth in range(2, len(parts) + 1):
        if parts[:depth] != earlier[:depth]:
            words |= {parts[depth - 1].split("#")[0], "/".join(parts[:depth])}
    return frozenset(words)
