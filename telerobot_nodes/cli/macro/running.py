"""`telerobot macro test | run | runs`: macros in physics and on a running graph, and the record of their runs."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import termios
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime, timezone
from typing import Annotated, Any, NoReturn

import numpy as np
import typer

from telerobot_nodes.cli.macro.showing import Drawing, drawing
from telerobot_nodes.cli.macro.words import AsJson, Folder, Name, RobotName, Values, arguments_of, macros_of, model_of
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import (
    BoundStep,
    MacroEnd,
    RecordedRun,
    StepEnd,
    Stops,
    check_macro,
    check_whole,
    play_parts,
    records_of,
    stops_of,
)

NOT_DONE = 1
FOLLOW_PERIOD = 0.05  # [s]
LONGEST = 3600.0  # [s] of a sequence that is sent as one

ByStep = Annotated[bool, typer.Option("--step", help="Wait before each step: Enter goes on, q ends.")]
BreakAt = Annotated[
    list[str] | None, typer.Option("--break", metavar="STEP", help="Wait before this step; repeatable.")
]


def test(
    name: Name,
    values: Values = None,
    folder: Folder = None,
    robot: RobotName = "arm",
    delay: Annotated[float, typer.Option(min=0.0, help="Round trip of the link to the robot, as expected [s].")] = 0.0,
    start: Annotated[str, typer.Option(help="Joints where the arm begins [rad], with spaces; default: home.")] = "",
    camera: Annotated[str, typer.Option(help="x y z qx qy qz qw of the camera in WORLD, for `camera.pose`.")] = "",
    follow: Annotated[bool, typer.Option("--follow", help="Print the motion as it is computed: JSON lines.")] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Draw it on the running graph, console and RViz2, from where the arm stands.")
    ] = False,
    namespace: Annotated[str, typer.Option(help="Namespace of that graph's arm.")] = "",
    step: ByStep = False,
    break_at: BreakAt = None,
    as_json: AsJson = False,
) -> None:
    """Run a macro on an arm in physics on this machine, without a graph. Exit code 0: every result was accepted."""
    from telerobot_nodes.macros import OfflineRobot

    macros, arguments, model = macros_of(folder), arguments_of(values), model_of(robot)
    stops = _stops(check_macro(macros, name, model, arguments), step, break_at)
    begin, pose = _start(start, model), _pose("--camera", camera)
    with drawing(model, namespace) if show else nullcontext() as drawn:
        offline = OfflineRobot(model, drawn.joints if drawn and begin is None else begin, one_way=0.5 * delay)
        offline.camera_pose = pose
        if follow or drawn:
            offline.follow(_follower(model, follow, drawn), FOLLOW_PERIOD)
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        recorded = RecordedRun(macros, name, arguments, robot, date, delay=0.5 * delay)
        told = _print_end if follow else _shower(as_json)
        end = recorded.play(offline.context, offline.send, told, stops.ended_before)
    _finish(end, as_json or follow)


def run(
    name: Name,
    values: Values = None,
    folder: Folder = None,
    robot: RobotName = "arm",
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    override: Annotated[bool, typer.Option("--override", help="Run it although it is not tested.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Send it as one sequence, which the robot runs.")] = False,
    step: ByStep = False,
    break_at: BreakAt = None,
    as_json: AsJson = False,
) -> None:
    """Run a macro on a running graph; Ctrl-C stops the arm. Exit code 0: every result was accepted."""
    from telerobot_nodes.client import connect

    macros, arguments = macros_of(folder), arguments_of(values)
    steps = check_macro(macros, name, model_of(robot), arguments)
    stops = _stops(steps, step, break_at)
    if whole:
        check_whole(macros, name)
    with connect(namespace, "shell") as arm:
        from telerobot_nodes.nodes.macros import MacroPlayer  # after the environment is set

        if override:
            print(f"telerobot: {name} runs with --override; this is recorded", file=sys.stderr)
        player, show = MacroPlayer(arm), _shower(as_json)
        recorded = player.recorded(macros, name, arguments, robot, override)
        if whole:
            end = recorded.record(
                lambda: play_parts(steps, stops, lambda part: player.send_whole(name, part, LONGEST, show))
            )
        else:
            end = recorded.play(player.context, player.send, show, stops.ended_before)
    _finish(end, as_json)


def runs(name: Name, folder: Folder = None, as_json: AsJson = False) -> None:
    """Print where and when a macro ran, with which version, delay and outcome; the newest last."""
    macros = macros_of(folder)
    present = macros.fingerprint(name)
    for record in records_of(macros.folder, name):
        if as_json:
            print(json.dumps({**vars(record), "place": record.place.value, "present": record.hash == present}))
            continue
        which = f"version {record.version}" + ("" if record.hash == present else ", other content")
        outcome = "succeeded" if record.succeeded else record.reason
        by_override = ", by override" if record.override else ""
        where = f"{record.place.value} {record.robot}, delay {record.delay:g} s"
        print(f"{record.date}  {record.hash[:12]} {which}  {where}{by_override}  {outcome}")


def _stops(steps: Sequence[BoundStep], every: bool, names: list[str] | None) -> Stops:
    """Where the run waits for a person. Raises InvalidValueError: there is no such step."""
    labels = tuple(step.label for step in steps)
    return Stops(labels, stops_of(labels, every, names or ()), _goes_on)


def _goes_on(label: str) -> bool:
    """Ask a person whether the run goes on; not with `q`, Ctrl-C, or without anybody who could answer.

    What was typed while the arm moved is no answer.
    """
    with contextlib.suppress(termios.error, OSError, ValueError):  # no terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    print(f"telerobot: before {label}: Enter goes on, q ends", file=sys.stderr, flush=True)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        return False
    return bool(line) and line.strip().lower() != "q"


def _start(text: str, model: RobotModel) -> FloatArray | None:
    """Joints (dof,) [rad] within their limits; None: home. Raises InvalidValueError."""
    if not text.strip():
        return None
    q = np.array(_numbers("--start", text, model.dof))
    if not np.all((model.limits.lower <= q) & (q <= model.limits.upper)):
        raise InvalidValueError("--start", text, "allowed: angles inside the joints' limits")
    return q


def _pose(option: str, text: str) -> tuple[float, ...]:
    """A pose of an option; none: it was not given. Raises InvalidValueError."""
    numbers = _numbers(option, text, 7)
    return tuple(map(float, poses(numbers, option)[0])) if numbers else ()


def _numbers(option: str, text: str, count: int) -> tuple[float, ...]:
    """Numbers of an option; none: it was not given. Raises InvalidValueError."""
    try:
        found = tuple(float(word) for word in text.split())
    except ValueError:
        found = (math.nan,)
    if text.strip() and (len(found) != count or not all(map(math.isfinite, found))):
        raise InvalidValueError(option, text, f"allowed: {count} numbers, with spaces")
    return found


def _follower(model: RobotModel, printed: bool, drawn: Drawing | None) -> Callable[[float, FloatArray], None]:
    def take(now: float, q: FloatArray) -> None:
        if printed:
            _print_sample(model, now, q)
        if drawn is not None:
            drawn.add(now, q)

    return take


def _print_sample(model: RobotModel, now: float, q: FloatArray) -> None:
    place = model.forward(q).translation
    print(
        json.dumps({"time": round(now, 4), "joints": q.round(6).tolist(), "tool": place.round(6).tolist()}), flush=True
    )


def _print_end(end: StepEnd) -> None:
    print(json.dumps(vars(end)), flush=True)


def _shower(as_json: bool) -> Any:
    return (lambda _end: None) if as_json else lambda end: print(_line(end), flush=True)


def _line(end: StepEnd) -> str:
    mark = "+" if end.accepted else "-"
    return f"{mark} {end.label:<32} {end.result:<16} {end.elapsed:7.2f} s  {end.detail}".rstrip()


def _finish(end: MacroEnd, as_json: bool) -> NoReturn:
    if as_json:
        steps = [vars(step) for step in end.steps]
        print(json.dumps({"succeeded": end.succeeded, "reason": end.reason, "steps": steps}))
    elif not end.succeeded:
        print(end.reason)
    raise typer.Exit(0 if end.succeeded else NOT_DONE)
