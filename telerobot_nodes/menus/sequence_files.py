"""Sequences that a person builds leaf by leaf: macros of the operator's own folder, a menu of their own [US5231693].

A step is added at the end of the file, which stays the person's: its comments and edits are kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, ParameterFileError, TelerobotError
from telerobot_nodes.macros import OWN, MacroFolder, check_text, motion_of
from telerobot_nodes.menus.leaf import Leaf, leaf_of
from telerobot_nodes.menus.menu import WORD, Entry, Menu

MENU = "sequences"  # name of the menu of macros that no menu file names
LAST = 1000  # its place
HEAD = "macro: {name}\nversion: 1\ndoc: Built from the menus.\nmotion: {motion}\nsteps:\n"


def sequence_folder(menus: Path) -> Path:
    """The folder of the operator's macros: beside his menus, or ./macros where the menus are the package's own."""
    return OWN if menus.resolve() == share_path("config/menus").resolve() else menus.resolve().parent / OWN


def sequences_of(macros: MacroFolder, named: Collection[str], robot: RobotModel) -> tuple[Menu, dict[str, Leaf]] | None:
    """A menu of the macros that no menu file names, with its leaves; None: there are none.

    A macro that this robot cannot run is left out: its file, not the menu, is to be mended.
    """
    leaves: dict[str, Leaf] = {}
    for name, macro in macros.macros.items():
        if name not in named and WORD.fullmatch(name):
            path = f"{MENU}/{name}"
            with contextlib.suppress(TelerobotError):
                leaves[path] = leaf_of(path, Entry(name, macro.doc, macro=name), robot, macros)
    if not leaves:
        return None
    return Menu(MENU, "Macros of your own folder.", LAST, tuple(leaf.entry for leaf in leaves.values())), leaves


def add_step(folder: Path, name: str, leaf: Leaf, values: Mapping[str, Any], robot: RobotModel) -> int:
    """Add a leaf with its values to the end of the macro `name`, which may be new; returns the number of its steps.

    Nothing changes, and InvalidValueError or ParameterFileError is raised, when the whole would not be a macro that
    runs on `robot`: a macro in it is of another folder, or a place is asked for in a relative one.
    """
    if not WORD.fullmatch(name):
        raise InvalidValueError("sequence", name, "allowed: small letters, digits and _, a letter first")
    file = folder / f"{name}.yaml"
    text = with_step(_text(file), name, leaf, values)
    steps = _checked(folder, name, text, robot)
    folder.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)
    return steps


def with_step(before: str, name: str, leaf: Leaf, values: Mapping[str, Any]) -> str:
    """The file of the macro `name` with a leaf as its last step; `before`: as it is, empty: there is none."""
    before = before or HEAD.format(name=name, motion=motion_of(values))
    word = leaf.path.rsplit("/", 1)[-1]
    label = next(label for number in count(1) if (label := f"{word}_{number}") not in before)
    kind = "primitive" if leaf.entry.primitive else "macro"
    step = {"step": label, kind: leaf.runs, "values": dict(values)}
    line = yaml.safe_dump(step, sort_keys=False, default_flow_style=True, width=10**6).strip()
    return f"{before.rstrip()}\n  - {line}\n"


def _checked(folder: Path, name: str, text: str, robot: RobotModel) -> int:
    """Number of steps of the macro that the file would be."""
    try:
        return check_text(folder, name, text, robot)
    except ParameterFileError as error:
        why = str(error).partition(": ")[2]  # without the name of the copy
        raise InvalidValueError("sequence", name, f"not added: {why}") from None


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""
