"""`telerobot run "TEXT"`, `telerobot try "TEXT"`, `telerobot complete "TEXT"`: the command language from a shell."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telerobot_nodes.cli.operate import join_graph
from telerobot_nodes.core.protocol import begins_with_halt

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import LiveScript

NOT_DONE = 1
SCRIPT_LIMIT = 1.0  # [s] the last state of a script may come after its report
WORDS = frozenset(("pause", "resume", "reset", "status", "help"))  # texts of a single word

Namespace = Annotated[str, typer.Option(help="Namespace of the decision unit.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the final report as one JSON object.")]


def is_text(argument: str) -> bool:
    """True for a command text, False for the name of a node."""
    return len(argument.split()) > 1 or argument.strip().lower() in WORDS or begins_with_halt(argument)


def run_text(text: str, namespace: str = "", as_json: bool = False, watch: bool = False) -> int:
    """Submit a text, print progress, wait for its end; returns 0 if it succeeded, else 1. `watch`: print each step."""
    join_graph()
    from telerobot_nodes.nodes.clients import CommandClient

    show = (lambda _report: None) if as_json or watch else _show_progress
    with CommandClient(namespace, hurry=begins_with_halt(text)) as robot, _watching(robot, watch) as live:
        report = robot.run(text, progress=show)
        if live is not None:
            robot.wait_until(lambda: live.ended, SCRIPT_LIMIT)
    if as_json:
        print(json.dumps(_plain(report)))
    else:
        print(_ending(report))
    return 0 if report.ok else NOT_DONE


def attempt(
    text: Annotated[str, typer.Argument(help='A task, for example "grasp module with left_arm".')],
    namespace: Namespace = "",
    as_json: AsJson = False,
) -> None:
    """Check whether a task would work; if not, why and at which step. Nothing moves."""
    join_graph()
    from telerobot_nodes.nodes.clients import CommandClient

    with CommandClient(namespace) as robot:
        report = robot.attempt(text)
    if as_json:
        print(json.dumps(_plain(report)))
    else:
        for step in report.trial:
            target = " ".join(f"{value:.4f}" for value in step.target)
            print(f"{'+' if step.ok else '-'} {step.step:<22} {step.kind:<16} {step.duration:6.2f} s  {target}")
        print(_ending(report))
    raise typer.Exit(0 if report.ok else NOT_DONE)


def complete(
    text: Annotated[str, typer.Argument(help="The text typed so far.")],
    folder: Annotated[Path | None, typer.Option(help="Folder of the skill files; default: the package's.")] = None,
) -> None:
    """Print the possible next words, one per line. Needs no graph."""
    from telerobot_nodes.core.config import share_path
    from telerobot_nodes.rtc.language import complete as words
    from telerobot_nodes.rtc.skills import load_library

    library = load_library(folder or share_path("config/rtc"))
    vocabulary = dataclasses.replace(library.workcell.vocabulary)
    for word in words(text, len(text), vocabulary):
        print(word)


@contextlib.contextmanager
def _watching(robot: Any, watch: bool) -> Iterator[LiveScript | None]:
    """The live script of the robot's commands on standard error while inside; None unless `watch`."""
    if not watch:
        yield None
        return
    from telerobot_nodes.nodes.clients import LiveScript

    with LiveScript() as live:
        robot.watch = live.show
        yield live


def _show_progress(report: Any) -> None:
    print(f"  {report.elapsed:7.2f} s  {report.step:<22} {report.reason}", file=sys.stderr)


def _ending(report: Any) -> str:
    if not report.outcome:  # an answer, not a report
        return str(report.text)
    trims = f"; corrected: {', '.join(report.trims)}" if report.trims else ""
    at = f" at {report.step}" if report.step and not report.ok else ""
    return f"{report.outcome}{at}: {report.reason} ({report.steps_done} steps, {report.elapsed:.1f} s{trims})"


def _plain(report: Any) -> dict[str, Any]:
    """The report's fields as values for JSON."""
    names = [name for name in report.get_fields_and_field_types() if name not in ("link", "trial")]
    plain = {name: _value(getattr(report, name)) for name in names}
    trial = [{name: _value(getattr(step, name)) for name in step.get_fields_and_field_types()} for step in report.trial]
    return {**plain, "trial": trial}


def _value(value: Any) -> Any:
    return value if isinstance(value, (str, bool, int, float)) else list(value)
