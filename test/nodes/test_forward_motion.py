"""The forward simulator draws a motion that is sent to it, in its own time; what is no motion changes nothing."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Duration
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from telerobot_nodes.cli.macro.showing import require_same_arm
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.menus import Motion, MotionSender
from telerobot_nodes.nodes.operator.forward_simulator import PART_POINTS, ForwardSimulatorNode
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

    sender.draw(None)
    assert ros.until(lambda: node.health().values["simulated motion"] == "0 points")
    assert ros.until(lambda: next(m for m in lines[-1].markers if m.ns == "motion").action == Marker.DELETE)
    count = len(seen)
    assert ros.until(lambda: len(lines) > 3)
    assert len(seen) <= count + 1


def part(*points, names=ARM.joint_names, stamp=9):
    message = JointTrajectory(joint_names=names, points=list(points))
    message.header.stamp.sec = stamp
    return message


def point(seconds=0, joints=HOME):
    return JointTrajectoryPoint(positions=list(joints), time_from_start=Duration(sec=seconds))


@pytest.fixture
def drawn(ros):
    node = ros.add(ForwardSimulatorNode(NodeOptions("forward_simulator")))
    publisher = ros.probe.create_publisher(JointTrajectory, "forward_simulator/motion", 64)
    assert ros.until(publisher.get_subscription_count)
    node.points = lambda: node.health().values["simulated motion"]
    return node, publisher.publish


@pytest.mark.parametrize(
    "wrong",
    [
        part(point(joints=[float("nan")] * ARM.dof)),
        part(point(joints=[1e400] * ARM.dof)),
        part(point(joints=HOME[:5])),
        part(point(joints=[*HOME, 0.0])),
        part(point(), point(joints=HOME[:5])),
        part(point(-1)),
        part(point(2), point(1)),
        part(point(1), point(2), stamp=5),  # the motion that is drawn is at 3 s
        part(point(), names=load_robot("ur5").joint_names),
        part(point(), names=()),
        part(*(point() for _ in range(PART_POINTS + 1))),
    ],
)
def test_what_is_no_motion_of_this_arm_is_refused_and_the_drawn_one_stays(ros, drawn, wrong):
    node, publish = drawn
    publish(part(point(), point(3), stamp=5))
    assert ros.until(lambda: node.points() == "2 points")
    publish(wrong)
    assert ros.until(lambda: node.refusals + node.errors)
    assert (node.points(), node.errors) == ("2 points", 0)
    publish(part(point(4), stamp=5))
    assert ros.until(lambda: node.points() == "3 points")


def test_a_motion_is_shown_only_of_the_arm_that_the_graph_has(drawn):
    require_same_arm(ARM, "")
    with pytest.raises(InvalidValueError, match=r"--robot.*ur5.*joint1"):
        require_same_arm(load_robot("ur5"), "")


def test_the_motion_that_began_last_is_drawn_though_the_sender_of_another_goes_on(ros, drawn):
    node, publish = drawn
    first, second = (MotionSender(publish, ARM.joint_names) for _ in range(2))
    one, other = turning(1.0), turning(2.0)
    first.draw(one)
    second.draw(other)
    for late in (3.0, 4.0):
        one.add(late, HOME)
        first.draw(one)
        other.add(late, HOME)
        second.draw(other)
    assert ros.until(lambda: node.points() == "23 points")
    second.clear()  # a person stops what is drawn
    one.add(5.0, HOME)
    first.draw(one)
    publish(part(point(), stamp=7))
    assert ros.until(lambda: node.points() == "1 points")
    one.add(6.0, HOME)
    first.draw(one)
    publish(part(point(1), stamp=7))
    assert ros.until(lambda: node.points() == "2 points")
    assert node.refusals + node.errors == 0
