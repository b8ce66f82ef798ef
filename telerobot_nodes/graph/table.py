"""The graph, as data: every node, topic and service with type, QoS, host and rights.

Launch files, supervisor, nodes, recorder and docs are made from this table. Knows no ROS. Names are relative to the
arm's namespace.
"""

from __future__ import annotations

from telerobot_nodes.errors import GraphError
from telerobot_nodes.graph.entries import Host, Node, Service, Topic
from telerobot_nodes.graph.graphs import REQUESTS, STOPS
from telerobot_nodes.graph.tool_nodes import TOOL_NODES
from telerobot_nodes.graph.topics import TOPICS


def _services(node: str, *rows: tuple[str, str, str]) -> tuple[Service, ...]:
    named = [(f"{node}/{name}", kind, doc) for name, kind, doc in rows]
    return tuple(Service(name, kind, doc, name in REQUESTS, name in STOPS) for name, kind, doc in named)


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
        services=_services(
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
        services=_services(
            "gcmsf_control",
            ("change", "telerobot/srv/ChangePrimitive", "change parameters of the running primitive smoothly"),
            ("stop", "std_srvs/srv/Trigger", "stop the running primitive and cancel the waiting ones"),
            ("tare", "std_srvs/srv/Trigger", "tare: take the present wrench as zero; the arm must be at rest"),
        ),
        actions=_services(
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
        services=_services(
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
        services=_services(
            "rtc_decision_unit",
            ("submit", "telerobot/srv/SubmitCommand", "submit a command; a task continues after the answer"),
            ("try", "telerobot/srv/SubmitCommand", "check whether a task would work; if not, why and at which step"),
        ),
        actions=_services("rtc_decision_unit", ("run", "telerobot/action/RunCommand", "run a command to its end")),
        calls=("gcmsf_control/tare", "gcmsf_control/change", "cspace_planner/check_path"),
        runs=("gcmsf_control/execute",),
        required=False,
        restarts=3,
        priority=30,
    ),
    Node(
        "path_plan_queue",
        Host.OPERATOR,
        "operator",
        "operator's plan buffer: plan points from input; clutches, trial path, brake, ratio",
        publishes=(
            "plan_executor/operations",
            "authority",
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
            "forward_simulator/state",
        ),
        services=_services(
            "path_plan_queue",
            ("time_clutch", "std_srvs/srv/SetBool", "true: engage, plan time follows the hand; false: disengage"),
            ("position_clutch", "std_srvs/srv/SetBool", "false: start a trial path; true: connect it to the plan"),
            ("adopt", "std_srvs/srv/Trigger", "engage the position clutch with the whole trial path"),
            ("discard", "std_srvs/srv/Trigger", "engage the position clutch without the trial path"),
            ("brake", "telerobot/srv/SetValue", "delete from the end of the plan, plan seconds per second; 0: release"),
            ("clear", "std_srvs/srv/Trigger", "delete every point not yet executed"),
            ("undo", "std_srvs/srv/Trigger", "bring back what brake or clear deleted, before the next point"),
            ("stop_before_collision", "std_srvs/srv/SetBool", "true: wait before predicted collisions; false: execute"),
            ("pause", "std_srvs/srv/Trigger", "come to rest on the path, keep the plan"),
            ("resume", "std_srvs/srv/Trigger", "continue after a pause, or the halt that the robot shows"),
            ("reset", "std_srvs/srv/Trigger", "release the e-stop or fault of the hardware; the arm holds"),
            ("tare", "std_srvs/srv/Trigger", "take the present wrench as zero; the arm must be at rest"),
            (
                "request_control",
                "std_srvs/srv/Trigger",
                "request authority; control passes where the simulated tools meet",
            ),
            ("grant_control", "std_srvs/srv/Trigger", "grant the request for authority"),
            ("refuse_control", "std_srvs/srv/Trigger", "refuse the request for authority"),
            ("release_control", "std_srvs/srv/Trigger", "release authority, or withdraw the request"),
            ("take_control", "std_srvs/srv/Trigger", "supervisors only: take authority without consent"),
            ("orientation_clutch", "std_srvs/srv/SetBool", "true: turning the hand turns the tool; false: it does not"),
            ("linear_scale", "telerobot/srv/SetValue", "motion of the tool per motion of the hand, 0 .. 10"),
            ("angular_scale", "telerobot/srv/SetValue", "turning of the tool per turning of the hand, 0 .. 10"),
            ("time_ratio", "telerobot/srv/SetValue", "plan seconds per second of the hand, 0.1 .. 10"),
            ("gripper", "telerobot/srv/SetValue", "gripper opening from the end of the plan on, 0 .. 0.2 m"),
            ("rate", "telerobot/srv/SetValue", "execution rate, plan seconds per second, 0.1 .. 10"),
        ),
        restarts=3,
        niceness=-5,  # the arm follows the hand
    ),
    Node(
        "forward_simulator",
        Host.OPERATOR,
        "operator",
        "simulates the arm at the end of the plan, and estimates the robot's present state",
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
            ("scrub", "telerobot/srv/SetValue", "show the arm at a plan time of the plan ahead; negative: off"),
        ),
        restarts=3,
    ),
    Node(
        "operator_input",
        Host.OPERATOR,
        "operator",
        "input devices: gamepad or 3-D mouse from joy, haptic device with force back, replay of recorded hands",
        publishes=(
            "path_plan_queue/delta_twist_cmds",
            "path_plan_queue/pose_target_cmds",
            "gcmsf_control/teleop_cmds",
            "operator_input/reflected",
            "joy/set_feedback",
            "halt",
            "estop",
            "diagnostics",
        ),
        subscribes=(
            "joy",
            "operator_input/hand",
            "path_plan_queue/state",
            "plan_executor/state",
            "gcmsf_control/report",
        ),
        calls=("path_plan_queue/reset", "path_plan_queue/tare"),
        services=_services(
            "operator_input",
            ("replay", "telerobot/srv/ReplayHand", "replay a recorded hand"),
            ("stop_replay", "std_srvs/srv/Trigger", "end the replay"),
            ("direct", "std_srvs/srv/SetBool", "true: the device moves the running primitive, not the plan"),
        ),
        required=False,
        restarts=3,
        niceness=-5,  # the arm follows the hand
    ),
    Node(
        "operator_console",
        Host.OPERATOR,
        "operator",
        "browser view on loopback: arm, forward simulation, plan, controls, halt, command line",
        publishes=(
            "path_plan_queue/pose_target_cmds",
            "rtc_decision_unit/commands",
            "camera/request",
            "halt",
            "estop",
            "diagnostics",
        ),
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
            "rtc_decision_unit/script",
            "link_emulator/status",
            "bag_recorder/state",
            "camera/state",
            "camera/camera_info",
            "camera/pose",
            "camera/image/compressed",
            "diagnostics",  # addresses of other consoles
        ),
        calls=(
            "path_plan_queue/time_clutch",
            "path_plan_queue/position_clutch",
            "path_plan_queue/adopt",
            "path_plan_queue/discard",
            "path_plan_queue/stop_before_collision",
            "path_plan_queue/brake",
            "path_plan_queue/clear",
            "path_plan_queue/undo",
            "path_plan_queue/pause",
            "path_plan_queue/resume",
            "path_plan_queue/reset",
            "path_plan_queue/tare",
            "path_plan_queue/request_control",
            "path_plan_queue/grant_control",
            "path_plan_queue/refuse_control",
            "path_plan_queue/release_control",
            "path_plan_queue/take_control",
            "path_plan_queue/rate",
            "path_plan_queue/time_ratio",
            "path_plan_queue/orientation_clutch",
            "path_plan_queue/linear_scale",
            "path_plan_queue/angular_scale",
            "path_plan_queue/gripper",
            "operator_input/replay",
            "operator_input/stop_replay",
            "operator_input/direct",
            "forward_simulator/scrub",
            "link_emulator/set",
            "bag_recorder/record",
            "gcmsf_control/change",
        ),
        runs=("gcmsf_control/execute",),
        required=False,
        restarts=3,
    ),
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
