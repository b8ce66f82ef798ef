"""`telerobot primitive NAME key=value ...`: runs one primitive and prints its outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from telerobot_nodes.cli.operate import join_graph
from telerobot_nodes.operator.client import pairs

STATES = ("running", "succeeded", "stopped", "refused")
SUCCEEDED = 1


def command(
    name: Annotated[
        str, typer.Argument(help="Primitive, for example cartesian_guarded, joint_guarded, move_to_touch, gcm.")
    ],
    values: Annotated[
        list[str] | None, typer.Argument(help="Parameters as key=value in YAML: tr_rel_dest=[0,0,0.05,0,0,0,1].")
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    limit: Annotated[float, typer.Option(min=0.1, help="Cancel the primitive after this time [s].")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the final report as one JSON object.")] = False,
) -> None:
    """Run one primitive on a running graph; exit code 0: it succeeded, 1: it did not."""
    join_graph()
    run_and_print(name, pairs(values or []), namespace, limit, as_json)


def run_and_print(name: str, values: Mapping[str, str], namespace: str, limit: float, as_json: bool) -> None:
    """Run a primitive with parameters as YAML texts, print its reports and its end, and leave."""
    from telerobot_nodes.nodes.clients import run_primitive

    def show(report: Any) -> None:
        if not as_json:
            print(_line(report))

    report = run_primitive(name, values, namespace, limit, show)
    print(json.dumps(as_values(report)) if as_json else "\n".join(_lines(report)))
    raise typer.Exit(0 if report.state == SUCCEEDED else 1)


def as_values(report: Any) -> dict[str, Any]:
    """A PrimitiveReport as plain values."""
    names = ("id", "name", "phase", "reason", "detail", "gripper", "elapsed", "sensor_distance", "sensor_angle")
    lists = ("joint_position", "tool_pose", "wrench")
    return {
        "state": STATES[report.state],
        **{name: getattr(report, name) for name in names},
        **{name: list(getattr(report, name)) for name in lists},
        "readings": dict(zip(report.reading_names, report.readings, strict=True)),
    }


def _line(report: Any) -> str:
    force = sum(value * value for value in report.wrench[:3]) ** 0.5
    moved = f"{force:6.2f} N, sensors moved {1e3 * report.sensor_distance:.1f} mm"
    return f"{report.elapsed:7.2f} s  {report.phase:<9} {moved}"


def _lines(report: Any) -> list[str]:
    detail = f": {report.detail}" if report.detail else ""
    lines = [f"{report.name} {STATES[report.state]}, {report.reason}{detail}"]
    if report.elapsed:
        lines.append(f"  elapsed   {report.elapsed:.3f} s")
    if len(report.tool_pose):
        lines.append("  tool      " + " ".join(f"{value:.4f}" for value in report.tool_pose))
    lines += [f"  {name:<9} {value:.6g}" for name, value in zip(report.reading_names, report.readings, strict=True)]
    return lines
