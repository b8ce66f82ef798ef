"""The page of docs/ made from the result of the fault runner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from telerobot_nodes.bench.faults.rows import Verdict

HEAD = """# Faults

Made by `telerobot bench faults`; no line is written by hand. Each row is a fault done to the graph as its users start
it: `telerobot up robot --hosts FILE` and `telerobot up operator --hosts FILE` in two ROS domains of one machine, an
emulated network between them (delay, loss, doubles, order, rate, cuts of datagrams), a recorded hand as operator. An
observer in each domain judges by what it receives, not by what a node claims. `d` is the one-way delay.
"""


def markdown(result: Mapping[str, Any]) -> str:
    """The page. Names no host and no path."""
    rows = sorted(result["figures"]["rows"].values(), key=lambda entry: int(entry["row"]))
    count = Counter(entry["verdict"] for entry in rows)
    summary = ", ".join(f"{count[verdict.value]} {verdict.value}" for verdict in Verdict if count[verdict.value])
    lines = [HEAD, _conditions(result, rows), "", f"Of {len(rows)} rows: {summary}.", ""]
    lines += ["| # | fault | what must hold | result |", "|---|---|---|---|"]
    lines += [
        f"| [{entry['row']}](#row-{entry['row']}) | {_cell(entry['fault'])} | {_cell(entry['must'])} "
        f"| {entry['verdict']} |"
        for entry in rows
    ]
    for entry in rows:
        lines += ["", *_section(entry)]
    lines += _reviews(result["figures"].get("reviews", []))
    return "\n".join(lines) + "\n"


def _conditions(result: Mapping[str, Any], rows: list[dict[str, Any]]) -> str:
    machine = result["conditions"]["machine"]
    run = [entry for entry in rows if "conditions" in entry]
    dates = sorted(str(entry["conditions"]["time"])[:10] for entry in run)
    loads = [float(entry["conditions"]["machine"]["load_1min"]) for entry in run]
    if not run:
        return "No row was run."
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return (
        f"Run {when} on {machine['usable_cores']} cores ({machine['processor']}), {machine['system']}, "
        f"Python {result['conditions']['versions']['python']}; 1-minute load at the end of a row "
        f"{min(loads):.1f} to {max(loads):.1f}. Both hosts, the network and both observers share these cores."
    )


def _section(entry: Mapping[str, Any]) -> list[str]:
    lines = [f"## Row {entry['row']}", "", f"{_sentence(entry['fault'])} {_sentence(entry['did'])}".rstrip(), ""]
    lines += [f"Result: {entry['verdict']}."]
    if entry["untried"]:
        lines += ["", f"Not tried here: {_sentence(entry['untried'])}"]
    if entry["goals"]:
        lines += ["", "| observed | value | goal | |", "|---|---|---|---|"]
        lines += [_goal(entry["row"], goal) for goal in entry["goals"]]
    if entry.get("cause"):
        lines += ["", f"Cause: {_sentence(entry['cause'])}"]
    if entry["observed"]:
        lines += ["", _sentence(entry["observed"])]
    return lines


def _goal(row: int, goal: Mapping[str, Any]) -> str:
    unit = "" if goal["unit"] == "-" else f" {goal['unit']}"
    value = goal["value"]
    text = "never" if value in (float("inf"), None) else f"{value:.3g}{unit}"
    name = str(goal["name"]).removeprefix(f"row {row}: ")
    bound = f"{goal['op']} {goal['goal']:g}{unit}".replace("<=", "at most").replace(">=", "at least").replace("== ", "")
    return f"| {_cell(name)} | {text} | {bound} | {'met' if goal['met'] else '**missed**'} |"


def _reviews(reviews: list[dict[str, Any]]) -> list[str]:
    if not reviews:
        return []
    lines = ["", "## The recordings, judged afterwards", "", "| recording | observed | value | |", "|---|---|---|---|"]
    for one in reviews:
        lines += [
            f"| {one['name']} | {goal['name'].partition(': ')[2]} | {goal['value']:g} "
            f"| {'met' if goal['met'] else '**missed**'} |"
            for goal in one["goals"]
        ]
    unread = [recording["error"] for one in reviews for recording in one["recordings"] if recording["error"]]
    return lines + [line for error in unread for line in ("", f"Not read: {_sentence(error)}")]


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def _sentence(text: str) -> str:
    text = text.strip().replace("\n", " ")
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
