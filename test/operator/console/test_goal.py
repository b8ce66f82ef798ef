"""A goal is shown where it was typed or designated; the tool goes there when GO is pressed; every end is a notice."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from viser_scene import RecordingScene

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import OperatorClient, QueueStatus, RobotStatus
from telerobot_nodes.operator.console.goal import END, GO, Goal

START = np.array((0.5, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0))
TURNED = (0.0, 0.0, 1.0, 0.0)


class Widget:
    def __init__(self, value):
        self.value = value

    def on_click(self, callback):
        self.press = lambda value: (setattr(self, "value", value), callback(None))

    def on_update(self, callback):
        self.type = lambda value: (setattr(self, "value", value), callback(SimpleNamespace(client_id=1)))


class Gui:
    def add_folder(self, label, **look):
        return nullcontext()

    def add_vector3(self, label, value, **look):
        self.place = Widget(value)
        return self.place

    def add_slider(self, label, low, high, step, value, **look):
        return Widget(value)

    def add_button_group(self, label, options, **look):
        self.buttons = Widget(options[0])
        return self.buttons


class Port:
    def __init__(self):
        self.targets = []

    def stream(self, target):
        self.targets.append(target.pose)

    def call(self, *_):
        pass

    halt = estop = call


@pytest.fixture
def gui():
    return Gui()


@pytest.fixture
def scene():
    return RecordingScene()


@pytest.fixture
def port():
    return Port()


@pytest.fixture
def client(port):
    client = OperatorClient(port)
    client.receive_queue(QueueStatus(has_authority=True, stale=False, target_pose=START), 0.0)
    client.receive_robot(RobotStatus(mode=ExecutorMode.IDLE, tool_pose=START), 0.0)
    return client


@pytest.fixture
def goal(gui, scene):
    return Goal(gui, scene)


def last_note(client):
    return client.notices[-1].text if client.notices else ""


def test_a_goal_is_shown_and_moves_nothing(goal, gui, scene, client, port):
    assert not scene.drawn["/goal"].visible
    goal.designate((0.6, 0.1, 0.4), TURNED)
    marker = scene.drawn["/goal"]
    assert (marker.visible, marker.position, marker.wxyz) == (True, (0.6, 0.1, 0.4), (0.0, 0.0, 0.0, 1.0))
    gui.place.type((0.7, 0.0, 0.4))
    assert marker.position == (0.7, 0.0, 0.4)
    goal.step(client, 0.0, driven=False)
    assert port.targets == []


def test_go_sends_targets_on_the_line_to_the_goal_and_its_orientation(goal, gui, client, port):
    goal.designate((0.6, 0.0, 0.4), TURNED)
    gui.buttons.press(GO)
    for tenth in range(100):
        client.received.queue = client.received.robot = 0.1 * tenth
        goal.step(client, 0.1 * tenth, driven=False)
    assert np.allclose(port.targets[0], START)
    assert np.allclose(port.targets[-1][:3], (0.6, 0.0, 0.4))
    assert np.allclose(np.abs(port.targets[-1][3:]), TURNED)
    assert all(0.5 <= pose[0] <= 0.6 and pose[2] == pytest.approx(0.4) for pose in port.targets)


def test_a_place_that_is_typed_keeps_the_tools_orientation(goal, gui, client, port):
    goal.designate((0.6, 0.0, 0.4), TURNED)
    gui.place.type((0.6, 0.0, 0.5))
    gui.buttons.press(GO)
    for tenth in range(50):
        client.received.queue = client.received.robot = 0.1 * tenth
        goal.step(client, 0.1 * tenth, driven=False)
    assert np.allclose(port.targets[-1], (0.6, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0))


@pytest.mark.parametrize("by", ["end", "gizmo", "halt", "again"])
def test_the_motion_ends_with_a_notice_and_sends_no_more(goal, gui, client, port, by):
    goal.designate((0.9, 0.0, 0.4))
    gui.buttons.press(GO)
    goal.step(client, 0.0, driven=False)
    assert len(port.targets) == 1
    if by == "halt":
        client.receive_robot(replace(client.robot, mode=ExecutorMode.HALTED), 0.1)
    elif by in ("end", "again"):
        gui.buttons.press(END)
    if by == "again":
        gui.buttons.press(GO)
    goal.step(client, 0.1, driven=by == "gizmo")
    assert last_note(client).startswith("motion to the goal stopped")
    goal.step(client, 0.2, driven=False)
    assert (len(port.targets) > 1) == (by == "again")


def test_without_authority_it_is_refused_and_says_why(goal, gui, client, port):
    client.receive_queue(replace(client.queue, has_authority=False), 0.0)
    gui.buttons.press(GO)
    goal.step(client, 0.0, driven=False)
    assert last_note(client) == "motion to the goal refused: authority is with nobody"
    assert port.targets == []


@pytest.mark.parametrize(
    "bad", [((np.nan, 0.0, 0.0), None), ((0.0, 0.0), None), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0))]
)
def test_a_goal_that_is_none_is_refused_and_the_one_before_stays(goal, scene, bad):
    goal.designate((0.6, 0.1, 0.4))
    with pytest.raises(InvalidValueError):
        goal.designate(*bad)
    assert scene.drawn["/goal"].position == (0.6, 0.1, 0.4)
