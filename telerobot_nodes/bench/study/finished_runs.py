"""A file of runs that are finished, so that a study of hours may be stopped and go on later.

What belongs here: one JSON line per run; runs of other sources do not count. What must never enter: how a run is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from telerobot_nodes.bench.study.performance import Performance
from telerobot_nodes.errors import InvalidValueError

PACKAGE = Path(__file__).parents[2]
Job = tuple[str, str, str, float, int]  # task, condition, strategy, round trip, seed


class FinishedRuns:
    """Runs that the present sources have finished, in memory and in a file."""

    def __init__(self, file: Path | None = None) -> None:
        """Read the `file` if it exists; None: keep nothing. Raises InvalidValueError on a line that is none of ours."""
        self._file, self._sources = file, sources_digest()
        self._found: dict[Job, Performance] = {}
        if file is not None and file.exists():
            self._read(file)

    def __contains__(self, job: Job) -> bool:
        """Whether the run is finished."""
        return job in self._found

    def __getitem__(self, job: Job) -> Performance:
        """Return a finished run."""
        return self._found[job]

    def add(self, job: Job, performance: Performance) -> None:
        """Keep a run."""
        self._found[job] = performance
        if self._file is not None:
            line = {"sources": self._sources, "job": job, **asdict(performance)}
            with self._file.open("a") as stream:
                stream.write(json.dumps(line) + "\n")

    def _read(self, file: Path) -> None:
        lines = file.read_text().splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            if number == len(lines) and not line.endswith("\n"):  # cut when the study was stopped
                file.write_text("".join(lines[:-1]))
                break
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InvalidValueError("runs", f"{file}:{number}", "allowed: a file written by this study") from None

    def _take(self, line: Mapping[str, Any]) -> None:
        values = dict(line)
        sources, job = values.pop("sources"), values.pop("job")
        task, condition, strategy, round_trip, seed = job
        if sources == self._sources:
            self._found[task, condition, strategy, float(round_trip), int(seed)] = Performance(**values)


def sources_digest() -> str:
    """16 hex digits that change with any source of the package."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
