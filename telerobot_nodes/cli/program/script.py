"""`telerobot script FILE`: the live script of a log file or a recording, shown again without a robot."""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from telerobot_nodes.operator.script import SavedScript


def command(
    file: Annotated[Path, typer.Argument(exists=True, help="Log of `telerobot run --log`, or a recording.")],
    only: Annotated[int, typer.Option("--command", help="Show only the command of this number.")] = 0,
    speed: Annotated[
        float, typer.Option(min=0.0, max=1000.0, help="Show as it happened, so many times as fast; 0: all at once.")
    ] = 0.0,
    step: Annotated[bool, typer.Option(help="Show one change after the other, each after enter.")] = False,
) -> None:
    """Show saved live scripts again: every step with its times, what failed and why."""
    from rich.console import Console

    from telerobot_nodes.operator.script import LiveScript, ScriptLines, read_scripts

    scripts = [script for script in read_scripts(file) if only in (0, script.command)]
    console = Console(highlight=False)
    if speed > 0.0 and not step:
        with LiveScript(console) as live:
            for pause, script in zip(_pauses(scripts), scripts, strict=True):
                time.sleep(pause / speed)
                live.show(script)
        return
    lines = ScriptLines(whole=True)
    for script in scripts:
        new = lines.of(script)
        for line in new:
            console.print(line, soft_wrap=True)
        if step and new and not sys.stdin.readline():
            return
    if not scripts:
        print("no live script" + (f" of command {only}" if only else ""))


def _pauses(scripts: list[SavedScript]) -> list[float]:
    """Time [s] before each script, since the one before."""
    times = [script.time for script in scripts]
    return [0.0, *(max(0.0, late - early) for early, late in itertools.pairwise(times))][: len(times)]
