"""Which version of a macro ran where, with which delay and outcome: lines of JSON beside its file [US5231693]."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

from telerobot_nodes.errors import TelerobotError


class NotTestedError(TelerobotError):
    """A macro was not tested with these numbers on this robot; nothing was sent."""


class Place(Enum):
    """Where a macro ran."""

    PHYSICS = "physics"  # on the operator's host, without a graph
    PRACTICE = "practice"  # a graph behind an emulated link
    REMOTE = "remote"  # a graph that may have a real arm


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """One run of a macro, whatever its outcome."""

    macro: str
    version: int
    hash: str  # of the macro and all that it used
    robot: str
    arguments: Mapping[str, tuple[float, ...]]  # every parameter
    place: Place
    delay: float  # [s] from the operator to the robot; 0: none
    succeeded: bool
    reason: str  # why it stopped; empty: it did not
    override: bool  # it ran although it was not tested
    date: str  # ISO 8601, UTC

    def same_numbers(self, other: RunRecord) -> bool:
        """Whether the other run sent the same numbers to the same robot."""
        return (self.hash, self.robot, dict(self.arguments)) == (other.hash, other.robot, dict(other.arguments))


def records_file(folder: Path, name: str) -> Path:
    """The file of the runs of a macro."""
    return folder / f"{name}.runs.jsonl"


def add_record(folder: Path, record: RunRecord) -> None:
    """Append a run; it is on disk when this returns. Raises TelerobotError."""
    line = json.dumps({**dataclasses.asdict(record), "place": record.place.value}) + "\n"
    file = records_file(folder, record.macro)
    try:
        torn = file.exists() and not file.read_bytes().endswith(b"\n")
        with file.open("a", encoding="utf-8") as stream:
            stream.write("\n" * torn + line)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise TelerobotError(f"the run was not recorded in {file}: {error.strerror or error}") from None


def records_of(folder: Path, name: str) -> tuple[RunRecord, ...]:
    """The runs of a macro, oldest first; a torn line is left out. Raises TelerobotError."""
    file = records_file(folder, name)
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    except OSError as error:
        raise TelerobotError(f"{file} is not readable: {error.strerror or error}") from None
    found = (_record(line) for line in lines)
    return tuple(record for record in found if record is not None)


_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("macro", "hash", "robot", "reason", "date"), str),
    **dict.fromkeys(("succeeded", "override"), bool),
    "version": int,
    "delay": (int, float),
}


def _record(line: str) -> RunRecord | None:
    try:
        raw = json.loads(line)
        arguments = {name: tuple(float(item) for item in value) for name, value in raw.pop("arguments").items()}
        record = RunRecord(**{**raw, "place": Place(raw["place"]), "arguments": arguments})
        return record if all(isinstance(getattr(record, name), kind) for name, kind in _KINDS.items()) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def test_of(wanted: RunRecord, records: tuple[RunRecord, ...]) -> RunRecord | None:
    """The newest successful run of the same numbers on the same robot, that was no override; None: it is not tested."""
    right = [run for run in records if run.succeeded and not run.override and run.same_numbers(wanted)]
    return right[-1] if right else None


def require_test(wanted: RunRecord, records: tuple[RunRecord, ...]) -> None:
    """Raise NotTestedError for a run at the remote robot that was neither tested before nor is an override."""
    if wanted.place is not Place.REMOTE or wanted.override or test_of(wanted, records) is not None:
        return
    others = [run for run in records if run.hash == wanted.hash and run.succeeded]
    near = f"it was on {others[-1].robot} with {_numbers(others[-1])}; " if others else ""
    raise NotTestedError(
        f"{wanted.macro} ({wanted.hash[:12]}) is not tested on {wanted.robot} with {_numbers(wanted)}; {near}"
        "allowed: after `telerobot macro test`, or with --override"
    )


def _numbers(record: RunRecord) -> str:
    said = (f"{name}={' '.join(f'{item:g}' for item in value)}" for name, value in record.arguments.items())
    return ", ".join(said) or "no parameters"
