"""The `telerobot` command: one file per sub-command, listed in one table, imported only when asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

import typer

from telerobot_nodes.errors import TelerobotError

# Each name is a module of this package that holds `command` (a typer function) or `app` (a typer group), or a
# function of `operate.py`.
OPERATE: tuple[str, ...] = ("status", "halt", "resume", "clutch", "clear", "ratio")
COMMANDS: tuple[str, ...] = (*OPERATE, "up", "graph", "run")

EXIT_REFUSED = 2


def build_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these sub-commands."""
    app = typer.Typer(
        help="Drive robot arms well over any delay.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)  # keeps the sub-command's name on the line when only one is loaded
    for name in names:
        module = import_module(f"telerobot_nodes.cli.{'operate' if name in OPERATE else name}")
        if name in OPERATE:
            app.command(name)(getattr(module, name))
        elif hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            settings = getattr(module, "CONTEXT_SETTINGS", None)
            app.command(name, context_settings=settings)(module.command)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. Errors of ours are one line on stderr and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    names = (words[0],) if words and words[0] in COMMANDS else COMMANDS
    try:
        code = build_app(names)(args=words, prog_name="telerobot", standalone_mode=True)
    except SystemExit as end:
        code = end.code
    except TelerobotError as error:
        print(f"telerobot: {error}", file=sys.stderr)
        return EXIT_REFUSED
    return code if isinstance(code, int) else 0
