"""Bags of measured joints, made in a test."""

import numpy as np

from telerobot_nodes.graph.table import TOPICS
from telerobot_nodes.operator.recording import BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import message_types

START = 10**18  # [ns]
JOINTS, WRENCH = "/joint_states", "/hardware_interface/wrench"


def write_bag(folder, names, rows, force=()):
    """A bag of joint states at 200 Hz, and of forces along x at the same times."""
    types = message_types()
    kinds = {f"/{entry.name}": entry for entry in TOPICS if f"/{entry.name}" in (JOINTS, WRENCH)}
    writer = BagWriter(folder, {name: BagTopic(entry.type, entry.qos) for name, entry in kinds.items()})
    header = types.types["std_msgs/msg/Header"](types.types["builtin_interfaces/msg/Time"](0, 0), "")

    def add(name, time, message):
        writer.write(name, START + round(time * 1e9), bytes(types.serialize_cdr(message, kinds[name].type)))

    none, vector = np.zeros(0), types.types["geometry_msgs/msg/Vector3"]
    for k, row in enumerate(rows):
        add(JOINTS, 0.005 * k, types.types["sensor_msgs/msg/JointState"](header, list(names), row, none, none))
    for k, x in enumerate(force):
        wrench = types.types["geometry_msgs/msg/Wrench"](vector(x, 0.0, 0.0), vector(0.0, 0.0, 0.0))
        add(WRENCH, 0.005 * k, types.types["geometry_msgs/msg/WrenchStamped"](header, wrench))
    assert writer.close().dropped == 0
    return folder
