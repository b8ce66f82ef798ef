"""Every fault of the table, tried on the graph as its users start it; judged from outside.

Two hosts in two ROS domains (`telerobot up robot|operator --hosts FILE`), a network of this process between them, an
observer in each domain. Options: `rows` (numbers with commas; without it all; `none`: only the page), `domain` (this
and the next are used), `folder` (results of earlier runs are kept there and stay part of the result), `page` (file of
the page made from the result), `minutes` and `seed` of a random run afterwards.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from telerobot_nodes.bench import report
from telerobot_nodes.bench.faults import deaths, devices, hosts, link_cuts, link_quality, messages, strangers
from telerobot_nodes.bench.faults.judge import executed_once
from telerobot_nodes.bench.faults.page import markdown
from telerobot_nodes.bench.faults.random_run import random_run
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Goal, Outcome, Row, at_least, holds, none
from telerobot_nodes.errors import InvalidValueError, TelerobotError

THEMES = (link_cuts, link_quality, messages, strangers, devices, hosts, deaths)  # what damages most comes last
ROWS: dict[int, Row] = {row.number: row for theme in THEMES for row in theme.ROWS}


def run(options: Mapping[str, str]) -> dict[str, Any]:
    """Try the rows, and merge them with those kept in the folder."""
    numbers = chosen_rows(options.get("rows", ""))
    minutes, seed = float(options.get("minutes", 0.0)), int(options.get("seed", 1))
    with contextlib.ExitStack() as stack:
        folder = Path(options.get("folder") or stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        if numbers or minutes:
            _run(numbers, minutes, seed, int(options.get("domain", 92)), folder)
        result = merged(folder)
    if "page" in options:
        Path(options["page"]).write_text(markdown(result), encoding="utf-8")
    return result


def chosen_rows(text: str) -> list[int]:
    """Numbers of the rows to run, those that damage least first. Raises InvalidValueError."""
    if text == "none":
        return []
    found = []
    for part in text.split(",") if text else map(str, ROWS):
        if not part.isascii() or not part.isdigit() or int(part) not in ROWS:
            raise InvalidValueError("rows", part, f"allowed: none, or of {', '.join(map(str, ROWS))}")
        found.append(int(part))
    return found


def merged(folder: Path) -> dict[str, Any]:
    """The result of all rows kept in a folder; a later run of a row replaces the earlier one."""
    kept = [json.loads(file.read_text()) for file in sorted(folder.glob("row_*.json"))]
    reviews = [json.loads(file.read_text()) for file in sorted(folder.glob("review_*.json"))]
    rows = {str(number): _not_run(row) for number, row in sorted(ROWS.items())}
    for entry in kept:
        missed = not all(goal["met"] for goal in entry["goals"])
        cause = ROWS[entry["row"]].cause if missed else ""
        rows[str(entry["row"])] = {**entry, "observed": without_folders(entry["observed"]), "cause": cause}
    goals = [goal for entry in kept for goal in entry["goals"]] + [goal for one in reviews for goal in one["goals"]]
    latest = max((entry["conditions"] for entry in kept), key=lambda one: str(one["time"]), default=report.conditions())
    return report.result(latest, {"rows": rows, "reviews": reviews}, goals)


def without_folders(text: str) -> str:
    """A text with the names of its files, and not with their places on this machine."""
    return re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "", text)


def _not_run(row: Row) -> dict[str, Any]:
    untried = Outcome("", untried="the runner has the row; it was not run for this page")
    return {
        "row": row.number,
        "fault": row.fault,
        "must": row.must,
        "did": "",
        "verdict": untried.verdict.value,
        "observed": "",
        "untried": untried.untried,
        "goals": [],
    }


def _run(numbers: list[int], minutes: float, seed: int, domain: int, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        rig = Rig(Path(name), (domain, domain + 1))
        signal.signal(signal.SIGTERM, lambda *_: rig.request_end())
        try:
            rig.start()
            for number in numbers:
                _keep(folder, ROWS[number], _tried(rig, ROWS[number]))
            goals = random_run(rig, minutes, seed) if minutes else []
        finally:
            rig.close()
        # a recorder that was started again goes on beside, in a folder with a number
        bags = {bag: None for first in rig.bags for bag in sorted(first.parent.glob(f"{first.name}*"))}
        judged = [_judged(bag) for bag in bags]
        names = [f"row {number}" for number in numbers] + [f"random, {minutes:g} min, seed {seed}"] * bool(minutes)
        file = folder / f"review_{'_'.join(map(str, numbers)) or f'random_{seed}'}.json"
        report.write(file, {"name": "; ".join(names), **summed(judged, goals)})


def summed(judged: Sequence[Mapping[str, Any]], more: Sequence[Goal] = ()) -> dict[str, Any]:
    """The recordings of a run, judged together; `more` goals of the run itself."""
    kept = [one for one in judged if not one["error"]]
    goals = [
        at_least("recordings that can be reviewed", len(kept), len(judged)),
        none("points executed twice", sum(one["twice"] for one in kept)),
        none("points out of order", sum(one["out_of_order"] for one in kept)),
        none("setpoints outside the limits", sum(one["excess"] for one in kept)),
    ]
    goals = [{**goal, "name": f"recordings: {goal['name']}"} for goal in (*more, *goals)]
    return {"recordings": list(judged), "goals": goals}


def _judged(bag: Path) -> dict[str, Any]:
    from telerobot_nodes.operator.recording import BagReader
    from telerobot_nodes.operator.review import review_bag

    try:
        with BagReader(bag) as reader:
            done = [message for _, _, message in reader.messages(["/plan_executor/executed"])]
            setpoints = [message for _, _, message in reader.messages(["/hardware_interface/setpoint"])]
        strange = sum(len(one.position) for one in setpoints if messages.is_strange(one))  # each joint counts
        found = review_bag(bag).summary
    except (TelerobotError, OSError) as error:
        return {"error": str(error).replace(str(bag), "the recording")[:300]}
    ranges = [(int(message.first_seq), int(message.last_seq)) for message in done]
    once = executed_once(ranges, 1, max((last for _, last in ranges), default=0))
    return {
        "error": "",
        "twice": once.twice,
        "out_of_order": once.out_of_order,
        "excess": found.limit_violations - strange,
        "setpoints": found.setpoints,
        "points": found.points_executed,
    }


def _tried(rig: Rig, row: Row) -> Outcome:
    try:
        if not (rig.runs("robot") and rig.runs("operator")):
            rig.restart()
        else:
            rig.ready()
        return row.try_it(rig)
    except (TelerobotError, OSError) as error:
        traceback.print_exc()
        outcome = Outcome(row.fault, (holds("the row came to its end", False),), str(error)[:400])
    with contextlib.suppress(TelerobotError):
        rig.restart()
    return outcome


def _keep(folder: Path, row: Row, outcome: Outcome) -> None:
    goals = [{**goal, "name": f"row {row.number}: {goal['name']}"} for goal in outcome.goals]
    entry = {
        "row": row.number,
        "fault": row.fault,
        "must": row.must,
        "did": outcome.did,
        "verdict": outcome.verdict.value,
        "observed": outcome.observed,
        "untried": outcome.untried,
        "figures": dict(outcome.figures),
        "goals": goals,
        "conditions": report.conditions(),
    }
    report.write(folder / f"row_{row.number:02d}.json", entry)
    print(f"row {row.number}: {outcome.verdict.value}; {outcome.observed}", flush=True)
    print(report.text({"goals": goals}), flush=True)
