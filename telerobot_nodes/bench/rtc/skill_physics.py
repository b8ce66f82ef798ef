"""All skills run in physics; every report is judged by the state of the physics, and so is the database."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.rtc.skill_cell import SkillCell
from telerobot_nodes.bench.rtc.skill_plays import Play, plays, start_text
from telerobot_nodes.bench.rtc.skill_truth import Seen, false_entries
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.skills import Library

SHARE = 0.95  # of the starts that have to be done


class Cell(Protocol):
    """An arm before the task board, in this process or on the graph."""

    hand: Any

    def run(self, text: str, limit: float = 300.0) -> Any:
        """The last report of a text. Raises TelerobotError when it begins no command."""

    def watch(self) -> None:
        """Begin to keep the tool's way."""

    def seen(self) -> Seen:
        """The truth now."""


@dataclass(frozen=True)
class Result:
    """One start of one skill: what was reported, what is true."""

    skill: str
    text: str
    start: int
    reported: bool
    done: bool
    false_entries: tuple[str, ...]
    why: str = ""
    prepared: bool = True

    @property
    def success(self) -> bool:
        """Reported as done, and done."""
        return self.prepared and self.reported and self.done

    @property
    def false_success(self) -> bool:
        """Reported as done, and not done."""
        return self.prepared and self.reported and not self.done


def play_one(cell: Cell, play: Play, start: int = 0) -> Result:
    """Prepare, say, judge."""
    wrong: list[str] = []
    for text in play.before:
        said = _say(cell, text)
        wrong += [f"after {text}: {entry}" for entry in false_entries(cell.seen())]
        if said[0] is False:
            return Result(play.skill, play.text, start, False, False, tuple(wrong), f"before: {text}: {said[1]}", False)
    before = cell.seen()
    cell.watch()
    cell.hand = np.array(play.hand) if play.hand else None
    reported, why = _say(cell, play.text)
    cell.hand = None
    after = cell.seen()
    wrong += false_entries(after)
    return Result(play.skill, play.text, start, reported, bool(play.done(before, after)), tuple(wrong), why)


def _say(cell: Cell, text: str) -> tuple[bool, str]:
    try:
        ended = cell.run(text)
    except TelerobotError as error:
        return False, str(error)
    return ended.outcome == "succeeded", f"{ended.step}: {ended.reason}"


@dataclass(frozen=True)
class Start:
    """A play to be played: where the arm begins, and the seed of its physics."""

    play: Play
    number: int
    begins: str  # text
    seed: int


def schedule(count: int, seed: int, only: Sequence[str] = ()) -> Iterator[Start]:
    """Each skill `count` times, each time with other amounts, another physics, and an arm that begins elsewhere."""
    for number in range(count):
        for index, play in enumerate(plays(np.random.default_rng([seed, number]))):
            if not only or play.skill in only:
                begins = start_text(np.random.default_rng([seed, number, index]))
                yield Start(play, number, begins, zlib.crc32(f"{seed} {number} {index}".encode()) % 2**31)


def until_limit(starts: Iterable[Start], limit: float) -> Iterator[Start]:
    """The first start, and those that can begin before `limit` [s] is over; 0: all."""
    end = time.monotonic() + (limit or math.inf)
    for number, start in enumerate(starts):
        if number and time.monotonic() >= end:
            return
        yield start


def starts(library: Library, count: int, seed: int, only: Sequence[str] = (), limit: float = 0.0) -> Iterator[Result]:
    """Each start in physics of its own."""
    for start in until_limit(schedule(count, seed, only), limit):
        cell = SkillCell(library, seed=start.seed)
        cell.run(start.begins)
        yield play_one(cell, start.play, start.number)


def run(library: Library, count: int, seed: int, only: Sequence[str] = (), limit: float = 0.0) -> dict[str, Any]:
    """Conditions, figures, goals."""
    results = list(starts(library, count, seed, only, limit))
    return summary(results, count, seed)


def summary(results: Sequence[Result], count: int, seed: int) -> dict[str, Any]:
    """Conditions, figures, goals of the results of all starts."""
    done = sum(one.success for one in results)
    lies = [one for one in results if one.false_success]
    false = [one for one in results if one.false_entries]
    skills = {one.skill for one in results}
    figures = {
        "starts_per_skill": count,
        "skills": len(skills),
        "starts": len(results),
        "done": done,
        "reported_as_failed": {f"{one.text} ({one.start})": one.why for one in results if not one.reported},
        "reported_as_failed_but_done": [
            f"{one.text} ({one.start})" for one in results if one.done and not one.reported
        ],
        "false_successes": [f"{one.text} ({one.start})" for one in lies],
        "false_entries": {f"{one.text} ({one.start})": list(one.false_entries) for one in false},
        "each": {
            skill: [
                sum(one.success for one in results if one.skill == skill),
                sum(one.skill == skill for one in results),
            ]
            for skill in sorted(skills)
        },
    }
    goals = [
        report.goal("starts done", done / max(len(results), 1), "share", ">=", SHARE),
        report.goal("false successes", len(lies), "-", "<=", 0),
        report.goal("commands after which the database is false", len(false), "-", "<=", 0),
        report.goal("skills", len(skills), "skills", ">=", 32),
    ]
    return report.result(report.conditions(seed), figures, goals)
