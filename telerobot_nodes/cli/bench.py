"""`telerobot bench NAME`: runs one benchmark, writes figures as JSON, prints which goals were met."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.bench import report
from telerobot_nodes.errors import InvalidValueError

# Name on the command line -> module of `telerobot_nodes.bench`, which holds `run(options) -> dict`.
BENCHMARKS: dict[str, str] = {
    "control-loop": "contact.control_loop",
    "idle": "rtc.idle",
    "hands": "plan.hands",
    "planner": "planner.planner",
    "planner-growth": "planner.planner_growth",
    "queue": "plan.queue",
    "executor": "plan.executor",
    "delay-study": "plan.delay_study",
    "executed": "plan.executed",
    "ingest": "plan.ingest",
    "gcmsf": "contact.gcmsf",
    "rtc": "rtc.rtc",
    "skills": "rtc.skills",
    "halt": "rtc.halt",
    "stops": "rtc.stops",
    "touch": "contact.touch",
    "link": "link.link",
    "driver": "driver.driver",
    "two-arms": "two_arms.two_arms",
    "force-field": "two_arms.force_field",
    "review": "review.review",
}


def command(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(BENCHMARKS)}.")],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write conditions, figures and goals to this file.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Option of the benchmark, key=value; may be repeated.")
    ] = None,
) -> None:
    """Run one benchmark. A missed goal is reported; it is not an error."""
    if name not in BENCHMARKS:
        raise InvalidValueError("benchmark", name, f"allowed: {', '.join(BENCHMARKS)}")
    result = import_module(f"telerobot_nodes.bench.{BENCHMARKS[name]}").run(_options(option or []))
    if json_file is not None:
        report.write(json_file, result)
    print(report.text(result))


def _options(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise InvalidValueError("--option", pair, "allowed: key=value")
    return dict(pair.split("=", 1) for pair in pairs)
