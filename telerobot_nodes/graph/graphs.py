"""Which nodes of the table are started together."""

from __future__ import annotations

# In the order of their start.
_BOTH_SIDES = (
    "bag_recorder",
    "link_emulator",
    "operator_console",
    "cspace_planner",
    "path_plan_queue",
    "forward_simulator",
    "operator_input",
    "rtc_decision_unit",
    "plan_executor",
    "gcmsf_control",
    "hardware_interface",
)

# What `telerobot up NAME` and `launch/NAME.launch.py` start, in order.
GRAPHS: dict[str, tuple[str, ...]] = {
    "robot": (
        "bag_recorder",
        "link",
        "cspace_planner",
        "rtc_decision_unit",
        "plan_executor",
        "gcmsf_control",
        "hardware_interface",
    ),
    "operator": ("bag_recorder", "link", "path_plan_queue", "forward_simulator", "operator_input", "operator_console"),
    "demo": _BOTH_SIDES,
    "practice": _BOTH_SIDES,  # beside the operator's own graph, in a namespace
}

# Nodes that the supervisor starts when the others are ready: they are real-time from then on, and would take the
# processor from nodes that still load.
LAST = frozenset({"gcmsf_control", "hardware_interface"})

# Graphs to which `--camera` adds the node `camera`.
WITH_CAMERA = frozenset({"robot", "demo", "practice"})

# Nodes that join a running graph on request, and the graphs whose part they may be.
ON_REQUEST = {"camera": WITH_CAMERA, "input_device": frozenset({"operator", "demo", "practice"})}

# Nodes that are started only with a hosts file.
WITH_HOSTS = frozenset({"link"})

# Graphs that are never in the root namespace: the namespace they are in when none is named.
NAMESPACES = {"practice": "practice"}

# Graphs that reach no real arm: MuJoCo in place of the arm file's driver, other arms inside their own namespace.
SIMULATED = frozenset({"practice"})

# Parameter file of a graph when none is named.
PARAMETERS = {"practice": "config/practice.yaml"}

# Services and actions that operators reach over the link, and those of them that leave before others.
REQUESTS = frozenset(f"gcmsf_control/{name}" for name in ("execute", "run_sequence", "change", "stop"))
STOPS = frozenset({"gcmsf_control/stop"})
