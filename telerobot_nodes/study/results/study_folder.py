"""The folder of a study with people: its settings and people, one line per trial, and a recording of each.

A trial is in the results once its line is written and on the disk. What a crash cut off in the last line is kept beside
the file, and the trial is done again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.study.design import StudySettings, Trial
from telerobot_nodes.study.results.trial_result import TrialResult, result_from_line

STUDY, RESULTS, CUT = "study.json", "results.jsonl", "results.cut"
SETTINGS, PEOPLE = "settings", "people"
PERSON = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


class StudyFolder:
    """One study on the disk; a context manager. Only one process at a time has it.

    Raises InvalidValueError when the folder is that of another study or in use, ParameterFileError when a file in it
    cannot be read.
    """

    def __init__(self, folder: Path, settings: StudySettings) -> None:
        if folder.exists() and not folder.is_dir():
            raise InvalidValueError("folder", str(folder), "allowed: a folder, or a place for one")
        known = (folder / STUDY).exists()
        if not known and folder.exists() and any(folder.iterdir()):
            raise InvalidValueError("folder", str(folder), f"allowed: an empty folder, or one with {STUDY} in it")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.settings = folder, settings
        self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._take(known)
            self.cut = self._keep_cut()  # what a crash left of the last line; empty: nothing
            self.results = self._read()
        except BaseException:
            os.close(self._lock)
            raise

    def person(self, name: str) -> int:
        """Number of a person of this study, from 0; a new one is added. Raises InvalidValueError."""
        person_name(name)
        if name not in self._people:
            self._people.append(name)
            self._write()
        return self._people.index(name)

    def left(self, name: str) -> tuple[Trial, ...]:
        """The trials that a person has not done yet, in the person's order."""
        done = {result.trial.number for result in self.results if result.person == name}
        return tuple(trial for trial in self.settings.order(self.person(name)) if trial.number not in done)

    def place(self, name: str, trial: Trial) -> Path:
        """A folder of its own for the recording of a trial; those of trials that were broken off stay."""
        stem = f"{trial.number:03d}-{trial.task}-{trial.condition}-{trial.round_trip:g}s"
        attempt = 1
        while (place := self.folder / "trials" / name / (stem if attempt == 1 else f"{stem}.{attempt}")).exists():
            attempt += 1
        place.mkdir(parents=True)
        return place

    def add(self, result: TrialResult) -> None:
        """Write a result; it is on the disk when this returns."""
        with (self.folder / RESULTS).open("a", encoding="utf-8") as file:
            file.write(result.line() + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.results.append(result)

    def close(self) -> None:
        """Leave the folder to others."""
        os.close(self._lock)

    def __enter__(self) -> StudyFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, known: bool) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidValueError("folder", str(self.folder), "it is in use by another `telerobot study`") from None
        self._people: list[str] = []
        if not known:
            self._write()
            return
        held = _study(self.folder / STUDY)
        self._people = held[PEOPLE]
        wanted = _plain(self.settings)
        for key, value in held[SETTINGS].items():
            if wanted.get(key, value) != value:
                shown = ",".join(map(str, value)) if isinstance(value, list) else value
                allowed = f"{self.folder} is the folder of a study with {key} {shown}; allowed: that, or another folder"
                raise InvalidValueError(key, _shown(wanted[key]), allowed)

    def _write(self) -> None:
        draft = self.folder / f"{STUDY}.part"
        draft.write_text(json.dumps({SETTINGS: _plain(self.settings), PEOPLE: self._people}, indent=2) + "\n")
        draft.replace(self.folder / STUDY)

    def _keep_cut(self) -> str:
        """Move the rest of a line without an end out of the results."""
        path = self.folder / RESULTS
        text = path.read_bytes() if path.exists() else b""
        whole, _, rest = text.rpartition(b"\n")
        if not rest:
            return ""
        with (self.folder / CUT).open("ab") as file:
            file.write(rest + b"\n")
        with path.open("r+b") as file:
            file.truncate(len(whole) + 1 if whole else 0)
        return rest.decode("utf-8", "replace")

    def _read(self) -> list[TrialResult]:
        path = self.folder / RESULTS
        found: list[TrialResult] = []
        seen: set[tuple[str, int]] = set()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                result = result_from_line(line)
                self._check(result, seen)
            except InvalidValueError as error:
                problem = f"{_shown(error.value)} is not allowed; {error.allowed}"
                raise ParameterFileError(str(path), number, error.field, problem) from None
            seen.add((result.person, result.trial.number))
            found.append(result)
        return found

    def _check(self, result: TrialResult, seen: set[tuple[str, int]]) -> None:
        """Whether a result is one of this study, and the only one of its trial."""
        if result.person not in self._people:
            raise InvalidValueError("person", result.person, f"allowed: {', '.join(self._people) or 'none yet'}")
        order = self.settings.order(self._people.index(result.person))
        if result.trial not in order:
            raise InvalidValueError("number", result.trial.number, "allowed: a trial as this study orders it")
        if (result.person, result.trial.number) in seen:
            raise InvalidValueError("number", result.trial.number, "allowed: each trial of a person once")


def person_name(name: str) -> str:
    """`name`, if a person of a study and a folder can be called so. Raises InvalidValueError."""
    if not PERSON.fullmatch(name):
        allowed = "allowed: 1 .. 32 letters, digits, _ and -, the first a letter or a digit"
        raise InvalidValueError("person", name, allowed)
    return name


def settings_of(folder: Path) -> StudySettings | None:
    """The settings with which a study was begun; None: there is none in this folder. Raises ParameterFileError."""
    if not (folder / STUDY).is_file():
        return None
    path = folder / STUDY
    held = _study(path)[SETTINGS]
    names = {entry.name for entry in fields(StudySettings)}
    for key in held:
        if key not in names:
            raise ParameterFileError(str(path), 1, key, f"is not known; allowed: {', '.join(sorted(names))}")
    try:
        return StudySettings(**held)
    except (InvalidValueError, TypeError) as error:
        raise ParameterFileError(str(path), 1, SETTINGS, str(error)) from None


def _study(path: Path) -> dict[str, Any]:
    """`study.json`, checked in its form."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        line = getattr(error, "lineno", 1)
        raise ParameterFileError(str(path), line, STUDY, f"cannot be read: {error}") from None
    for key, kind in ((SETTINGS, dict), (PEOPLE, list)):
        if not isinstance(held, dict) or not isinstance(held.get(key), kind):
            raise ParameterFileError(str(path), 1, key, f"is missing; allowed: {SETTINGS} and {PEOPLE}")
    if not all(isinstance(name, str) for name in held[PEOPLE]):
        raise ParameterFileError(str(path), 1, PEOPLE, "allowed: names")
    return dict(held)


def _plain(settings: StudySettings) -> Mapping[str, Any]:
    """The settings as JSON holds them."""
    values: Mapping[str, Any] = json.loads(json.dumps(asdict(settings)))
    return values


def _shown(value: object) -> object:
    return ",".join(map(str, value)) if isinstance(value, list) else value
