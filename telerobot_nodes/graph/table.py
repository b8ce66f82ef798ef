"""The graph, as data: every node, topic and service with type, QoS, host and rights.

Launch files, supervisor, nodes, recorder and docs are made from this table. Knows no ROS. Names are relative to the
arm's namespace.
"""

from __future__ import annotations

from telerobot_nodes.errors import GraphError
from telerobot_nodes.graph.entries import Host, Node, Service, Topic, services
from telerobot_nodes.graph.operator_nodes import OPERATOR_NODES
from telerobot_nodes.graph.tool_nodes import TOOL_NODES
from telerobot_nodes.graph.topics import TOPICS

NODES: tuple[Node, ...] = (
    Node(
        "hardware_interface",
        Host.ROBOT,
        "robot",
        "arm behind its driver, MuJoCo or ros2_control: joint servo, limits, watchdog, e-stop",
        publishes=(
            "joint_states",
            "hardware_interface/state",
            "hardware_interface/wrench",
            "hardware_interface/objects",
            "hardware_interface/scene",
            "diagnostics",
        ),
        subscribes=("hardware_interface/setpoint", "estop"),
        services=services(
            "hardware_interface",
            ("estop", "std_srvs/srv/Trigger", "latch the emergency stop"),
            ("reset", "std_srvs/srv/Trigger", "release the emergency stop; the arm holds"),
            ("zero_ftsensor", "std_srvs/srv/Trigger", "tare the force-torque sensor"),
        ),
        restarts=3,
        priority=70,
    ),
    Node(
        "gcmsf_control",
        Host.ROBOT,
        "robot",
        "control loop in a process of its own: follows windows of the plan and runs primitives",
        publishes=("gcmsf_control/state", "gcmsf_control/report", "hardware_interface/setpoint", "diagnostics"),
        subscribes=(
            "plan_executor/window",
            "joint_states",
            "hardware_interface/state",
            "hardware_interface/wrench",
            "gcmsf_control/teleop_cmds",
            "cspace_planner/world",
            "gcmsf_control/resume",
            "rtc_decision_unit/halt",
            "rtc_decision_unit/stop",
            "rtc_decision_unit/arm_name",
            "rtc_decision_unit/commands",
            "rtc_decision_unit/reports",
            "halt",
            "estop",
        ),
        services=services(
            "gcmsf_control",
            ("change", "telerobot/srv/ChangePrimitive", "change parameters of the running primitive smoothly"),
            ("stop", "std_srvs/srv/Trigger", "stop the running primitive and cancel the waiting ones"),
            ("tare", "std_srvs/srv/Trigger", "tare: take the present wrench as zero; the arm must be at rest"),
        ),
        actions=services(
            "gcmsf_control",
            ("execute", "telerobot/action/ExecutePrimitive", "run a primitive; goals wait in a queue"),
            ("run_sequence", "telerobot/action/RunSequence", "run primitives in order, all checked before the first"),
        ),
        restarts=3,
        priority=60,
    ),
    Node(
        "plan_executor",
        Host.ROBOT,
        "robot",
        "robot's plan buffer: applies operations exactly once, executes with look-ahead",
        publishes=(
            "plan_executor/state",
            "plan_executor/executed",
            "plan_executor/window",
            "gcmsf_control/resume",
            "diagnostics",
        ),
        subscribes=(
            "plan_executor/operations",
            "authority",
            "link/refused",
            "link/permits",
            "gcmsf_control/state",
            "hardware_interface/wrench",
        ),
        calls=("hardware_interface/reset", "gcmsf_control/tare"),
        priority=45,
        restarts=3,
    ),
    Node(
        "cspace_planner",
        Host.ROBOT,
        "planning",
        "proved collision-free paths for one or several arms, planned in a process of its own",
        publishes=("cspace_planner/world", "cspace_planner/markers", "diagnostics"),
        subscribes=("obstacles", "joint_states"),
        services=services(
            "cspace_planner",
            ("plan", "telerobot/srv/PlanPath", "proved and timed paths to joint or tool goals"),
            ("check_path", "telerobot/srv/CheckPath", "whether a joint path is free, by proof"),
            (
                "check_configuration",
                "telerobot/srv/CheckConfiguration",
                "clearance, nearest pair and cell of a configuration",
            ),
        ),
        required=False,
        restarts=3,
    ),
    Node(
        "rtc_decision_unit",
        Host.ROBOT,
        "decision",
        "run-time control: executes commands with arms, grippers, camera and people; halts first",
        publishes=(
            "rtc_decision_unit/reports",
            "rtc_decision_unit/tasks",
            "rtc_decision_unit/script",
            "rtc_decision_unit/arm_name",
            "rtc_decision_unit/halt",
            "rtc_decision_unit/stop",
            "gcmsf_control/resume",
            "authority",
            "plan_executor/operations",
            "diagnostics",
        ),
        subscribes=(
            "rtc_decision_unit/commands",
            "rtc_decision_unit/signals",
            "halt",
            "estop",
            "gcmsf_control/state",
            "plan_executor/state",
            "hardware_interface/state",
            "hardware_interface/wrench",
            "hardware_interface/objects",
        ),
        services=services(
            "rtc_decision_unit",
            ("submit", "telerobot/srv/SubmitCommand", "submit a command; a task continues after the answer"),
            ("try", "telerobot/srv/SubmitCommand", "check whether a task would work; if not, why and at which step"),
        ),
        actions=services("rtc_decision_unit", ("run", "telerobot/action/RunCommand", "run a command to its end")),
        calls=("gcmsf_control/tare", "gcmsf_control/change", "cspace_planner/check_path"),
        runs=("gcmsf_control/execute",),
        required=False,
        restarts=3,
        priority=30,
    ),
    *OPERATOR_NODES,
    *TOOL_NODES,
)

