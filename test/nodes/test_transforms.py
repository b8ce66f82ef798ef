"""Transforms of the simulated arms, with and without ROS's `tf2_msgs` (which is on no package index)."""

import importlib.util
import logging
import sys
from dataclasses import dataclass
from types import ModuleType

import pytest
from builtin_interfaces.msg import Time

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.operator.transforms import MISSING, ArmTransforms


class Host:
    """What the transforms need of a node."""

    def __init__(self):
        self.sent, self.topic = [], ""

    def get_logger(self):
        return logging.getLogger("host")

    def get_namespace(self):
        return "/left"

    def create_publisher(self, kind, topic, depth):
        self.topic = topic
        return self

    def publish(self, message):
        self.sent.append(message)


@pytest.fixture
def tf2_msgs(monkeypatch):
    """The real package where there is one, else a message with the same one field."""
    if importlib.util.find_spec("tf2_msgs") is None:

        @dataclass
        class TFMessage:
            transforms: list

        package, messages = ModuleType("tf2_msgs"), ModuleType("tf2_msgs.msg")
        messages.TFMessage = TFMessage
        monkeypatch.setitem(sys.modules, "tf2_msgs", package)
        monkeypatch.setitem(sys.modules, "tf2_msgs.msg", messages)


def test_every_link_of_every_simulated_arm_is_a_transform_in_world(tf2_msgs):
    host, robot = Host(), load_robot("arm")
    transforms = ArmTransforms(host, robot)
    transforms.send({"predicted": robot.home, "trial": robot.home + 0.1}, Time(sec=7))
    (message,) = host.sent
    names = [entry.child_frame_id for entry in message.transforms]
    assert host.topic == "/tf"
    assert len(set(names)) == len(names)
    assert {name.split("/")[:2][1] for name in names} == {"predicted", "trial"}
    assert all(name.startswith("left/") for name in names)
    assert {entry.header.frame_id for entry in message.transforms} == {"world"}
    assert all(entry.header.stamp.sec == 7 for entry in message.transforms)


@pytest.mark.skipif(importlib.util.find_spec("tf2_msgs") is not None, reason="tf2_msgs is installed here")
def test_without_tf2_msgs_it_is_said_and_nothing_is_sent():
    host, robot = Host(), load_robot("arm")
    transforms = ArmTransforms(host, robot)
    transforms.send({"predicted": robot.home}, Time())
    assert transforms.text == MISSING
    assert host.sent == []
