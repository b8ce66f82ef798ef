"""The graph, as data: every node, topic and service with type, QoS, host and rights.

Launch files, supervisor, nodes, recorder, docs and security policy are made from this table; nothing about
the graph is written down a second time. Knows no ROS. Names are relative to the arm's namespace.
"""

from __future__ import annotations

from telerobot_nodes.errors import GraphError
from telerobot_nodes.graph_entries import Host, Node, Profile, Qos, Service, Topic
from telerobot_nodes.graph_topics import TOPICS

__all__ = [
    "GRAPHS",
    "NODES",
    "OPERATOR_SIDE",
    "TOPICS",
    "Host",
    "Node",
    "Profile",
    "Qos",
    "Service",
    "Topic",
    "action",
    "crossing",
    "is_upward",
    "node",
    "operator_side",
    "remappings",
    "service",
    "topic",
]


def _services(node: str, *rows: tuple[str, str, str]) -> tuple[Service, ...]:
    return tuple(Service(f"{node}/{name}", kind, doc) for name, kind, doc in rows)


NODES: tuple[Node, ...] = (
    Node(
        "hardware_interface",
        Host.ROBOT,
        "one face for MuJoCo and real arms: joint servo, limits, watchdog, e-stop",
        publishes=(
            "joint_states",
            "hardware_interface/state",
            "hardware_interface/wrench",
            "hardware_interface/objects",
            "diagnostics",
        ),
        subscribes=("hardware_interface/setpoint",),
        services=_services(
            "hardware_interface",
            ("estop", "std_srvs/srv/Trigger", "latch the e-stop"),
            ("reset", "std_srvs/srv/Trigger", "release the e-stop latch; the arm holds"),
            ("zero_ftsensor", "std_srvs/srv/Trigger", "tare the force-torque sensor"),
        ),
        urgent=True,
    ),
    Node(
        "gcmsf_control",
        Host.ROBOT,
        "Cartesian control loop in a process of its own, with absolute deadlines: windows and primitives",
        publishes=("gcmsf_control/state", "gcmsf_control/report", "hardware_interface/setpoint", "diagnostics"),
        subscribes=(
            "plan_executor/window",
            "joint_states",
            "hardware_interface/state",
            "hardware_interface/wrench",
            "gcmsf_control/teleop_cmds",
            "cspace_planner/world",
            "rtc_decision_unit/halt",
            "halt",
        ),
        services=_services(
            "gcmsf_control",
            ("change", "telerobot/srv/ChangePrimitive", "change parameters of the running primitive, without a bump"),
            ("stop", "std_srvs/srv/Trigger", "stop the running primitive and give up those that wait"),
            ("tare", "std_srvs/srv/Trigger", "take the wrench felt now as no contact; the arm rests"),
        ),
        actions=_services(
            "gcmsf_control",
            ("execute", "telerobot/action/ExecutePrimitive", "run a primitive; goals wait in a queue"),
        ),
        urgent=True,
    ),
    Node(
        "plan_executor",
        Host.ROBOT,
        "second buffer: applies operations exactly once, executes with look-ahead",
        publishes=("plan_executor/state", "plan_executor/executed", "plan_executor/window", "diagnostics"),
        subscribes=(
            "plan_executor/operations",
            "authority",
            "halt",
            "gcmsf_control/state",
            "hardware_interface/wrench",
        ),
        urgent=True,
        restarts=3,
    ),
    Node(
        "cspace_planner",
        Host.ROBOT,
        "proved paths for one or several arms among obstacles, planned in a process of its own",
        publishes=("cspace_planner/world", "cspace_planner/markers", "diagnostics"),
        subscribes=("obstacles", "joint_states"),
        services=_services(
            "cspace_planner",
            ("plan", "telerobot/srv/PlanPath", "paths with proof and timing to joint or tool goals"),
            ("check_path", "telerobot/srv/CheckPath", "is a joint path free, by proof"),
            ("check_configuration", "telerobot/srv/CheckConfiguration", "clearance, nearest pair and cell of joints"),
        ),
        required=False,
        restarts=3,
    ),
    Node(
        "rtc_decision_unit",
        Host.ROBOT,
        "run-time control: texts to primitives of arms, grippers, camera and people; halts first",
        publishes=(
            "rtc_decision_unit/reports",
            "rtc_decision_unit/tasks",
            "rtc_decision_unit/halt",
            "authority",
            "plan_executor/operations",
            "diagnostics",
        ),
        subscribes=(
            "rtc_decision_unit/commands",
            "halt",
            "gcmsf_control/state",
            "plan_executor/state",
            "hardware_interface/state",
            "hardware_interface/wrench",
            "hardware_interface/objects",
        ),
        services=_services(
            "rtc_decision_unit",
            ("submit", "telerobot/srv/SubmitCommand", "take a text; a task goes on after the answer"),
            ("try", "telerobot/srv/SubmitCommand", "would this task work, and if not, why and at which step"),
        ),
        actions=_services("rtc_decision_unit", ("run", "telerobot/action/RunCommand", "run a text to its end")),
        calls=("gcmsf_control/tare", "gcmsf_control/change", "cspace_planner/check_path"),
        runs=("gcmsf_control/execute",),
        required=False,
        restarts=3,
        urgent=True,
    ),
    Node(
        "path_plan_queue",
        Host.OPERATOR,
        "first buffer: plan points from the operator's commands; clutches, ratio, delete-all",
        publishes=(
            "plan_executor/operations",
            "authority",
            "halt",
            "plan_in_force",
            "path_plan_queue/state",
            "path_plan_queue/plan",
            "path_plan_queue/path",
            "diagnostics",
        ),
        subscribes=(
            "path_plan_queue/delta_twist_cmds",
            "path_plan_queue/pose_target_cmds",
            "plan_executor/state",
            "plan_in_force",
            "cspace_planner/world",
        ),
        services=_services(
            "path_plan_queue",
            ("time_clutch", "std_srvs/srv/SetBool", "true: engage, plan time follows the hand"),
            (
                "position_clutch",
                "std_srvs/srv/SetBool",
                "false: points go to a trial path; true: link it to the plan",
            ),
            ("adopt", "std_srvs/srv/Trigger", "engage the position clutch, append the whole trial path"),
            ("discard", "std_srvs/srv/Trigger", "engage the position clutch, drop the trial path"),
            ("brake", "telerobot/srv/SetValue", "delete from the plan's tail, plan seconds per second; 0: release"),
            ("clear", "std_srvs/srv/Trigger", "delete every point not yet executed"),
            ("pause", "std_srvs/srv/Trigger", "come to rest on the path, keep the plan"),
            ("halt", "std_srvs/srv/Trigger", "stop the arm on its path, keep the plan; repeated until confirmed"),
            ("resume", "std_srvs/srv/Trigger", "go on after a halt or pause"),
            ("request_control", "std_srvs/srv/Trigger", "ask for authority; control passes where the tools meet"),
            ("grant_control", "std_srvs/srv/Trigger", "consent to who asks"),
            ("refuse_control", "std_srvs/srv/Trigger", "decline who asks"),
            ("release_control", "std_srvs/srv/Trigger", "give authority up, or ask no more"),
            ("take_control", "std_srvs/srv/Trigger", "supervisors: take authority by force"),
            ("time_ratio", "telerobot/srv/SetValue", "plan time per acquisition time, 0.1 .. 10"),
            ("gripper", "telerobot/srv/SetValue", "opening of the gripper from the plan's head on, 0 .. 0.2 m"),
            ("rate", "telerobot/srv/SetValue", "execute at so many plan seconds per second, 0.1 .. 10"),
        ),
        restarts=3,
    ),
    Node(
        "forward_simulator",
        Host.OPERATOR,
        "the arm at the plan's head, and the estimate of the robot's present",
        publishes=(
            "forward_simulator/state",
            "forward_simulator/predicted",
            "forward_simulator/estimate",
            "forward_simulator/trial",
            "forward_simulator/scrubbed",
            "forward_simulator/markers",
            "diagnostics",
        ),
        subscribes=("path_plan_queue/plan", "path_plan_queue/state", "plan_executor/state", "cspace_planner/world"),
        services=_services(
            "forward_simulator",
            (
                "scrub",
                "telerobot/srv/SetValue",
                "show the arm at a plan time, robot to head; negative: no more",
            ),
        ),
        restarts=3,
    ),
    Node(
        "operator_input",
        Host.OPERATOR,
        "devices: gamepad or 3-D mouse from joy, replay of recorded hands",
        publishes=(
            "path_plan_queue/delta_twist_cmds",
            "path_plan_queue/pose_target_cmds",
            "gcmsf_control/teleop_cmds",
            "diagnostics",
        ),
        subscribes=("joy", "path_plan_queue/state"),
        services=_services(
            "operator_input",
            ("replay", "telerobot/srv/ReplayHand", "play a recorded hand"),
            ("stop_replay", "std_srvs/srv/Trigger", "end the replay"),
            ("direct", "std_srvs/srv/SetBool", "true: the device moves the running primitive, not the plan"),
        ),
        required=False,
        restarts=3,
    ),
    Node(
        "operator_console",
        Host.OPERATOR,
        "browser view on loopback: actual arm, forward simulation, plan, clutches, halt, command line",
        publishes=("path_plan_queue/pose_target_cmds", "rtc_decision_unit/commands", "halt", "diagnostics"),
        subscribes=(
            "path_plan_queue/state",
            "path_plan_queue/plan",
            "plan_in_force",
            "forward_simulator/state",
            "forward_simulator/markers",
            "plan_executor/state",
            "cspace_planner/world",
            "rtc_decision_unit/reports",
            "rtc_decision_unit/tasks",
            "link_emulator/status",
        ),
        calls=(
            "path_plan_queue/time_clutch",
            "path_plan_queue/position_clutch",
            "path_plan_queue/adopt",
            "path_plan_queue/discard",
            "path_plan_queue/brake",
            "path_plan_queue/clear",
            "path_plan_queue/pause",
            "path_plan_queue/halt",
            "path_plan_queue/resume",
            "path_plan_queue/request_control",
            "path_plan_queue/grant_control",
            "path_plan_queue/refuse_control",
            "path_plan_queue/release_control",
            "path_plan_queue/take_control",
            "path_plan_queue/rate",
            "path_plan_queue/time_ratio",
            "path_plan_queue/gripper",
            "operator_input/replay",
            "operator_input/stop_replay",
            "link_emulator/set",
        ),
        required=False,
        restarts=3,
    ),
    Node(
        "link_emulator",
        Host.EITHER,
        "delay, jitter, loss and outage between the hosts, set at run time",
        publishes=("link_emulator/status", "diagnostics"),  # and every crossing topic, on the far side
        services=_services("link_emulator", ("set", "telerobot/srv/SetLink", "set delay, jitter, loss, outage")),
        restarts=3,
    ),
    Node(
        "bag_recorder",
        Host.EITHER,
        "rosbag2 (MCAP) recording of every topic of the graph",
        publishes=("diagnostics",),  # subscribes to every topic
        required=False,
    ),
)

