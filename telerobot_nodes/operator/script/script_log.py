"""Live scripts in a file: a JSON object a line, each the script of a command at one change.

Written while a command runs, line by line, so that a file that ends early is a file of what happened until then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.errors import InvalidValueError, TelerobotError

FORMAT = {"telerobot_script": 1}  # the first line
TOPIC = "rtc_decision_unit/script"
STEP_FIELDS: dict[str, type] = {
    **dict.fromkeys(("name", "kind", "subsystem", "recovery", "note"), str),
    **dict.fromkeys(("began", "ended"), float),
    "state": int,
}
FIELDS: dict[str, type] = {
    **dict.fromkeys(("command", "origin"), int),
    **dict.fromkeys(("sender", "text", "state", "outcome", "reason"), str),
    "paused": bool,
    "elapsed": float,
}


class ScriptLogError(TelerobotError):
    """A file is no log of live scripts; names file, line and what is wrong."""


@dataclass(frozen=True)
class SavedStep:
    """A step as ScriptStep.msg has it; times [s] since the command began."""

    name: str
    state: StepState
    kind: str
    subsystem: str
    recovery: str
    note: str
    began: float
    ended: float


@dataclass(frozen=True)
class SavedScript:
    """A live script as ScriptState.msg has it, and when it was received [s]."""

    time: float
    command: int
    origin: int
    sender: str
    text: str
    state: str
    paused: bool
    steps: tuple[SavedStep, ...]
    outcome: str
    reason: str
    elapsed: float


class ScriptLog:
    """Writes the messages of live scripts to a file, which is replaced; a context manager."""

    def __init__(self, path: Path) -> None:
        """Raises TelerobotError when the file cannot be written."""
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise ScriptLogError(f"{path}: {error.strerror}") from error
        self._put(FORMAT)

    def write(self, time: float, message: Any) -> None:
        """Add a ScriptState.msg, received at a time [s]."""
        fields = {name: kind(getattr(message, name)) for name, kind in FIELDS.items()}
        steps = [{name: kind(getattr(step, name)) for name, kind in STEP_FIELDS.items()} for step in message.steps]
        self._put({"time": time, **fields, "steps": steps})

    def __enter__(self) -> ScriptLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _put(self, values: object) -> None:
        self._file.write(json.dumps(values) + "\n")
        self._file.flush()


def read_scripts(path: Path) -> list[SavedScript]:
    """The scripts of a log file, or of a recording (folder or .mcap file), in order; raises TelerobotError."""
    return _of_bag(path) if path.is_dir() or path.suffix == ".mcap" else list(_of_file(path))


def _of_bag(path: Path) -> list[SavedScript]:
    """Each script once, also where both sides of a link were recorded."""
    from telerobot_nodes.operator.recording import BagReader  # slow to import

    found: dict[tuple[str, int], SavedScript] = {}
    with BagReader(path) as reader:
        topics = [name for name in reader.topics if name.endswith(TOPIC)]
        for _, time, message in reader.messages(topics):
            key = (str(message.link.sender), int(message.link.number))
            found.setdefault(key, _saved(time, message))
    return list(found.values())


def _saved(time: float, message: Any) -> SavedScript:
    fields = {name: kind(getattr(message, name)) for name, kind in FIELDS.items()}
    steps = ({name: kind(getattr(step, name)) for name, kind in STEP_FIELDS.items()} for step in message.steps)
    return SavedScript(time=time, **fields, steps=tuple(_step(step) for step in steps))


def _step(values: dict[str, Any]) -> SavedStep:
    return SavedStep(**{**values, "state": StepState(values["state"])})


def _of_file(path: Path) -> Iterator[SavedScript]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptLogError(f"{path}: {error}") from error
    if not lines or _values(path, 1, lines[0]) != FORMAT:
        raise ScriptLogError(f"{path}:1: no log of live scripts begins so; `telerobot run --log FILE` writes one")
    for number, line in enumerate(lines[1:], 2):
        values = _values(path, number, line)
        try:
            steps = tuple(_step(_checked(step, STEP_FIELDS)) for step in _list(values.pop("steps", None)))
            yield SavedScript(steps=steps, **_checked(values, {**FIELDS, "time": float}))
        except (TypeError, ValueError) as error:
            raise ScriptLogError(f"{path}:{number}: {error}") from error


def _values(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ScriptLogError(f"{path}:{number}: {error}") from error
    if not isinstance(values, dict):
        raise ScriptLogError(f"{path}:{number}: an object is expected")
    return values


def _list(values: object) -> list[Any]:
    if not isinstance(values, list):
        raise InvalidValueError("steps", values, "a list of objects")
    return values


def _checked(values: object, fields: dict[str, type]) -> dict[str, Any]:
    """The fields, each of its type; raises InvalidValueError."""
    if not isinstance(values, dict) or values.keys() != fields.keys():
        raise InvalidValueError("fields", sorted(values) if isinstance(values, dict) else values, ", ".join(fields))
    for name, kind in fields.items():
        allowed = (int, float) if kind is float else (kind,)
        if type(values[name]) not in allowed:
            raise InvalidValueError(name, values[name], f"a value of type {kind.__name__}")
    return values


def commands_of(scripts: Iterable[SavedScript]) -> dict[int, SavedScript]:
    """The last script of each command, by number."""
    return {script.command: script for script in scripts}
