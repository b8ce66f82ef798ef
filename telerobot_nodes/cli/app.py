"""The `telerobot` command: one table of sub-commands, each imported only when it is used."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

import typer

from telerobot_nodes.errors import TelerobotError

# Name on the command line -> "file:object" of this package; the object is a typer function or a typer group.
COMMANDS: dict[str, str] = {
    "demo": "demo:command",
    "up": "host.up:command",
    "security": "host.up:security",
    "doctor": "host.doctor:command",
    "arm": "host.arm:app",
    "devices": "host.devices:command",
    "keyboard": "keyboard:command",
    "panel": "keyboard:panel",
    "status": "operate:status",
    "halt": "stops:halt",
    "stop": "stops:halt",
    "estop": "stops:estop",
    "reset": "stops:reset",
    "tare": "stops:tare",
    "resume": "operate:resume",
    "clutch": "operate:clutch",
    "clear": "operate:clear",
    "undo": "operate:undo",
    "ratio": "operate:ratio",
    "orientation": "operate:orientation",
    "linear-scale": "operate:linear_scale",
    "angular-scale": "operate:angular_scale",
    "gripper": "operate:gripper",
    "rate": "operate:rate",
    "brake": "operate:brake",
    "collision-stop": "operate:collision_stop",
    "singularities": "operate:singularities",
    "pause": "operate:pause",
    "position": "operate:position",
    "control": "operate:control",
    "replay": "operate:replay",
    "link": "operate:link",
    "camera": "operate:camera",
    "record": "operate:record",
    "direct": "operate:direct",
    "scrub": "operate:scrub",
    "primitive": "primitive:command",
    "plan": "plan:command",
    "review": "review:command",
    "bench": "bench:command",
    "study": "study.command:command",
    "task": "task:command",
    "graph": "pages:graph",
    "params": "pages:params",
    "states": "pages:state_machines",
    "run": "run:command",
    "try": "program.command:attempt",
    "complete": "program.command:complete",
    "script": "program.script:command",
    "simulate": "program.simulate:command",
    "macro": "macro.commands:app",
    "menu": "menu:app",
}

STOPS = ("halt", "stop", "estop")
STOP_PRIORITY = 10  # SCHED_RR, below the nodes that move the arm
EXIT_REFUSED = 2


def build_app(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these sub-commands."""
    app = typer.Typer(
        help="Drive robot arms well over any delay.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",  # the default would take units, as [m], for markup
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)  # keeps the sub-command's name on the line when only one is loaded
    for name in names:
        file, attribute = COMMANDS[name].split(":")
        module = import_module(f"telerobot_nodes.cli.{file}")
        command = getattr(module, attribute)
        settings = "CONTEXT_OF_STOPS" if name in STOPS else "CONTEXT_SETTINGS"
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, context_settings=getattr(module, settings, None))(command)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. A TelerobotError becomes one line on stderr and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] not in COMMANDS:
        words[0] = meant(words[0])
    if arguments is None and words and words[0] in STOPS:
        _hurry()
    names = (words[0],) if words and words[0] in COMMANDS else tuple(COMMANDS)
    try:
        code = build_app(names)(args=words, prog_name="telerobot", standalone_mode=True)
    except SystemExit as end:
        code = end.code
    except TelerobotError as error:
        print(f"telerobot: {error}", file=sys.stderr)
        return EXIT_REFUSED
    return code if isinstance(code, int) else 0


def meant(word: str) -> str:
    """The stop that a word begins with, however it is written, as in `STOP!` or `e-stop`; any other word as it is."""
    from telerobot_nodes.core.protocol import begins_with_halt

    if not begins_with_halt(word):
        return word
    letters = "".join(filter(str.isalpha, word.lower()))
    return "estop" if letters.startswith("estop") else "halt"


def _hurry() -> None:
    """Let a stop pass the ordinary programs of this host, where the user may."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(STOP_PRIORITY))
