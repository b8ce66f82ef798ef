"""`telerobot macro learn NAME --bag BAG`: a macro from a recorded motion."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import typer

from telerobot_nodes.cli.macro.words import Name, RobotName, model_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import OWN, check_macro, read_macros


class Motion(str, Enum):
    """What the learned macro keeps."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"


def learn(
    name: Name,
    bag: Annotated[Path, typer.Option(exists=True, help="Recording of the motion: a rosbag2 folder or .mcap file.")],
    motion: Annotated[Motion, typer.Option(help="relative: the same motion from wherever it starts.")],
    begin: Annotated[float, typer.Option("--from", min=0.0, help="Part of the recording: from this time [s].")] = 0.0,
    end: Annotated[float, typer.Option("--to", help="To this time [s].")] = float("inf"),
    folder: Annotated[Path, typer.Option(help="Folder the file is written to.")] = OWN,
    doc: Annotated[str, typer.Option(help="What it does.")] = "Learned from a recording.",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a macro; its version grows by one.")] = False,
    robot: RobotName = "arm",
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
) -> None:
    """Write a macro that repeats what the arm did in a recording; edit, check and test it before it runs."""
    from telerobot_nodes.macros import learn as learned
    from telerobot_nodes.macros import read_track

    model = model_of(robot)
    if not re.fullmatch(r"[A-Za-z]\w*", name):
        raise InvalidValueError("name", name, "allowed: letters, digits and _")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    if file.exists() and not replace:
        raise InvalidValueError("name", name, f"allowed: a name that is free in {folder}, or --replace")
    version = read_macros(folder).get(name).version + 1 if file.exists() else 1
    word: Literal["absolute", "relative"] = "relative" if motion is Motion.RELATIVE else "absolute"
    text = learned(read_track(bag, model, namespace).part(begin, end), name, doc, word, version)
    fresh = file.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)
    steps = check_macro(read_macros(folder), name, model, {})
    print(f"{file}: version {version}, {len(steps)} steps")
