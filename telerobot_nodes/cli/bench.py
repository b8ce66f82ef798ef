"""`telerobot bench NAME`: runs one benchmark, writes figures as JSON, prints which goals were met."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.bench import BENCHMARKS, benchmark_named, checked_options, report


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
    options = checked_options(name, option or [])
    result = import_module(f"telerobot_nodes.bench.{benchmark_named(name).module}").run(options)
    if json_file is not None:
        report.write(json_file, result)
    print(report.text(result))
