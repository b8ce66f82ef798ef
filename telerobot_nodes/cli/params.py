"""`telerobot params`: every node's parameters, from the nodes' own declarations."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Annotated, Any

import typer

from telerobot_nodes.core.parameters import parameter_info

# Node -> module and dataclass that declare its parameters; the other nodes have none.
DECLARED: dict[str, str] = {
    "hardware_interface": "telerobot_nodes.nodes.hardware_interface:HardwareParameters",
    "gcmsf_control": "telerobot_nodes.nodes.gcmsf_control:LoopParameters",
    "plan_executor": "telerobot_nodes.plan.executor:ExecutorConfig",
    "cspace_planner": "telerobot_nodes.nodes.cspace_planner:PlannerParameters",
    "rtc_decision_unit": "telerobot_nodes.nodes.rtc_decision_unit:RtcParameters",
    "path_plan_queue": "telerobot_nodes.nodes.path_plan_queue:QueueParameters",
    "link_emulator": "telerobot_nodes.simulation.delay_line:LinkSettings",
    "operator_input": "telerobot_nodes.operator.joystick:JoyMapping",
    "operator_console": "telerobot_nodes.nodes.operator_console:ConsoleParameters",
}


def command(
    node: Annotated[str, typer.Argument(help="One node; empty: all.")] = "",
) -> None:
    """Print the parameters as Markdown; docs/parameters.md is this."""
    names = [name for name in DECLARED if node in ("", name)]
    print("# Parameters\n\nMade by `telerobot params`. A file has one section per node, as config/demo.yaml.")
    for name in names:
        print("\n".join(table(name)))


def table(node: str) -> list[str]:
    """Markdown lines of one node's parameters."""
    module, attribute = DECLARED[node].split(":")
    cls: Any = getattr(import_module(module), attribute)
    info = parameter_info(cls)
    lines = [f"\n## {node}\n", "| parameter | default | unit | allowed | meaning |", "|---|---|---|---|---|"]
    for field in dataclasses.fields(cls):
        entry = info[field.name]
        allowed = entry.allowed.removeprefix("allowed: ").rsplit(" [", 1)[0] if entry.doc else ""
        lines.append(f"| `{field.name}` | {field.default} | {entry.unit or '-'} | {allowed} | {entry.doc} |")
    return lines
