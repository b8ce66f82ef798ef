"""The topics of the graph's table: name, type, quality of service, rate, and whether it crosses the link."""

from __future__ import annotations

from telerobot_nodes.graph.entries import Crossing, Order, Priority, Qos, Topic

TOPICS: tuple[Topic, ...] = (
    # operator's host
    Topic("joy", "sensor_msgs/msg/Joy", Qos.COMMAND, "gamepad or 3-D mouse"),
    Topic(
        "path_plan_queue/delta_twist_cmds",
        "geometry_msgs/msg/TwistStamped",
        Qos.SAMPLES,
        "commanded tool velocity; frame_id world or tool",
    ),
    Topic(
        "path_plan_queue/pose_target_cmds",
        "geometry_msgs/msg/PoseStamped",
        Qos.SAMPLES,
        "commanded tool pose; frame_id world (absolute) or device (relative, from the end of the plan)",
    ),
    Topic("path_plan_queue/state", "telerobot/msg/PlanQueueState", Qos.STATE, "clutches, queue length, lead", 10.0),
    Topic("path_plan_queue/plan", "telerobot/msg/PlanUpdate", Qos.HISTORY, "changes of the plan", 25.0),
    Topic("path_plan_queue/path", "nav_msgs/msg/Path", Qos.STATE, "the plan not yet executed", 2.0),
    Topic(
        "plan_in_force",
        "telerobot/msg/PlanUpdate",
        Qos.HISTORY,
        "plan of the operator in control, for the stand-by operators",
        25.0,
        shared=True,
    ),
    Topic("forward_simulator/state", "telerobot/msg/ForwardState", Qos.STATE, "simulated and estimated arm", 25.0),
    Topic("forward_simulator/predicted", "sensor_msgs/msg/JointState", Qos.STATE, "joints at the plan's end", 25.0),
    Topic("forward_simulator/estimate", "sensor_msgs/msg/JointState", Qos.STATE, "estimated present joints", 25.0),
    Topic("forward_simulator/trial", "sensor_msgs/msg/JointState", Qos.STATE, "joints at the trial path's end", 25.0),
    Topic("forward_simulator/scrubbed", "sensor_msgs/msg/JointState", Qos.STATE, "joints at the scrubbed time", 25.0),
    Topic("forward_simulator/markers", "visualization_msgs/msg/MarkerArray", Qos.STATE, "plan coloured by kind", 2.0),
    # across the link
    Topic(
        "plan_executor/operations",
        "telerobot/msg/PlanOperations",
        Qos.COMMAND,
        "operation log of the plan",
        25.0,
        crosses=Crossing(Priority.OPERATIONS, size=64_000, most=100.0, late=5.0, moves=True),
    ),
    Topic(
        "gcmsf_control/teleop_cmds",
        "geometry_msgs/msg/TwistStamped",
        Qos.COMMAND,
        "hand velocity for the running primitive; frame_id tool, world or camera",
        crosses=Crossing(Priority.TELEOP, size=2_000, most=250.0, late=0.5, moves=True),
    ),
    Topic(
        "authority",
        "telerobot/msg/Authority",
        Qos.COMMAND,
        "requests, grants and claims of authority",
        4.0,
        crosses=Crossing(Priority.AUTHORITY, size=4_000, most=100.0, late=5.0),
    ),
    Topic(
        "halt",
        "telerobot/msg/Halt",
        Qos.COMMAND,
        "stop the arm, from anyone",
        20.0,
        crosses=Crossing(Priority.HALT, size=4_000, most=500.0),
    ),
    Topic(
        "estop",
        "telerobot/msg/Halt",
        Qos.COMMAND,
        "latch the e-stop, from anyone",
        20.0,
        crosses=Crossing(Priority.HALT, size=4_000, most=500.0),
    ),
    Topic(
        "plan_executor/state",
        "telerobot/msg/ExecutorState",
        Qos.STATE,
        "acknowledgements; points held and executed; the arm's state",
        20.0,
        crosses=Crossing(Priority.STATE, Order.NEWEST, most=50.0),
    ),
    # robot's host
    Topic("plan_executor/executed", "telerobot/msg/ExecutedPoints", Qos.HISTORY, "points reached by the arm"),
    Topic(
        "plan_executor/window",
        "telerobot/msg/MotionWindow",
        Qos.COMMAND,
        "trajectory segment that ends at rest",
        25.0,
    ),
    Topic("gcmsf_control/resume", "telerobot/msg/Resume", Qos.COMMAND, "end the halt of this count"),
    Topic(
        "gcmsf_control/state",
        "telerobot/msg/ControlState",
        Qos.STATE,
        "state of the loop, setpoint, missed periods",
        100.0,
    ),
    Topic(
        "gcmsf_control/report",
        "telerobot/msg/PrimitiveReport",
        Qos.HISTORY,
        "progress of each primitive, and exactly one end",
        crosses=Crossing(Priority.REPORTS, Order.ALL),
    ),
    Topic(
        "hardware_interface/setpoint", "telerobot/msg/JointSetpoint", Qos.STATE, "setpoint of the joint servo", 250.0
    ),
    Topic(
        "hardware_interface/state",
        "telerobot/msg/HardwareState",
        Qos.STATE,
        "hardware state, e-stop, gripper",
        50.0,
    ),
    Topic(
        "hardware_interface/wrench", "geometry_msgs/msg/WrenchStamped", Qos.STATE, "wrench of the wrist sensor", 200.0
    ),
    Topic("joint_states", "sensor_msgs/msg/JointState", Qos.STATE, "measured joints", 200.0),
    Topic("hardware_interface/objects", "telerobot/msg/Obstacles", Qos.STATE, "simulated: poses of loose objects", 2.0),
    Topic(
        "hardware_interface/scene",
        "sensor_msgs/msg/JointState",
        Qos.STATE,
        "simulated: hinge or slide of each body, and as effort the arm's force [N] on it; for judges, not for control",
        10.0,
    ),
    Topic(
        "rtc_decision_unit/commands",
        "telerobot/msg/Command",
        Qos.COMMAND,
        "commands as text",
        crosses=Crossing(Priority.OPERATIONS, size=128_000, most=100.0, late=5.0),
    ),
    Topic(
        "rtc_decision_unit/reports",
        "telerobot/msg/CommandReport",
        Qos.HISTORY,
        "answers, progress, and exactly one final report per command",
        crosses=Crossing(Priority.REPORTS, Order.ALL, size=128_000),
    ),
    Topic(
        "rtc_decision_unit/tasks",
        "telerobot/msg/OperatorTask",
        Qos.HISTORY,
        "tasks for the operator",
        crosses=Crossing(Priority.REPORTS, Order.ALL, size=128_000),
    ),
    Topic(
        "rtc_decision_unit/script",
        "telerobot/msg/ScriptState",
        Qos.REPORT,
        "live script of each command: what was tried, what is active, what comes next",
        crosses=Crossing(Priority.REPORTS, Order.ALL, size=256_000),
    ),
    Topic(
        "rtc_decision_unit/signals",
        "telerobot/msg/Signal",
        Qos.COMMAND,
        "signals of the workcell, from whoever reads them",
    ),
    Topic("rtc_decision_unit/halt", "telerobot/msg/Halt", Qos.COMMAND, "halt an arm, from the decision unit"),
    Topic("rtc_decision_unit/arm_name", "telerobot/msg/ArmName", Qos.LATCHED, "how texts name an arm"),
    Topic("rtc_decision_unit/stop", "telerobot/msg/Halt", Qos.COMMAND, "end the present primitive; the next may begin"),
    Topic("obstacles", "telerobot/msg/Obstacles", Qos.COMMAND, "changes of the scene"),
    Topic(
        "cspace_planner/world",
        "telerobot/msg/Obstacles",
        Qos.LATCHED,
        "all obstacles of the current scene",
        0.5,
        crosses=Crossing(Priority.WORLD, Order.ALL, size=1_000_000),
    ),
    Topic(
        "cspace_planner/markers",
        "visualization_msgs/msg/MarkerArray",
        Qos.LATCHED,
        "the last path with clearance and cells; obstacles",
    ),
    # both hosts
    Topic("link_emulator/status", "telerobot/msg/LinkStatus", Qos.STATE, "settings and counters of the link", 2.0),
    Topic("link/state", "telerobot/msg/LinkState", Qos.STATE, "state of the link to each other host", 5.0),
    Topic("diagnostics", "diagnostic_msgs/msg/DiagnosticArray", Qos.REPORT, "health of each node", 1.0),
)