# What `telerobot up NAME` and `launch/NAME.launch.py` start, in order.
GRAPHS: dict[str, tuple[str, ...]] = {
    "robot": (
        "bag_recorder",
        "hardware_interface",
        "gcmsf_control",
        "plan_executor",
        "cspace_planner",
        "rtc_decision_unit",
    ),
    "operator": ("bag_recorder", "path_plan_queue", "forward_simulator", "operator_input", "operator_console"),
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

# With the link emulator between them, the operator's side of a crossing topic has this prefix.
OPERATOR_SIDE = "operator_side/"

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


def operator_side() -> tuple[str, ...]:
    """Names of the topics that an operator shares with the link, or with other operators of the arm."""
    return tuple(entry.name for entry in TOPICS if entry.crosses or entry.shared)


def is_upward(entry: Topic) -> bool:
    """True when the topic travels from the operator to the robot."""
    return any(entry.name in owner.publishes for owner in NODES if owner.host is Host.OPERATOR)


def remappings(node_name: str, graph_name: str) -> dict[str, str]:
    """Topic renames for a node of a graph: with a link emulator, operators see their own side of the link."""
    emulated = "link_emulator" in GRAPHS[graph_name]
    if not emulated or node(node_name).host is not Host.OPERATOR:
        return {}
    return {name: OPERATOR_SIDE + name for name in operator_side()}
