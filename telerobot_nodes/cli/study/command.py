"""`telerobot study`: a person at the console works through the delay study; results, recordings, table and picture."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web import NO_BROWSER

if TYPE_CHECKING:
    from telerobot_nodes.study.design import StudySettings

NOT_FINISHED = 1
INTERRUPTED = 130  # as a shell reports it


def command(
    tasks: Annotated[
        str | None, typer.Option(help="Tasks with commas; default: all of the delay study. reach: a warm-up.")
    ] = None,
    conditions: Annotated[str | None, typer.Option(help="Conditions with commas; default: a,b,c,d.")] = None,
    delays: Annotated[str | None, typer.Option(help="Round trips with commas [s]; default: 0,1,4.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the order and of the targets; default: 1.")] = None,
    limit: Annotated[float | None, typer.Option(help="Longest trial [s]; default: 300.")] = None,
    robot: Annotated[
        str | None, typer.Option(help="Robot: arm, panda, ur5, a URDF file or an arm file (YAML); default: arm.")
    ] = None,
    person: Annotated[str, typer.Option(help="Name of the person, in the results and of a folder.")] = "person",
    folder: Annotated[Path, typer.Option(help="Folder of the study; with one begun there, it goes on.")] = Path(
        "study"
    ),
    scripted: Annotated[
        bool, typer.Option("--scripted", help="A scripted operator in place of a person, to try the study through.")
    ] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Only make table and picture of what is in the folder.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to serve the console on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port, or the next free one; 0: any.")] = 8080,
    params: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Parameter file.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the console in a browser.")] = False,
) -> None:
    """Hold the delay study with a person at the console. Exit code 1: trials are left."""
    from telerobot_nodes.core.robot import load_robot
    from telerobot_nodes.runtime import compile_first
    from telerobot_nodes.study.results import StudyFolder, person_name, settings_of, write_summary
    from telerobot_nodes.study.run import Seat, run_study

    person_name(person)
    known = settings_of(folder)
    if table and known is None:
        raise InvalidValueError("folder", str(folder), "allowed with --table: the folder of a study")
    given = {"tasks": _words(tasks), "conditions": _words(conditions), "delays": _numbers(delays), "seed": seed}
    settings = _settings(known, {**given, "limit": limit, "robot": robot, "scripted": scripted or None}, table)
    load_robot(settings.robot)  # refused before anything is written
    with StudyFolder(folder, settings) as study:
        if table:
            print(write_summary(study))
            return
        left = len(study.left(person))
        _introduce(study.cut, left, len(settings.order(0)), person)
        if left:
            compile_first(_show)
        seat = Seat(host, port, not (no_browser or scripted), params, scripted, scripted)
        if no_browser:
            os.environ[NO_BROWSER] = "1"
        try:
            finished = not left or run_study(study, person, seat, _show)
        except KeyboardInterrupt:
            _show("broken off; start again to go on")
            raise typer.Exit(INTERRUPTED) from None
        print(write_summary(study))
        _show(f"table, picture and results are in {folder}")
    raise typer.Exit(0 if finished else NOT_FINISHED)


def _settings(known: StudySettings | None, given: dict[str, Any], table: bool) -> StudySettings:
    """The settings of the study in the folder, or new ones; what is `given` must be as there."""
    from telerobot_nodes.study.design import StudySettings

    asked = {name: value for name, value in given.items() if value is not None}
    if known is not None and not table and not asked.get("scripted"):
        asked["scripted"] = False  # a person does not go on with what a script began
    return replace(known or StudySettings(), **asked)


def _introduce(cut: str, left: int, of: int, person: str) -> None:
    if cut:
        _show(
            f"the last line of the results was cut off; it is kept in results.cut, its trial is done again: {cut[:40]}"
        )
    if not left:
        _show(f"{person} has done every trial; table and picture are made anew")
    else:
        _show(f"{left} of {of} trials left for {person}")


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(word.strip() for word in text.split(","))


def _numbers(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise InvalidValueError("delays", text, "allowed: seconds, with commas") from None


def _show(text: str) -> None:
    print(f"telerobot: {text}", flush=True)
