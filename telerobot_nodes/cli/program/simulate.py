"""`telerobot simulate PROGRAM`: a program with simulated arms and given faults, without a graph, in a moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from telerobot_nodes.errors import TelerobotError

if TYPE_CHECKING:
    from telerobot_nodes.rtc.rehearsal import Cell

NOT_DONE = 1


class NoProgramError(TelerobotError):
    """There is no such file."""


def command(
    program: Annotated[str, typer.Argument(metavar="FILE | TEXT", help="A file of commands, or the commands.")],
    faults: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="YAML: which steps end how, who is silent.")
    ] = None,
    log: Annotated[Path | None, typer.Option(dir_okay=False, help="Save every step, for `telerobot script`.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder of the skill files; default: the package's.")] = None,
) -> None:
    """Run commands offline with simulated arms; print what was tried and recovered. Exit code 0: all succeeded."""
    from rich.console import Console

    from telerobot_nodes.core.config import share_path
    from telerobot_nodes.operator.script import ScriptLines
    from telerobot_nodes.rtc.rehearsal import Cell, Faults, read_faults
    from telerobot_nodes.rtc.skills import load_library

    text = _text(program)
    library = load_library(folder or share_path("config/rtc"))
    told = read_faults(faults, library) if faults is not None else Faults()
    cell = Cell(library, folder, told.steps)
    cell.executor.silent |= told.silent
    cell.executor.sensors |= told.sensors
    cell.on_task = lambda task: f"done task {task.task}"
    cell.say(text, "shell")
    cell.settle()
    console, lines = Console(highlight=False), ScriptLines(whole=True)
    for reply in cell.replies:
        if not reply.command:
            console.print(reply.text, markup=False, soft_wrap=True)
    for script in cell.scripts:
        for line in lines.of(script):
            console.print(line, soft_wrap=True)
    for rest in _rest(cell):
        console.print(rest, markup=False, soft_wrap=True)
    if log is not None:
        _save(log, cell)
    raise typer.Exit(0 if _succeeded(cell) else NOT_DONE)


def _text(program: str) -> str:
    """The commands; raises NoProgramError."""
    path = Path(program)
    if len(program.split()) == 1 and not path.is_file():
        raise NoProgramError(f"there is no file {program!r}; commands are given in quotes")
    if len(program.split()) != 1:
        return program
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoProgramError(f"{program}: not readable: {error}") from error


def _rest(cell: Cell) -> list[str]:
    """Commands that no live script reports, and faults of steps that were not reached."""
    told = {script.command for script in cell.scripts if script.outcome}
    lines = [f"command {n}: {report.outcome}: {report.reason}" for n, report in cell.reports.items() if n not in told]
    lines += [f"command {n}: {record.state.value} at {record.step_name}" for n, record in cell.unit.commands.items()]
    unreached = [name for name, left in cell.executor.faults.items() if any(left)]
    return lines + [f"the fault of {name} was not reached" for name in unreached]


def _succeeded(cell: Cell) -> bool:
    ended = all(report.outcome == "succeeded" for report in cell.reports.values())
    return ended and not cell.unit.commands and all(reply.ok for reply in cell.replies)


def _save(path: Path, cell: Cell) -> None:
    from telerobot_nodes.operator.script import ScriptLog

    with ScriptLog(path) as log:
        for time, script in zip(cell.script_times, cell.scripts, strict=True):
            log.write(time, script)
