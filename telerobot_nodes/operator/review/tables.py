"""A reviewed run as CSV files, one per table; every time is the receipt [s, from the bag's start]."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review.review import Review
from telerobot_nodes.operator.review.run_record import Ended, Rows

Table = tuple[list[str], Iterable[Sequence[Any]]]  # heads with units, and rows


def write_tables(found: Review, folder: Path) -> list[Path]:
    """Write one file for each table of the run; returns the files. The folder is made.

    Raises InvalidValueError when the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(folder / f"{name}.csv", table) for name, table in tables(found).items()]
    except OSError as error:
        raise InvalidValueError("csv", str(folder), f"allowed: a folder that can be written; {error}") from None


def tables(found: Review) -> dict[str, Table]:
    """Every table by the name of its file."""
    run, path, executed = found.run, found.path, found.executed
    events = ([event.time, event.source, event.kind.value, event.text] for event in run.events)
    plan = np.column_stack((path.laid_at, path.seq, path.plan_time, path.position))
    tool = np.column_stack((executed.time, executed.position, executed.error))
    return {
        "events": (["time [s]", "who", "kind", "what"], events),
        "plan": (["time [s]", "point", "plan time [s]", "x [m]", "y [m]", "z [m]"], plan.tolist()),
        "executed": (
            ["time [s]", "first point", "last point"],
            ([entry.time, entry.first_seq, entry.last_seq] for entry in run.executed),
        ),
        "tool": (["time [s]", "x [m]", "y [m]", "z [m]", "error [m]"], tool.tolist()),
        "joints": _joints(run.joints, [f"{name} [rad]" for name in run.joint_names]),
        "controls": _columns(
            run.controls,
            {
                "time": "time [s]",
                "time_clutch": "time clutch",
                "position_clutch": "position clutch",
                "orientation_clutch": "orientation clutch",
                "time_ratio": "time ratio",
                "linear_scale": "linear scale",
                "angular_scale": "angular scale",
                "brake_rate": "brake [plan s/s]",
                "gripper": "gripper [m]",
                "trial_length": "trial path [points]",
            },
        ),
        "lead": _columns(run.forward, {"time": "time [s]", "head_time": "plan's end [s]", "lead": "lead [s]"}),
        "forces": _forces(run.wrench),
        "commands": _ended(run.ended),
        "primitives": _ended(run.primitives),
    }


def _write(file: Path, table: Table) -> Path:
    heads, rows = table
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(heads)
        writer.writerows(rows)
    return file


def _columns(rows: Rows, heads: dict[str, str]) -> Table:
    return list(heads.values()), zip(*(rows.array(name).tolist() for name in heads), strict=True)


def _joints(rows: Rows, names: list[str]) -> Table:
    position = rows.array("position").reshape(len(rows), -1) if len(rows) else np.empty((0, len(names)))
    return ["time [s]", *names], np.column_stack((rows.array("time"), position)).tolist()


def _forces(rows: Rows) -> Table:
    heads = [f"{name} {axis} [{unit}]" for name, unit in (("force", "N"), ("torque", "N m")) for axis in "xyz"]
    values = [rows.array(name).reshape(-1, 3) for name in ("force", "torque")]
    return ["time [s]", *heads], np.column_stack((rows.array("time"), *values)).tolist()


def _ended(entries: Iterable[Ended]) -> Table:
    rows = ([entry.start, entry.end, entry.name, "succeeded" if entry.succeeded else "not"] for entry in entries)
    return ["from [s]", "to [s]", "name", "outcome"], rows
