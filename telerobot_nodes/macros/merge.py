"""The file of a macro is changed: steps are inserted, all else stays, and no file that fails its check is written.

Steps are inserted into the text, which is not made anew from its values: comments and layout are kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import yaml

from telerobot_nodes.core.config import FileMapping, parse_yaml, read_yaml_text
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, ParameterFileError, TelerobotError
from telerobot_nodes.macros.check import check_macro
from telerobot_nodes.macros.learn import learned_steps
from telerobot_nodes.macros.macro import Macro
from telerobot_nodes.macros.macro_files import MacroFolder, read_macros
from telerobot_nodes.macros.track import Track

_LONG = 10**6  # characters of a line that is not broken


def require_fit(macro: Macro, motion: str, after: str) -> int:
    """The place, from 0, of steps after the step `after` of a macro; empty: at its end.

    `motion`: absolute or relative, as it was asked for; empty: the macro's own. Raises InvalidValueError.
    """
    if motion not in ("", macro.motion):
        raise InvalidValueError("motion", motion, f"allowed: {macro.motion}, as {macro.name} is")
    names = [step.name for step in macro.steps]
    if after not in ("", *names):
        raise InvalidValueError("after", after, f"allowed: {', '.join(names)}")
    return names.index(after) + 1 if after else len(names)


def merged(folder: MacroFolder, name: str, track: Track, motion: str = "", after: str = "", word: str = "") -> str:
    """The file of a macro with the steps that repeat a track: `motion` and `after` as of `require_fit`.

    The names of the new steps begin with `word`. An absolute macro first moves to where the motion began, a relative
    one continues. Raises NoMacroError, ParameterFileError, and InvalidValueError: nothing moved, or it does not fit.
    """
    macro = folder.get(name)
    place = require_fit(macro, motion, after)
    steps = learned_steps(track, macro.motion == "absolute", [step.name for step in macro.steps], word)
    file = folder.folder / f"{name}.yaml"
    return with_steps(read_yaml_text(file), str(file), steps, place)


def with_steps(text: str, shown: str, steps: Sequence[Mapping[str, Any]], place: int) -> str:
    """The text of a macro's file with steps before the step number `place`, from 0, and its version raised by one.

    Raises ParameterFileError, and InvalidValueError for a layout into which nothing can be inserted.
    """
    before = parse_yaml(text, shown)
    keys = {key.value: value for key, value in yaml.compose(text, Loader=yaml.SafeLoader).value}
    rows, version = keys["steps"], keys["version"]
    if not isinstance(rows, yaml.SequenceNode):
        _refuse(shown)
    edits = [(version.start_mark.index, version.end_mark.index, str(before["version"] + 1))]
    if rows.flow_style:
        at = rows.value[place - 1].end_mark.index
        line = yaml.safe_dump(list(steps), sort_keys=False, default_flow_style=True, width=_LONG).strip()[1:-1]
        edits.append((at, at, f", {line}"))
    else:
        at = _end_of_line(text, rows.value[place - 1])
        lines = yaml.safe_dump(list(steps), sort_keys=False, default_flow_style=None, width=_LONG).splitlines(True)
        break_before = "" if text[:at].endswith("\n") else "\n"
        edits.append((at, at, break_before + "".join(" " * rows.start_mark.column + line for line in lines)))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    wanted = {**before, "version": before["version"] + 1}
    wanted["steps"] = [*before["steps"][:place], *steps, *before["steps"][place:]]
    if _parsed(text, shown) != wanted:  # aliases, for example, stand elsewhere than where they are used
        _refuse(shown)
    return text


def check_text(folder: Path, name: str, text: str, robot: RobotModel) -> int:
    """Number of steps of the macro that a file of this text would be, among copies of the others of its folder.

    Nothing is written. Raises ParameterFileError with the name of a copy, NoMacroError, InvalidValueError.
    """
    with TemporaryDirectory(prefix="telerobot-") as copy:
        for file in folder.glob("*.yaml") if folder.is_dir() else ():
            (Path(copy) / file.name).symlink_to(file.resolve())
        whole = Path(copy) / f"{name}.yaml"
        whole.unlink(missing_ok=True)
        whole.write_text(text, encoding="utf-8")
        macros = read_macros(Path(copy))
        macro = macros.get(name)
        check_macro(macros, name, robot, {})
        return len(macro.steps)


def replace_macro(folder: Path, name: str, text: str, robot: RobotModel) -> int:
    """Write the file of a macro, whole or not at all, if it is one that `robot` can run; the number of its steps.

    The folder is made. Nothing is written, and InvalidValueError or TelerobotError raised, when it is none, or the disk
    refuses it.
    """
    try:
        steps = check_text(folder, name, text, robot)
    except ParameterFileError as error:
        why = str(error).partition(": ")[2]  # without the name of the copy
        raise InvalidValueError("macro", name, f"not written: {why}") from None
    except OSError as error:
        raise TelerobotError(f"{name} was not written: no copy for its check; {error.strerror or error}") from None
    file = folder / f"{name}.yaml"
    fresh = file.with_suffix(".new")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise TelerobotError(f"{file} was not written: {error.strerror or error}") from None
    return steps


def _end_of_line(text: str, node: yaml.Node) -> int:
    """Where the line after a node of a block begins, or the text ends."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    at: int = node.end_mark.index
    if at > 0 and text[at - 1] == "\n":  # of a text in a block, `|`
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _refuse(shown: str) -> NoReturn:
    raise InvalidValueError("into", shown, "allowed: a file with its steps in a plain list, `- step: ...` each")


def _parsed(text: str, shown: str) -> FileMapping | None:
    with contextlib.suppress(ParameterFileError):
        return parse_yaml(text, shown)
    return None
