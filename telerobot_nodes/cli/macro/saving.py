"""`telerobot macro save "define ..."`: a macro of the command language becomes a file, its quantities parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.cli.macro.words import RobotName, model_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import OWN, from_text, read_macros, replace_macro
from telerobot_nodes.operator.client import pairs


def save(
    text: Annotated[str, typer.Argument(help="A `define NAME(...) as { ... }`, or commands with --name; in quotes.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME=THING ...", help="Of a `define`'s names.")] = None,
    name: Annotated[str, typer.Option(help="Name of the macro; default: that of the `define`.")] = "",
    doc: Annotated[str, typer.Option(help="What it does; default: the text.")] = "",
    folder: Annotated[Path, typer.Option(help="Folder the file is written to.")] = OWN,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a macro; its version grows by one.")] = False,
    robot: RobotName = "arm",
) -> None:
    """Save commands as a macro file: each is a step, each quantity a parameter with what was written as default."""
    given, model = pairs(names or []), model_of(robot)
    called, written = from_text(text, given, name, doc)
    file = folder / f"{called}.yaml"
    if file.exists():
        if not replace:
            raise InvalidValueError("name", called, f"allowed: a name that is free in {folder}, or --replace")
        _, written = from_text(text, given, name, doc, read_macros(folder).get(called).version + 1)
    steps = replace_macro(folder, called, written, model)
    macro = read_macros(folder).get(called)
    print(f"{file}: version {macro.version}, {steps} steps")
    for parameter in macro.parameters.values():
        print(f"  {parameter.name} = {parameter.default[0]:g}, {parameter.allowed}")
