"""The summary of a study with people: the table and the picture of the delay study, endings, touches, workload."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from telerobot_nodes.study.design import CONDITIONS, Ending, StudySettings
from telerobot_nodes.study.results.intervals import mean_interval
from telerobot_nodes.study.results.study_folder import StudyFolder
from telerobot_nodes.study.results.tables import draw, text, time_rows
from telerobot_nodes.study.results.trial_result import TrialResult

SUMMARY, TABLE, PLOT = "summary.json", "table.txt", "study.png"


def summarize(settings: StudySettings, results: Sequence[TrialResult]) -> dict[str, Any]:
    """Figures of a study: for each task as for the scripted operator, with endings, touches and workload.

    A task time is that of a trial in which the last target was reached; the others are counted by their ending.
    """
    delays = sorted(settings.delays)
    tasks: dict[str, Any] = {}
    for name in settings.tasks:
        rows = _Cells([result for result in results if result.trial.task == name], delays)
        tasks[name] = {"round_trip_s": delays, **rows.all()}
    return {
        "people": len({result.person for result in results}),
        "scripted": settings.scripted,
        "trials": len(results),
        "conditions": dict(CONDITIONS),
        "tasks": tasks,
        "text": "\n\n".join(_text(name, delays, tasks[name]) for name in settings.tasks),
    }


def write_summary(folder: StudyFolder) -> str:
    """Write table, picture and figures into the folder of a study; returns the table as text."""
    figures = summarize(folder.settings, folder.results)
    (folder.folder / SUMMARY).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    (folder.folder / TABLE).write_text(figures["text"] + "\n", encoding="utf-8")
    if any(result.ending is Ending.REACHED for result in folder.results):
        draw({name: (rows["round_trip_s"], rows) for name, rows in figures["tasks"].items()}, folder.folder / PLOT)
    return str(figures["text"])


class _Cells:
    """The results of one task by condition and delay."""

    def __init__(self, results: Iterable[TrialResult], delays: Sequence[float]) -> None:
        self._delays = delays
        self._cells: dict[tuple[str, float], list[TrialResult]] = {}
        for result in results:
            self._cells.setdefault((result.trial.condition, result.trial.round_trip), []).append(result)

    def all(self) -> dict[str, Any]:
        """Every row: a condition each, with a column for each delay."""
        times: dict[tuple[str, float], dict[str, float]] = {
            key: {result.person: result.seconds for result in cell if result.seconds is not None}
            for key, cell in self._cells.items()
        }
        return {
            **time_rows(self._delays, times),
            "endings": self._row(lambda cell: {e.value: sum(one.ending is e for one in cell) for e in Ending}),
            "touches_mean": self._row(lambda cell: float(np.mean([one.touches for one in cell]))),
            "workload": self._row(lambda cell: mean_interval([one.workload.score for one in cell])),
        }

    def _row(self, value: Any) -> dict[str, list[Any]]:
        cells = {c: [self._cells.get((c, d), []) for d in self._delays] for c in CONDITIONS}
        return {c: [value(cell) if cell else None for cell in row] for c, row in cells.items()}


def _text(name: str, delays: Sequence[float], rows: dict[str, Any]) -> str:
    """The table of task times, and below it what it does not tell."""
    lines = [text(name, delays, rows), "workload 0 .. 100 (trials that reached the last target, of all)"]
    for condition, title in CONDITIONS.items():
        cells = zip(rows["workload"][condition], rows["endings"][condition], strict=True)
        lines.append(f"({condition}) {title}".ljust(42) + "".join(_shown(*cell) for cell in cells))
    return "\n".join(lines)


def _shown(workload: Sequence[float] | None, endings: dict[str, int] | None) -> str:
    if workload is None or endings is None:
        return "-".rjust(14)
    counted = f"({endings[Ending.REACHED.value]}/{sum(endings.values())})"
    return f"{workload[0]:.0f} {counted}".rjust(14)
