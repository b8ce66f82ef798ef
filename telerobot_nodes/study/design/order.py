"""Order of the trials of a study with people: drawn by a seed, counterbalanced over the people [Williams1949].

A condition is a pair of controls and delay. A person works through all tasks under one condition before the next one.
The orders of the conditions are the rows of Latin squares: over as many people as there are conditions each of them
stands in each place equally often; over twice as many, each follows each other one equally often. The tasks within a
condition are ordered alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

CONDITION_ROWS, TASK_ROWS, LAYOUT = range(3)  # what is drawn

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Trial:
    """One trial of one person. `number` from 1; `seed`: of the places of the targets."""

    number: int
    task: str
    condition: str
    round_trip: float  # [s]
    seed: int


def williams(n: int) -> list[list[list[int]]]:
    """Latin squares of 0 .. n - 1: one for an even `n`, else it and its mirror image [Williams1949].

    In each square every number stands in every place once. In all squares together every number follows every other
    one equally often.
    """
    first = [0, *((k + 1) // 2 if k % 2 else n - k // 2 for k in range(1, n))]  # 0, 1, n-1, 2, n-2, ...
    square = [[(start + step) % n for step in first] for start in range(n)]
    return [square] if n % 2 == 0 else [square, [row[::-1] for row in square]]


def order_of(
    tasks: Sequence[str], conditions: Sequence[str], delays: Sequence[float], seed: int, person: int
) -> tuple[Trial, ...]:
    """The trials of person `person`, who is counted from 0, in a study of this `seed`."""
    pairs = [(condition, delay) for condition in conditions for delay in delays]
    found: list[tuple[str, str, float]] = []
    for place, (condition, delay) in enumerate(_row(pairs, [seed, CONDITION_ROWS], person)):
        found += [(task, condition, delay) for task in _row(tasks, [seed, TASK_ROWS, place], person)]
    return tuple(
        Trial(number, *one, _drawn([seed, LAYOUT, person, number])) for number, one in enumerate(found, start=1)
    )


def _row(entries: Sequence[Entry], seed: Sequence[int], person: int) -> list[Entry]:
    """The order of `entries` for a person: a row of the squares, each row once before one comes again."""
    squares = williams(len(entries))
    row = person % (len(squares) * len(entries))
    random = np.random.default_rng(list(seed))
    names = random.permutation(len(entries)).tolist()
    turns = [random.permutation(len(entries)).tolist() for _ in squares]
    which, within = divmod(row, len(entries))
    return [entries[names[k]] for k in squares[which][turns[which][within]]]


def _drawn(seed: Sequence[int]) -> int:
    return int(np.random.SeedSequence(list(seed)).generate_state(1)[0])
