"""`telerobot bench NAME`: one benchmark, its figures as JSON, its goals met or missed on the terminal."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.bench import report
from telerobot_nodes.errors import InvalidValueError

# Name on the command line -> module of `telerobot_nodes.bench`, which holds `run(options) -> dict`.
BENCHMARKS: dict[str, str] = {
    "control-loop": "control_loop",
    "idle": "idle",
    "hands": "hands",
    "planner": "planner",
    "planner-growth": "planner_growth",
    "queue": "queue",
    "executor": "executor",
    "delay-study": "delay_study",
    "ingest": "ingest",
    "gcmsf": "gcmsf",
    "rtc": "rtc",
    "halt": "halt",
    "touch": "touch",
    "two-arms": "two_arms",
    "force-field": "force_field",
}


def command(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(BENCHMARKS)}.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write conditions, figures and goals.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value for the benchmark; may be repeated.")] = None,
) -> None:
    """Run one benchmark. A missed goal is reported, not an error."""
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
