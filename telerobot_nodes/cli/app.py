"""The `telerobot` command. A sub-command is imported only when it is used."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

import typer

from telerobot_nodes.cli.table import COMMANDS, GROUPS
from telerobot_nodes.errors import TelerobotError

STOPS = ("halt", "stop", "estop")
STOP_PRIORITY = 10  # SCHED_RR, below the nodes that move the arm
EXIT_REFUSED = 2


def build_app(names: Iterable[str]) -> typer.Typer:
    """The command line with these sub-commands."""
    app = _empty_app()
    for name in names:
        file, attribute = COMMANDS[name].place.split(":")
        module = import_module(f"telerobot_nodes.cli.{file}")
        command = getattr(module, attribute)
        settings = "CONTEXT_OF_STOPS" if name in STOPS else "CONTEXT_SETTINGS"
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, context_settings=getattr(module, settings, None))(command)
    return app


def list_app() -> typer.Typer:
    """The command line that only lists its sub-commands: none is imported."""
    app = _empty_app()
    for group, entries in GROUPS.items():
        for name, entry in entries.items():
            app.command(name, help=entry.summary, rich_help_panel=group)(lambda: None)
    return app


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        help="Drive robot arms well over any delay. `telerobot COMMAND --help` explains a command.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",  # the default would take units, as [m], for markup
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)  # keeps the sub-command's name on the line when only one is loaded
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. A TelerobotError becomes one line on stderr and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        words[0] = meant(words[0])
    if arguments is None and words and words[0] in STOPS:
        _hurry()
    try:
        app = build_app(words[:1]) if words and words[0] in COMMANDS else list_app()
        code = app(args=words, prog_name="telerobot", standalone_mode=True)
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
