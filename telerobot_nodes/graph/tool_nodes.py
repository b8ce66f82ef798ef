"""Rows of the table for the nodes beside the control of the arm: camera, input device, links, recorder."""

from __future__ import annotations

from telerobot_nodes.graph.entries import Host, Node, Service

TOOL_NODES: tuple[Node, ...] = (
    Node(
        "camera",
        Host.ROBOT,
        "robot",
        "pictures of the simulated arm, or of a camera's own topic, within a rate and a byte budget",
        publishes=("camera/state", "camera/camera_info", "camera/pose", "camera/image/compressed", "diagnostics"),
        subscribes=(
            "camera/request",
            "joint_states",
            "hardware_interface/state",
            "hardware_interface/objects",
            "hardware_interface/scene",
        ),
        required=False,
        restarts=3,
    ),
    Node(
        "input_device",
        Host.OPERATOR,
        "devices",
        "gamepad, joystick or 3-D mouse of this host, through evdev and a map file; started by `telerobot devices`",
        publishes=("joy", "diagnostics"),
        subscribes=("joy/set_feedback",),
        required=False,
        restarts=3,
        niceness=-5,  # the arm follows the hand
    ),
    Node(
        "link_emulator",
        Host.EITHER,
        "tools",
        "emulates delay, jitter, loss and outage between the hosts, set at run time",
        publishes=("link_emulator/status", "diagnostics"),  # and every crossing topic, on the far side
        services=(Service("link_emulator/set", "telerobot/srv/SetLink", "set delay, jitter, loss, outage"),),
        restarts=3,
    ),
    Node(
        "link",
        Host.EITHER,
        "tools",
        "carries the topics and requests that cross between the hosts of a hosts file, in datagrams",
        # and every crossing topic that arrives
        publishes=("link/state", "link/refused", "link/permits", "halt", "diagnostics"),
        required=False,
        restarts=3,
        priority=50,  # halts pass through it
    ),
    Node(
        "bag_recorder",
        Host.EITHER,
        "tools",
        "records every topic of the graph (rosbag2, MCAP); recordings begin and end while the graph runs",
        publishes=("bag_recorder/state", "diagnostics"),  # subscribes to every topic
        services=(
            Service("bag_recorder/record", "telerobot/srv/SetRecording", "begin or end a recording, a bag of its own"),
        ),
        required=False,
        restarts=3,  # it goes on in a folder of its own
    ),
)
