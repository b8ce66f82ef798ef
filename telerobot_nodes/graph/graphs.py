"""Which nodes of the table are started together."""

from __future__ import annotations

# What `telerobot up NAME` and `launch/NAME.launch.py` start, in order.
GRAPHS: dict[str, tuple[str, ...]] = {
    "robot": (
        "bag_recorder",
        "link",
        "hardware_interface",
        "gcmsf_control",
        "plan_executor",
        "cspace_planner",
        "rtc_decision_unit",
    ),
    "operator": ("bag_recorder", "link", "path_plan_queue", "forward_simulator", "operator_input", "operator_console"),
    "demo": (
        "bag_recorder",
        "link_emulator",
        "hardware_interface",
        "gcmsf_control",
        "plan_executor",
        "cspace_planner",
        "rtc_decision_unit",
        "path_plan_queue",
        "forward_simulator",
        "operator_input",
        "operator_console",
    ),
}

# Graphs to which `--camera` adds the node `camera`.
WITH_CAMERA = frozenset({"robot", "demo"})

# Nodes that are started only with a hosts file.
WITH_HOSTS = frozenset({"link"})
