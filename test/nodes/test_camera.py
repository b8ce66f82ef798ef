"""The node `camera` and its requests: what is asked for comes in force, what is wrong is refused, nothing is lost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import CompressedImage, JointState

from telerobot.msg import CameraSetting as CameraSettingMessage
from telerobot_nodes.core.camera import KEEP, CameraSetting, encode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients.camera_requests import MOST_REPEATS, CameraRequests
from telerobot_nodes.nodes.robot.picture_sources import Joints, OutsideCamera
from telerobot_nodes.operator.client import Result, commands

FILE = """image_width: 64
image_height: 48
camera_matrix: {rows: 3, cols: 3, data: [60, 0, 32, 0, 60, 24, 0, 0, 1]}
"""
MOUNT = np.array((0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0))


@pytest.fixture(scope="module")
def robot():
    return load_robot("arm")


def joints_message(robot, q, second=0):
    message = JointState(name=list(robot.joint_names), position=[float(value) for value in q])
    message.header.stamp.sec = second
    return message


def picture(height=48, second=0, cut=None):
    pixels = np.full((height, 64, 3), 90, np.uint8)
    message = CompressedImage(format="jpeg", data=encode(pixels).data[:cut])
    message.header.stamp.sec = second
    return message


@pytest.fixture
def outside(robot, tmp_path):
    file = tmp_path / "palm.yaml"
    file.write_text(FILE)
    joints = Joints(robot)
    return OutsideCamera(robot, joints, file, "camera", MOUNT), joints


def test_an_outside_picture_is_taken_once_from_where_its_link_was_at_its_stamp(robot, outside):
    source, joints = outside
    for second, turned in ((1, 0.0), (2, 0.5)):
        joints.receive(joints_message(robot, np.array(robot.home) + turned, second))
    source.receive(picture(second=1))
    early = source.take("outside")
    assert source.take("outside") is None
    source.receive(picture(second=2))
    late = source.take("outside")
    assert early.stamp.sec == 1
    assert np.linalg.norm(early.pose[:3] - late.pose[:3]) > 0.1


def test_without_measured_joints_a_picture_from_a_link_is_left_out(outside):
    source, _ = outside
    source.receive(picture())
    assert source.take("outside") is None


@pytest.mark.parametrize(
    ("message", "text"),
    [(picture(height=40), "height: 48"), (picture(cut=-30), "picture"), (picture(cut=0), "picture")],
)
def test_a_picture_that_is_damaged_or_of_another_size_is_refused(outside, message, text):
    source, _ = outside
    source.receive(message)
    with pytest.raises(InvalidValueError, match=text):
        source.take("outside")


def test_an_unknown_mount_is_refused(robot, tmp_path):
    (tmp_path / "palm.yaml").write_text(FILE)
    with pytest.raises(InvalidValueError, match=r"mount: 'nosuch' .*allowed: world"):
        OutsideCamera(robot, Joints(robot), tmp_path / "palm.yaml", "nosuch", MOUNT)


@pytest.mark.parametrize(
    ("names", "position", "text"),
    [
        (("joint1",), (0.0,), "joint_states.name"),
        (None, (np.nan,) * 6, "joint_states.position"),
        (None, (0.0,), "length"),
    ],
)
def test_joints_of_another_robot_are_refused(robot, names, position, text):
    message = SimpleNamespace(
        name=list(names or robot.joint_names),
        position=position,
        header=SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0)),
    )
    with pytest.raises(InvalidValueError, match=text):
        Joints(robot).receive(message)


def test_joints_may_come_in_another_order(robot):
    joints = Joints(robot)
    message = joints_message(robot, range(robot.dof))
    message.name, message.position = message.name[::-1], message.position[::-1]
    joints.receive(message)
    assert joints.latest()[0].tolist() == list(range(robot.dof))


# requests ----------------------------------------------------------------------------------------------------------


class Wire:
    """A node that remembers what is published, and hands the camera's state to who subscribed."""

    def __init__(self):
        self.sent, self.callback, self.there = [], None, 1

    def publisher(self, name):
        assert name == "camera/request"
        return SimpleNamespace(publish=self.sent.append, get_subscription_count=lambda: self.there)

    def subscribe(self, name, callback):
        assert name == "camera/state"
        self.callback = callback

    def stamp(self):
        return CameraSettingMessage().stamp

    def state(self, camera="overview", rate=4.0, budget=120_000.0, problem=""):
        self.callback(CameraSettingMessage(camera=camera, rate=rate, budget=budget, problem=problem))


@pytest.fixture
def wire():
    return Wire()


def test_a_request_is_repeated_with_each_state_until_it_is_in_force(wire):
    requests = CameraRequests(wire)
    assert requests.send(commands.SetCamera("wrist", rate=2.0)).done
    wire.state()
    wire.state()
    assert [(m.camera, m.rate, m.budget) for m in wire.sent] == 3 * [("wrist", 2.0, KEEP)]
    assert requests.outcome is None
    wire.state("wrist", 2.0)
    wire.state()  # another operator's: not ours to undo
    assert requests.outcome.done
    assert len(wire.sent) == 3


def test_a_refused_request_ends_with_the_reason(wire):
    requests = CameraRequests(wire)
    requests.send(commands.SetCamera("nosuch"))
    wire.state(problem="request refused: camera: 'nosuch' is not allowed")
    wire.state()
    assert (requests.outcome.result, len(wire.sent)) == (Result.REFUSED, 1)


def test_a_camera_that_never_takes_it_is_not_asked_for_ever(wire):
    requests = CameraRequests(wire)
    requests.send(commands.SetCamera("wrist"))
    for _ in range(2 * MOST_REPEATS):
        wire.state()
    assert requests.outcome.result is Result.NO_ANSWER
    assert len(wire.sent) == 1 + MOST_REPEATS


def test_without_a_camera_a_request_says_what_is_missing(wire):
    wire.there = 0
    outcome = CameraRequests(wire).send(commands.SetCamera("wrist"))
    assert (outcome.result, wire.sent) == (Result.NOT_SERVED, [])
    assert "--camera" in outcome.text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"rate": float("nan")}, "camera rate: nan"),
        ({"rate": -2.0}, "camera rate: -2"),
        ({"rate": 1e300}, "camera rate"),
        ({"budget": float("inf")}, "camera budget: inf"),
        ({"budget": 0.0}, "camera budget: 0"),
        ({"rate": 30.0, "budget": 3000.0}, "camera budget: 3000"),
        ({"camera": "x" * 70_000}, "camera: "),
    ],
)
def test_a_wrong_request_changes_nothing(fields, text):
    in_force = CameraSetting("overview", 4.0, 120_000.0)
    with pytest.raises(InvalidValueError, match=text):
        in_force.changed(CameraSettingMessage(**{"camera": "", "rate": KEEP, "budget": KEEP, **fields}))
    assert in_force.changed(CameraSettingMessage(camera="", rate=KEEP, budget=KEEP)) == in_force
