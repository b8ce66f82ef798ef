"""Who planned and how, over time: stretches of authority, of requests for it, and the trial paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.review.run_record import RunRecord

Span = tuple[float, float, Any]  # from [s], to [s], value


def spans(time: FloatArray, values: Sequence[Any] | npt.NDArray[Any]) -> list[Span]:
    """Stretches of one value, in order; `time` (n,) [s] and as many values."""
    starts = [i for i in range(len(values)) if i == 0 or values[i] != values[i - 1]]
    ends = [*(float(time[i]) for i in starts[1:]), *(float(t) for t in time[-1:])]
    return [(float(time[i]), end, values[i]) for i, end in zip(starts, ends, strict=True)]


def holders(run: RunRecord) -> list[Span]:
    """When which agent had authority over the plan; stretches without an agent are left out."""
    if not len(run.authority):
        return []
    names = run.authority.array("holder").tolist()
    return [span for span in spans(run.authority.array("time"), names) if span[2]]


def requests(run: RunRecord) -> list[Span]:
    """When which agent requested authority, as (agent, granted)."""
    if not len(run.authority):
        return []
    asked = zip(run.authority.array("asker").tolist(), run.authority.array("granted").tolist(), strict=True)
    return [span for span in spans(run.authority.array("time"), list(asked)) if span[2][0]]


def trial_paths(run: RunRecord) -> Iterator[FloatArray]:
    """Every trial path (n, 3) [m] at its longest, without the points that the brake deleted."""
    line: list[FloatArray] = []
    numbers: list[int] = []
    for change in run.trials:
        if change.kind == UpdateKind.RESET:
            if line:
                yield np.array(line)
            line, numbers = [], []
        if change.kind == UpdateKind.TRUNCATE:
            kept = sum(number <= change.after_seq for number in numbers)
            del line[kept:], numbers[kept:]
        line += list(change.position)
        numbers += range(change.first_seq, change.first_seq + len(change.position))
    if line:
        yield np.array(line)
