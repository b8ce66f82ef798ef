"""Form of every benchmark's result: conditions, figures, goals; written to a file."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.errors import InvalidValueError

PACKAGES = ("numpy", "numba", "pin", "coal", "mujoco", "ruckig", "ompl")

_COMPARE = {"<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "==": lambda a, b: a == b}


def conditions(seed: int | None = None) -> dict[str, Any]:
    """Return the conditions of a measurement: machine, load, versions, seed."""
    return {
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "usable_cores": len(os.sched_getaffinity(0)),
            "system": f"{platform.system()} {platform.release()}",
            "load_1min": round(os.getloadavg()[0], 2),
        },
        "versions": {"python": platform.python_version(), **_versions()},
        "seed": seed,
    }


def goal(name: str, value: float, unit: str, op: str, goal: float) -> dict[str, Any]:
    """Compare one figure with its goal; `op` is <=, >= or ==. Raises InvalidValueError."""
    if op not in _COMPARE:
        raise InvalidValueError("goal.op", op, f"allowed: {', '.join(_COMPARE)}")
    number = float(value)
    met = bool(np.isfinite(number) and _COMPARE[op](number, goal))
    return {"name": name, "value": number, "unit": unit, "op": op, "goal": float(goal), "met": met}


def result(
    conditions: Mapping[str, Any], figures: Mapping[str, Any], goals: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the dictionary that a benchmark's `run` returns."""
    return {"conditions": dict(conditions), "figures": dict(figures), "goals": [dict(entry) for entry in goals]}


def quantiles(seconds: Sequence[float] | np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
    """Return median, p90, p99 and maximum of durations [s], in microseconds."""
    values = np.asarray(seconds) * 1e6
    p50, p90, p99 = np.percentile(values, (50, 90, 99))
    return {
        "median_us": round(float(p50), 2),
        "p90_us": round(float(p90), 2),
        "p99_us": round(float(p99), 2),
        "max_us": round(float(values.max()), 2),
        "count": int(values.size),
    }


def write(file: str | Path, result: Mapping[str, Any]) -> None:
    """Write `result` as JSON into `file`, whole or not at all."""
    path = Path(file)
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(result, indent=2, default=_plain) + "\n")
    draft.replace(path)


def text(result: Mapping[str, Any]) -> str:
    """Format the goals as lines for a terminal."""
    lines = []
    for entry in result["goals"]:
        mark = "met   " if entry["met"] else "MISSED"
        lines.append(
            f"{mark} {entry['name']}: {entry['value']:.4g} {entry['unit']} (goal {entry['op']} {entry['goal']:g})"
        )
    return "\n".join(lines) or "no goals; --json FILE writes the figures"


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a benchmark's result")


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
