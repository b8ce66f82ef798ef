"""`telerobot primitive NAME key=value ...`: runs one primitive and prints its outcome."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from telerobot_nodes.cli.operate import fail
from telerobot_nodes.client import connect
from telerobot_nodes.operator.client import PrimitiveReport, PrimitiveResult, pairs

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import RunningPrimitive

STOP_LIMIT = 10.0  # [s] for the arm to come to rest


def command(
    name: Annotated[
        str, typer.Argument(help="Primitive, for example cartesian_guarded, joint_guarded, move_to_touch, gcm.")
    ],
    values: Annotated[
        list[str] | None, typer.Argument(help="Parameters as key=value in YAML: tr_rel_dest=[0,0,0.05,0,0,0,1].")
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    limit: Annotated[float, typer.Option(min=0.1, help="Stop the primitive after this time [s].")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the final report as one JSON object.")] = False,
) -> None:
    """Run one primitive on a running graph; exit code 0: it succeeded, 1: it did not."""
    parameters = pairs(values or [])
    with connect(namespace, "shell") as robot:
        running = robot.begin_primitive(name, parameters, limit)
        ended = _watched(running, as_json)
    if ended.report is None:
        fail(f"{name} {ended.end.value}: {ended.reason}")
    print(json.dumps(as_values(ended.report)) if as_json else "\n".join(_lines(ended.report)))
    raise typer.Exit(0 if ended.ok else 1)


def _watched(running: RunningPrimitive, quiet: bool) -> PrimitiveResult:
    """The end of a primitive; interrupted, or after its limit, it is stopped."""
    try:
        for report in running:
            if not quiet:
                print(_line(report))
    except KeyboardInterrupt:
        pass
    if not running.ended:
        running.stop()
    return running.wait(STOP_LIMIT)


def as_values(report: PrimitiveReport) -> dict[str, Any]:
    """A report as plain values."""
    names = ("name", "phase", "reason", "detail", "gripper", "elapsed", "sensor_distance", "sensor_angle")
    lists = ("joint_position", "tool_pose", "wrench")
    return {
        "state": report.state.value,
        "id": report.number,
        **{name: getattr(report, name) for name in names},
        **{name: getattr(report, name).tolist() for name in lists},
        "readings": dict(report.readings),
    }


def _line(report: PrimitiveReport) -> str:
    force = float(np.linalg.norm(report.wrench[:3]))
    moved = f"{force:6.2f} N, sensors moved {1e3 * report.sensor_distance:.1f} mm"
    return f"{report.elapsed:7.2f} s  {report.phase:<9} {moved}"


def _lines(report: PrimitiveReport) -> list[str]:
    detail = f": {report.detail}" if report.detail else ""
    lines = [f"{report.name} {report.state.value}, {report.reason}{detail}"]
    if report.elapsed:
        lines.append(f"  elapsed   {report.elapsed:.3f} s")
    if len(report.tool_pose):
        lines.append("  tool      " + " ".join(f"{value:.4f}" for value in report.tool_pose))
    lines += [f"  {name:<9} {value:.6g}" for name, value in report.readings.items()]
    return lines
