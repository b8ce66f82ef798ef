"""`telerobot macro edit NAME`: a macro in the person's editor; the file changes only when the macro can run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

import typer

from telerobot_nodes.cli.macro.words import Name, RobotName, macros_of, model_of
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.macros import OWN, check_macro, check_name, read_macros, replace_macro

EDITORS = ("nano", "vi")  # tried when neither VISUAL nor EDITOR is set
NEW = """\
macro: {name}
version: 1
doc: What it does, in one sentence.
motion: relative
steps:
  - step: up
    primitive: cartesian_guarded
    values: {{tr_rel_dest: [0, 0, -0.02, 0, 0, 0, 1], time_vel_sel: velocity, time_vel_val: 0.05}}
"""
NOT_DONE = 1


def edit(
    name: Name,
    folder: Annotated[Path, typer.Option(help="Folder of the file; another's macro is copied into it.")] = OWN,
    robot: RobotName = "arm",
) -> None:
    """Change a macro in your editor (VISUAL, EDITOR), or begin one; the file is replaced when it is right.

    A draft that cannot run is opened again as often as you like. Given up, it is kept and its place is told; so it is
    when somebody else has changed the file meanwhile.
    """
    check_name(name)
    model, editor, file = model_of(robot), _editor(), folder / f"{name}.yaml"
    before = _text(name, file)
    draft = Path(mkdtemp(prefix="telerobot-")) / file.name
    for other in folder.glob("*.yaml"):  # it may use them
        shutil.copy(other, draft.parent)
    draft.write_text(before, encoding="utf-8")
    while (why := _edited(editor, draft, model)) and _again(why):
        pass
    if why:
        print(f"{file} is as it was; your draft: {draft if draft.exists() else 'none, it was deleted'}")
        raise typer.Exit(NOT_DONE)
    text = draft.read_text(encoding="utf-8")
    if text == before and file.exists():
        print(f"{file} is as it was")
    elif _text(name, file) != before:
        print(f"{file} was changed meanwhile and is left as it is; your draft: {draft}", file=sys.stderr)
        raise typer.Exit(NOT_DONE)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        steps = replace_macro(file.parent, name, text, model)
        print(f"{file}: {steps} steps; not tested in this form")
    shutil.rmtree(draft.parent)


def _editor() -> list[str]:
    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    try:
        words = shlex.split(wanted) if wanted else [next(filter(shutil.which, EDITORS), "")]
    except ValueError:  # a quotation without an end
        words = []
    if not words or not shutil.which(words[0]):
        raise InvalidValueError("EDITOR", wanted or "", "allowed: a program that edits a file, for example nano")
    return words


def _text(name: str, file: Path) -> str:
    """The macro's file; that of the same name among the default ones; or a beginning."""
    if file.exists():
        return file.read_text(encoding="utf-8")
    shared = macros_of(None)
    if name in shared.macros:
        return (shared.folder / file.name).read_text(encoding="utf-8")
    return NEW.format(name=name)


def _edited(editor: list[str], draft: Path, robot: RobotModel) -> str:
    """Open the draft and check it; what is wrong with it, or an empty text."""
    try:
        subprocess.run([*editor, str(draft)], check=True)
        check_macro(read_macros(draft.parent), draft.stem, robot, {})
    except (TelerobotError, subprocess.CalledProcessError, OSError) as error:
        return str(error)
    return ""


def _again(why: str) -> bool:
    print(why, file=sys.stderr)
    return sys.stdin.isatty() and typer.confirm("edit it again?", default=True)
