"""Nodes that measure the graph, for benchmarks and checks."""

from __future__ import annotations

from telerobot_nodes.nodes.probes.diagnostics import diagnostics_of
from telerobot_nodes.nodes.probes.fault_probe import OperatorWatch, RobotWatch, flood_topic, in_domain
from telerobot_nodes.nodes.probes.halt_probe import HaltProbe, flood
from telerobot_nodes.nodes.probes.link_probe import LinkProbe, Traffic
from telerobot_nodes.nodes.probes.plan_probe import PlanProbe
from telerobot_nodes.nodes.probes.press_probe import PressProbe
from telerobot_nodes.nodes.probes.skill_probe import SkillProbe

__all__ = [
    "HaltProbe",
    "LinkProbe",
    "OperatorWatch",
    "PlanProbe",
    "PressProbe",
    "RobotWatch",
    "SkillProbe",
    "Traffic",
    "diagnostics_of",
    "flood",
    "flood_topic",
    "in_domain",
]
