"""The topics of the graph's table: name, type, quality of service, rate, and whether it crosses the link."""

from __future__ import annotations

from telerobot_nodes.graph_entries import Qos, Topic

TOPICS: tuple[Topic, ...] = (
    # operator's host
    Topic("joy", "sensor_msgs/msg/Joy", Qos.COMMAND, "gamepad or 3-D mouse"),
    Topic(
        "path_plan_queue/delta_twist_cmds",
        "geometry_msgs/msg/TwistStamped",
        Qos.COMMAND,
        "tool velocity asked for; frame_id world or tool",
    ),
    Topic(
        "path_plan_queue/pose_target_cmds",
        "geometry_msgs/msg/PoseStamped",
        Qos.COMMAND,
        "tool pose asked for; frame_id world (absolute) or device (re-indexed to the plan's head)",
    ),
    Topic("path_plan_queue/state", "telerobot/msg/PlanQueueState", Qos.STATE, "clutches, lengths, lead", 10.0),
    Topic("path_plan_queue/plan", "telerobot/msg/PlanUpdate", Qos.HISTORY, "the plan as it is laid", 25.0),
    Topic("path_plan_queue/path", "nav_msgs/msg/Path", Qos.STATE, "the plan not yet executed", 2.0),
    Topic(
        "plan_in_force",
        "telerobot/msg/PlanUpdate",
        Qos.HISTORY,
        "plan of the operator in control, for those who stand by",
        25.0,
        shared=True,
    ),
    Topic("forward_simulator/state", "telerobot/msg/ForwardState", Qos.STATE, "simulated and estimated arm", 25.0),
    Topic("forward_simulator/predicted", "sensor_msgs/msg/JointState", Qos.STATE, "arm at the plan's head", 25.0),
    Topic("forward_simulator/estimate", "sensor_msgs/msg/JointState", Qos.STATE, "arm estimated now", 25.0),
    Topic("forward_simulator/trial", "sensor_msgs/msg/JointState", Qos.STATE, "arm at the trial's head", 25.0),
    Topic("forward_simulator/scrubbed", "sensor_msgs/msg/JointState", Qos.STATE, "arm at a plan time asked for", 25.0),
    Topic("forward_simulator/markers", "visualization_msgs/msg/MarkerArray", Qos.STATE, "plan coloured by kind", 2.0),
    # across the link
    Topic(
        "plan_executor/operations",
        "telerobot/msg/PlanOperations",
        Qos.COMMAND,
        "operation log of the plan",
        25.0,
        crosses=True,
    ),
    Topic(
        "gcmsf_control/teleop_cmds",
        "geometry_msgs/msg/TwistStamped",
        Qos.COMMAND,
        "the operator's hand in a primitive; frame_id tool, world or camera",
        crosses=True,
    ),
    Topic("authority", "telerobot/msg/Authority", Qos.COMMAND, "who asks for the plan, who agrees", 4.0, crosses=True),
    Topic("halt", "telerobot/msg/Halt", Qos.COMMAND, "stop now, from anyone", 20.0, crosses=True),
    Topic(
        "plan_executor/state",
        "telerobot/msg/ExecutorState",
        Qos.STATE,
        "what the robot did and kept",
        20.0,
        crosses=True,
    ),
    # robot's host
    Topic("plan_executor/executed", "telerobot/msg/ExecutedPoints", Qos.HISTORY, "points reached by the arm"),
    Topic("plan_executor/window", "telerobot/msg/MotionWindow", Qos.COMMAND, "motion that ends at rest", 25.0),
    Topic("gcmsf_control/state", "telerobot/msg/ControlState", Qos.STATE, "setpoint, state, misses", 100.0),
    Topic(
        "gcmsf_control/report",
        "telerobot/msg/PrimitiveReport",
        Qos.HISTORY,
        "a primitive while it runs, and its one end",
        crosses=True,
    ),
    Topic("hardware_interface/setpoint", "telerobot/msg/JointSetpoint", Qos.STATE, "command to the joint servo", 250.0),
    Topic("hardware_interface/state", "telerobot/msg/HardwareState", Qos.STATE, "readiness of the arm", 50.0),
    Topic("hardware_interface/wrench", "geometry_msgs/msg/WrenchStamped", Qos.STATE, "wrist force-torque", 200.0),
    Topic("joint_states", "sensor_msgs/msg/JointState", Qos.STATE, "measured joints", 200.0),
    Topic("hardware_interface/objects", "telerobot/msg/Obstacles", Qos.STATE, "simulated: where loose things are", 2.0),
    Topic(
        "rtc_decision_unit/commands",
        "telerobot/msg/Command",
        Qos.COMMAND,
        "texts in the command language",
        crosses=True,
    ),
    Topic(
        "rtc_decision_unit/reports",
        "telerobot/msg/CommandReport",
        Qos.HISTORY,
        "answers, progress, and the one report every command ends with",
        crosses=True,
    ),
    Topic("rtc_decision_unit/tasks", "telerobot/msg/OperatorTask", Qos.HISTORY, "what a person is to do", crosses=True),
    Topic("rtc_decision_unit/halt", "telerobot/msg/Halt", Qos.COMMAND, "the program stops an arm"),
    Topic("obstacles", "telerobot/msg/Obstacles", Qos.COMMAND, "changes of the world, from outside"),
    Topic(
        "cspace_planner/world",
        "telerobot/msg/Obstacles",
        Qos.LATCHED,
        "every obstacle in force",
        0.5,
        crosses=True,
    ),
    Topic(
        "cspace_planner/markers",
        "visualization_msgs/msg/MarkerArray",
        Qos.LATCHED,
        "the last path, its clearance and cells; obstacles",
    ),
    # both hosts
    Topic("link_emulator/status", "telerobot/msg/LinkStatus", Qos.STATE, "the link as set and as counted", 2.0),
    Topic("diagnostics", "diagnostic_msgs/msg/DiagnosticArray", Qos.REPORT, "health of every node", 1.0),
)
