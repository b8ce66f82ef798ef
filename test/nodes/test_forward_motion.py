"""The forward simulator draws a motion that is sent to it, in its own time; what is no motion changes nothing."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.menus import Motion, MotionSender
from telerobot_nodes.nodes.operator.forward_simulator import ForwardSimulatorNode
from telerobot_nodes.operator.client.from_messages import lines_from_markers

ARM = load_robot("arm")
HOME = np.array(ARM.home)
TURN = 0.4  # [rad] of the first joint


def turning(seconds):
    motion = Motion()
    for part in np.linspace(0.0, 1.0, 21):
        motion.add(seconds * part, HOME + part * np.eye(ARM.dof)[0] * TURN)
    return motion


def test_a_motion_is_drawn_from_its_begin_to_its_end_until_it_is_cleared(ros):
    node = ros.add(ForwardSimulatorNode(NodeOptions("forward_simulator")))
    seen, lines = [], []
    ros.probe.create_subscription(
        JointState, "forward_simulator/simulated", lambda m: seen.append(np.array(m.position)), qos_profile_sensor_data
    )
    ros.probe.create_subscription(MarkerArray, "forward_simulator/markers", lines.append, qos_profile_sensor_data)
    publisher = ros.probe.create_publisher(JointTrajectory, "forward_simulator/motion", 64)
    assert ros.until(lambda: publisher.get_subscription_count() and lines)
    sender = MotionSender(publisher.publish, ARM.joint_names)
    assert not seen

    sender.draw(turning(1.0))
    assert ros.until(lambda: seen and seen[-1][0] == pytest.approx(HOME[0] + TURN))
    turns = np.array(seen)[:, 0] - HOME[0]
    assert turns[0] < 0.5 * TURN  # it is drawn in its own time, not at once
    assert (np.diff(turns) >= 0.0).all()
    assert ros.until(lambda: len(lines_from_markers(lines[-1]).motion) == 21)
    ends = [ARM.forward(HOME + turn * np.eye(ARM.dof)[0]).translation for turn in (0.0, TURN)]
    assert lines_from_markers(lines[-1]).motion[[0, -1]] == pytest.approx(np.array(ends))

    wrong = JointTrajectory()
    wrong.points = [JointTrajectoryPoint(positions=[float("nan")] * ARM.dof)]
    publisher.publish(wrong)
    sender.draw(turning(0.1))  # after it, and of another stamp
    assert ros.until(lambda: len(seen) and node.health().values["simulated motion"] == "21 points")

    sender.draw(None)
    assert ros.until(lambda: node.health().values["simulated motion"] == "0 points")
    assert ros.until(lambda: next(m for m in lines[-1].markers if m.ns == "motion").action == Marker.DELETE)
    count = len(seen)
    assert ros.until(lambda: len(lines) > 3)
    assert len(seen) <= count + 1