_TOPIC_BY_NAME = {topic.name: topic for topic in TOPICS}
_NODE_BY_NAME = {node.name: node for node in NODES}


def topic(name: str) -> Topic:
    """The topic of this name; raises GraphError when the table has none."""
    try:
        return _TOPIC_BY_NAME[name]
    except KeyError:
        raise GraphError(f"topic {name!r} is not in the graph table") from None


def node(name: str) -> Node:
    """The node of this name; raises GraphError when the table has none."""
    try:
        return _NODE_BY_NAME[name]
    except KeyError:
        raise GraphError(f"node {name!r} is not in the graph table; one of {', '.join(_NODE_BY_NAME)}") from None


def service(name: str) -> Service:
    """The service of this name (`node/name`); raises GraphError when the table has none."""
    for owner in NODES:
        for candidate in owner.services:
            if candidate.name == name:
                return candidate
    raise GraphError(f"service {name!r} is not in the graph table")


def action(name: str) -> Service:
    """The action of this name (`node/name`); raises GraphError when the table has none."""
    for owner in NODES:
        for candidate in owner.actions:
            if candidate.name == name:
                return candidate
    raise GraphError(f"action {name!r} is not in the graph table")


def crossing() -> tuple[Topic, ...]:
    """Topics that travel between the hosts."""
    return tuple(entry for entry in TOPICS if entry.crosses)


def crossing_services() -> tuple[Service, ...]:
    """Services that operators reach over the link."""
    return tuple(entry for owner in NODES for entry in owner.services if entry.crosses)


def crossing_actions() -> tuple[Service, ...]:
    """Actions that operators reach over the link."""
    return tuple(entry for owner in NODES for entry in owner.actions if entry.crosses)


def is_upward(entry: Topic) -> bool:
    """True when the topic travels from the operator to the robot."""
    return any(entry.name in owner.publishes for owner in NODES if owner.host is Host.OPERATOR)
