"""Other arms of a console: drawn at their places, in the banner and among the rows, and stopped with its own."""

import json

import numpy as np
import pytest
from viser_scene import RecordingScene
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from telerobot_nodes.core.protocol import ExecutorMode, UpdateKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator.client import (
    OperatorClient,
    PlanChange,
    QueueStatus,
    RobotStatus,
    SimulationStatus,
    Tone,
    commands,
)
from telerobot_nodes.operator.console import Console, ConsoleSetup
from telerobot_nodes.operator.console.arms import DrawnArm, OtherArm, OtherArms
from telerobot_nodes.operator.scene import ArmScene, ArmShapes, Detail, load_shapes
from telerobot_nodes.operator.view import view

ROBOT = load_robot("arm")
SHAPES = ArmShapes(load_shapes(ROBOT, Detail.COLLISION), load_shapes(ROBOT, Detail.COLLISION))
BASE = np.array((1.3, 0.2, 0.0, 0.0, 0.0, 1.0, 0.0))


class Port:
    def __init__(self):
        self.stops, self.asked = [], []

    def halt(self, number, reason):
        self.stops.append("halt")

    def estop(self, number, reason):
        self.stops.append("estop")

    def call(self, command, answer):
        self.asked.append(command)

    def stream(self, target):
        raise AssertionError(target)


def client_of(port, mode=ExecutorMode.RUNNING, **status):
    client = OperatorClient(port)
    client.receive_robot(RobotStatus(mode=mode, authority="ana", **status), 10.0)
    client.receive_queue(QueueStatus(lead=2.5, agent="bob"), 10.0)
    return client


@pytest.fixture
def port():
    return Port()


@pytest.fixture
def scene():
    return RecordingScene()


def beside(scene, client, name="right"):
    return OtherArms(scene, [OtherArm(name, client, ROBOT, SHAPES, BASE)])


@pytest.mark.parametrize("press", ["halt", "estop"])
def test_a_stop_of_the_bar_goes_to_every_arm_at_once_from_the_thread_that_receives_it(port, press):
    own, left = Port(), Port()
    others = tuple(OtherArm(name, client_of(p), ROBOT, SHAPES, BASE) for name, p in (("left", left), ("right", port)))
    console = Console(client_of(own), ROBOT, SHAPES, ConsoleSetup(port=0, others=others))
    try:
        with connect(console.url.replace("http", "ws") + "/stops") as page:
            page.send(press)
            assert json.loads(page.recv(20.0)) == {"heard": press}
            assert own.stops == left.stops == port.stops == [press]
            page.send("reset")
            assert json.loads(page.recv(20.0)) == {"heard": "reset"}
        console.take_requests(10.0)
    finally:
        console.close()
    assert own.asked == [commands.Reset()]
    assert left.asked == port.asked == []


def test_a_stop_that_cannot_be_sent_to_one_arm_goes_to_the_others(port):
    own = Port()
    own.halt = lambda number, reason: own.stops[0]
    others = (OtherArm("right", client_of(port), ROBOT, SHAPES, BASE),)
    console = Console(client_of(own), ROBOT, SHAPES, ConsoleSetup(port=0, others=others))
    try:
        with connect(console.url.replace("http", "ws") + "/stops") as page, pytest.raises(ConnectionClosed):
            page.send("halt")
            page.recv(20.0)  # not confirmed: the page sends it again
    finally:
        console.close()
    assert port.stops == ["halt"]


def test_the_arm_stands_at_its_base_with_its_name_and_everything_of_it_below_that(scene, port):
    client = client_of(port, joint_position=ROBOT.home)
    client.receive_simulation(SimulationStatus(head_position=ROBOT.home + 0.5, head_pose=BASE), 10.0)
    points = np.array(((0.1, 0.0, 0.5), (0.2, 0.0, 0.5), (0.3, 0.0, 0.5)))
    client.receive_plan(PlanChange(UpdateKind.APPEND, position=points, timing=np.zeros(3, np.uint8)))
    arms = beside(scene, client)
    arms.draw(10.0)
    frame = scene.drawn["/right"]
    assert (tuple(frame.position), frame.wxyz) == ((1.3, 0.2, 0.0), (0.0, 0.0, 0.0, 1.0))
    assert scene.drawn["/right/name"].args == ("right",)
    assert all(name == "/right" or name.startswith("/right/") for name in scene.drawn)
    assert scene.drawn["/right/arm/actual"].visible
    assert scene.drawn["/right/arm/predicted"].visible
    assert scene.drawn["/right/labels/predicted"].text == "right: forward simulation, 2.5 s ahead"
    assert len(scene.drawn["/right/plan/ahead"].args[0]) == 2


def test_the_banner_and_the_rows_show_the_other_arm_and_the_worse_colour(scene, port):
    own = view(client_of(Port()), 10.0)
    both = beside(scene, client_of(port, ExecutorMode.HALTED, reason="too close")).beside(own, 10.0)
    assert both.banner.text == "RUNNING | right: HALTED: too close"
    assert (own.banner.tone, both.banner.tone) == (Tone.GOOD, Tone.BAD)
    assert both.rows[:-1] == own.rows
    assert both.rows[-1].label == "right"
    assert both.rows[-1].text.startswith("HALTED: too close; lead 2.5 s; robot data received 0.0 s ago")


def test_without_other_arms_the_view_is_the_arms_own(scene):
    own = view(client_of(Port()), 10.0)
    assert OtherArms(scene, ()).beside(own, 10.0) == own
    assert scene.drawn == {}


@pytest.fixture
def console(port):
    served = Console(client_of(port), ROBOT, SHAPES, ConsoleSetup(port=0, typed_goals=False))
    yield served
    served.close()


def test_a_control_that_is_not_allowed_is_hidden_and_refused_and_a_stop_is_not(console, port):
    console.allow({commands.TimeClutch})
    shown = {frozenset(asks): widget.visible for widget, asks in console._panel._controls}
    assert shown[frozenset({commands.TimeClutch})]
    assert not shown[frozenset({commands.Clear})]
    for command in (commands.Clear(), commands.TimeClutch(False), commands.Halt()):
        console.inbox.put(command)
    console.take_requests(10.0)
    assert port.asked == [commands.TimeClutch(False)]
    assert port.stops == ["halt"]
    assert any(notice.text == "delete all: is not to be used now" for notice in console._client.notices)


def test_without_what_is_ahead_the_arm_alone_is_drawn_and_a_model_error_is_drawn_beside():
    scene = RecordingScene()
    client = client_of(Port(), joint_position=ROBOT.home)
    ahead = ROBOT.home + 0.3
    client.receive_simulation(SimulationStatus(head_position=ahead, estimate_position=ahead), 10.0)
    client.receive_plan(PlanChange(UpdateKind.APPEND, first_seq=1, position=np.ones((3, 3)), timing=np.zeros(3)))
    drawn = DrawnArm(client, ArmScene(scene, ROBOT, SHAPES))
    drawn.show_ahead(False, np.zeros(3))
    picture = drawn.draw(10.0)
    assert scene.drawn["/arm/actual"].visible
    assert not scene.drawn["/arm/predicted"].visible
    assert not scene.drawn["/arm/estimate"].visible
    assert picture.head is None
    drawn.show_ahead(True, np.array([0.0, 0.0, 0.005]))
    drawn.draw(10.0)
    assert scene.drawn["/arm/predicted"].visible
    assert scene.drawn["/arm/predicted"].position[2] == 0.005
