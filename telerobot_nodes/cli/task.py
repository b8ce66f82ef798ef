"""`telerobot task NAME`: a task run in physics, judged, as text and JSON; `--all --repeat 100` for success rates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.bench import report, tasks
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.tasks.task_file import task_names


def command(
    name: Annotated[str, typer.Argument(help="A task of config/tasks, or a file.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write conditions, figures and goals.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first run: pose error, sensor noise, the hand.")] = 0,
    repeat: Annotated[int, typer.Option(min=1, max=10_000, help="Runs, each with the next seed.")] = 1,
    every: Annotated[bool, typer.Option("--all", help="Every task of config/tasks.")] = False,
    processes: Annotated[int, typer.Option(min=0, max=64, help="0: one for each core.")] = 0,
    picture: Annotated[Path | None, typer.Option(help="Picture (.png) of the first run.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot (.png) of force and motion of the first run.")] = None,
) -> None:
    """Run a task in physics. A task that fails is reported, not an error."""
    if bool(name) == every:
        raise InvalidValueError("task", name, f"allowed: one of {', '.join(task_names())}, or --all")
    names = task_names() if every else (name,)
    result = tasks.run_tasks(names, seed, repeat, processes)
    if json_file is not None:
        report.write(json_file, result)
    print(tasks.text(result))
    if picture is not None or plot is not None:
        from telerobot_nodes.tasks import pictures

        pictures.draw(names[0], seed, picture, plot)
