"""`telerobot task NAME`: runs and judges a simulated contact task; `--all --repeat 100` for success rates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.bench import report
from telerobot_nodes.bench.contact import tasks
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.tasks import task_names


def command(
    name: Annotated[str, typer.Argument(help="A task in config/tasks, or a file.")] = "",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write conditions, figures and goals to this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first run: pose error, sensor noise, hand.")] = 0,
    repeat: Annotated[int, typer.Option(min=1, max=10_000, help="Runs, each with the next seed.")] = 1,
    every: Annotated[bool, typer.Option("--all", help="Run every task in config/tasks.")] = False,
    processes: Annotated[int, typer.Option(min=0, max=64, help="Processes; 0: one per core.")] = 0,
    picture: Annotated[Path | None, typer.Option(help="Write a picture of the first run (PNG).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot of force and motion of the first run (PNG).")] = None,
) -> None:
    """Run a simulated contact task. A failed task is reported; it is not an error."""
    if bool(name) == every:
        raise InvalidValueError("task", name, f"allowed: one of {', '.join(task_names())}, or --all")
    names = task_names() if every else (name,)
    result = tasks.run_tasks(names, seed, repeat, processes)
    if json_file is not None:
        report.write(json_file, result)
    print(tasks.text(result))
    if picture is not None or plot is not None:
        from telerobot_nodes.plotting import draw_task

        draw_task(names[0], seed, picture, plot)
