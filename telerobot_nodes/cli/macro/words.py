"""Words that the sub-commands of `telerobot macro` share: names, folders, parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from telerobot_nodes.core.config import share_path
from telerobot_nodes.macros import OWN, MacroFolder, read_macros
from telerobot_nodes.motion.primitives import values_from
from telerobot_nodes.operator.client import pairs

Name = Annotated[str, typer.Argument(help="Name of the macro: its file's, without .yaml.")]
Values = Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE ...", help="Its parameters, in SI units.")]
Folder = Annotated[
    Path | None, typer.Option(help="Folder of the files; default: ./macros, else the package's examples.")
]
RobotName = Annotated[str, typer.Option("--robot", help="Robot it is checked for: arm, panda, ur5, a file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def macros_of(folder: Path | None) -> MacroFolder:
    """The macros of the folder, or of the default one."""
    return read_macros(folder or (OWN if OWN.is_dir() else share_path("config/macros")))


def model_of(robot: str) -> Any:
    """The model of a robot; raises ModelError."""
    from telerobot_nodes.core.robot import load_robot

    return load_robot(robot)


def arguments_of(words: list[str] | None) -> dict[str, Any]:
    """Parameters from key=value words; raises InvalidValueError."""
    given = pairs(words or [])
    return values_from(list(given), list(given.values()))
