"""The benchmarks of the command line, and the options of each: `--option key=value`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from telerobot_nodes.errors import InvalidValueError


class Kind(Enum):
    """What the value of an option is, in the words of a refusal."""

    COUNT = "a whole number from 1"
    NUMBER = "a whole number from 0"
    AMOUNT = "a finite number from 0"
    TEXT = "a text"
    NUMBERS = "finite numbers above 0, with commas"
    SWITCH = "true, false, yes, no, 1 or 0"
    COUNT_OR_FOLDER = "a whole number from 1, or a folder"


C, N, A, T, L, S, F = Kind
_ON, _OFF = ("true", "yes", "1"), ("false", "no", "0")


@dataclass(frozen=True)
class Benchmark:
    """One benchmark: its module under `telerobot_nodes.bench`, which holds `run(options) -> dict`, and its options."""

    module: str
    options: Mapping[str, Kind] = field(default_factory=dict)


BENCHMARKS: Mapping[str, Benchmark] = {
    "control-loop": Benchmark(
        "contact.control_loop", {"seconds": A, "steps": C, "graph": A, "rates": L, "duration": A}
    ),
    "idle": Benchmark("rtc.idle", {"seconds": A, "robot": T, "folder": T}),
    "hands": Benchmark("plan.hands", {"hands": T, "robot": T, "delay": A, "loss": A, "folder": T}),
    "planner": Benchmark("planner.planner", {"robot": T, "problems": F, "seed": N, "check": S, "budget": A, "step": A}),
    "planner-growth": Benchmark("planner.planner_growth", {"problems": C, "image": T, "proof": T}),
    "clearance": Benchmark("planner.clearance", {"configurations": C, "free": C, "families": T, "seed": N}),
    "clouds": Benchmark("planner.clouds", {"robot": T, "problems": C, "seed": N, "voxels": C}),
    "queue": Benchmark("plan.queue", {"points": L, "operations": C}),
    "executor": Benchmark("plan.executor", {"robot": T, "points": L, "ticks": C}),
    "simulation": Benchmark("plan.simulation", {"robot": T, "points": C, "batch": C}),
    "interleavings": Benchmark("plan.interleavings", {"examples": C, "machines": T, "seed": N}),
    "mutants": Benchmark("plan.mutants", {"mutants": C, "seed": N, "first": N, "limit": A, "baseline": S}),
    "delay-study": Benchmark(
        "study.delay_study", {"seeds": C, "tasks": T, "delays": T, "processes": C, "plot": T, "runs": T}
    ),
    "promises": Benchmark("study.promises", {"parts": T, "trials": C, "hours": A, "handoffs": C, "seed": N}),
    "executed": Benchmark("plan.executed", {"windows": C, "faults": T, "plans": T, "seed": N, "limit": A}),
    "ingest": Benchmark("plan.ingest", {"points": C, "robot": T}),
    "gcmsf": Benchmark("contact.gcmsf", {"steps": C, "seed": N}),
    "rtc": Benchmark("rtc.rtc", {"repeats": C, "seed": N, "config": T}),
    "skills": Benchmark(
        "rtc.skills", {"config": T, "physics": C, "graph": C, "seed": N, "skills": T, "planner": S, "limit": A}
    ),
    "halt": Benchmark("rtc.halt", {"halts": C, "parallel": N, "flood": A, "speeds": L, "seed": N}),
    "stops": Benchmark("rtc.stops", {"halts": C, "ways": T, "seed": N}),
    "touch": Benchmark("contact.touch", {"speeds": L, "seed": N, "image": T, "pin": T}),
    "contact": Benchmark("contact.contact", {"parts": T, "motions": C, "seed": N}),
    "guard": Benchmark("contact.guard", {"motions": C, "seed": N, "robot": T, "guard": S, "processes": C, "rows": T}),
    "reflect": Benchmark(
        "contact.reflect",
        {"seed": N, "seconds": A, "stiffness": A, "jitter": A, "loss": A, "image": T, "drawing": T},
    ),
    "link": Benchmark("link.link", {"halts": C, "seconds": A, "cuts": N, "delay": A, "loss": A, "domain": N}),
    "security": Benchmark("security.security", {"count": C, "seconds": A, "blocks": N, "domain": N, "seed": N}),
    "faults": Benchmark("faults.faults", {"rows": T, "domain": N, "folder": T, "page": T, "minutes": A, "seed": N}),
    "join": Benchmark(
        "join.join",
        {"parts": T, "processes": C, "together": C, "limit": A, "hog": S, "seconds": A, "without": T, "domain": N},
    ),
    "soak": Benchmark("soak.soak", {"minutes": A, "hours": A, "every": A, "folder": T, "without": T, "domain": N}),
    "driver": Benchmark("driver.driver", {"stops": N, "demo": S, "robots": T, "rates": L, "folder": T}),
    "two-arms": Benchmark(
        "two_arms.two_arms",
        {"tasks": C, "first": N, "seed": N, "processes": C, "rows": T, "moved_by": A, "turns_every": C}
        | dict.fromkeys(("field", "scheduled", "mismatch"), S),
    ),
    "force-field": Benchmark("two_arms.force_field", {"robot": T, "steps": C, "seed": N, "obstacles": N}),
    "console": Benchmark(
        "console.console", {"presses": C, "points": C, "seconds": A, "camera": S, "arms": C, "period": A, "image": T}
    ),
    "review": Benchmark("review.review", {"bag": T}),
    "macros": Benchmark("macros.macros", {"starts": C, "seed": N, "bag": T}),
}


def benchmark_named(name: str) -> Benchmark:
    """The benchmark of this name; raises InvalidValueError."""
    if name not in BENCHMARKS:
        raise InvalidValueError("benchmark", name, f"allowed: {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def checked_options(name: str, pairs: Iterable[str]) -> dict[str, str]:
    """The options `key=value` of a benchmark, each key known and each value of its kind; raises InvalidValueError."""
    known, found = benchmark_named(name).options, dict[str, str]()
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InvalidValueError("--option", pair, "allowed: key=value")
        if key not in known:
            raise InvalidValueError("--option", key, f"allowed for {name}: {', '.join(known)}")
        if key in found:
            raise InvalidValueError("--option", pair, f"allowed: {key} once")
        if not _is_of(known[key], value):
            raise InvalidValueError(f"--option {key}", value, f"allowed: {known[key].value}")
        found[key] = value
    return found


def is_on(options: Mapping[str, Any], key: str) -> bool:
    """Whether a switch is on, as it is without the option."""
    return str(options.get(key, True)).lower() not in _OFF


def chosen(options: Mapping[str, Any], key: str, allowed: Sequence[str]) -> list[str]:
    """The names, separated by commas, of an option, each one of `allowed`; without it all of them.

    Raises InvalidValueError.
    """
    names = str(options.get(key, ",".join(allowed))).split(",")
    for name in names:
        if name not in allowed:
            raise InvalidValueError(key, name, f"allowed: {', '.join(allowed)}")
    return names


def _is_of(kind: Kind, value: str) -> bool:
    if kind is Kind.TEXT:
        return bool(value)
    if kind is Kind.SWITCH:
        return value.lower() in _ON + _OFF
    if kind is Kind.COUNT_OR_FOLDER:
        return Path(value).is_dir() or _is_of(Kind.COUNT, value)
    if kind in (Kind.COUNT, Kind.NUMBER):
        return value.isascii() and value.isdigit() and len(value) < 16 and int(value) >= (kind is Kind.COUNT)
    if kind is Kind.AMOUNT:
        return 0.0 <= _number(value) < math.inf
    return all(0.0 < _number(part) < math.inf for part in value.split(","))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
