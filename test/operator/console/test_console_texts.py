"""When bar and panel are drawn: at once after what an operator pressed for, else with their period."""

import json
from types import SimpleNamespace

import pytest
from websockets.sync.client import connect

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator.client import Notice, OperatorClient, QueueStatus, RobotStatus, Tone
from telerobot_nodes.operator.console import Console, ConsoleSetup
from telerobot_nodes.operator.scene import ArmShapes

ROBOT = load_robot("arm")


@pytest.fixture
def client():
    client = OperatorClient(SimpleNamespace(halt=None, estop=None))  # nothing is sent here
    client.receive_robot(RobotStatus(mode=ExecutorMode.RUNNING), 10.0)
    client.receive_queue(QueueStatus(lead=2.5), 10.0)
    return client


@pytest.fixture
def console(client):
    served = Console(client, ROBOT, ArmShapes((), ()), ConsoleSetup(port=0, typed_goals=False))
    yield served
    served.close()


@pytest.fixture
def shown(console):
    """Draws at a time; the texts that a page then gets, none of earlier drawings left."""
    with connect(console.url.replace("http", "ws") + "/stops") as page:

        def draw(at):
            drawn = console._texts_at
            console.step(at)
            return json.loads(page.recv(20.0)) if console._texts_at != drawn else None

        page.ping().wait(20.0)  # the server has counted the page
        yield draw


CHANGES = {
    "mode": lambda client: client.receive_robot(RobotStatus(mode=ExecutorMode.PAUSED), 10.01),
    "e-stop": lambda client: client.receive_robot(RobotStatus(mode=ExecutorMode.RUNNING, estop=True), 10.01),
    "time clutch": lambda client: client.receive_queue(QueueStatus(lead=2.5, time_clutch=True), 10.01),
    "position clutch": lambda client: client.receive_queue(QueueStatus(lead=2.5, position_clutch=False), 10.01),
    "notice": lambda client: client.notices.append(Notice(10.01, "delete all: refused", Tone.BAD)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_pressed_for_is_drawn_with_the_next_step(shown, client, change):
    assert shown(10.0) is not None
    assert shown(10.01) is None
    change(client)
    assert shown(10.02) is not None
    assert shown(10.03) is None


def test_what_changes_by_itself_waits_for_the_period(shown, client):
    assert shown(10.0)["lead"] == "2.5 s"
    client.receive_queue(QueueStatus(lead=2.6), 10.01)
    assert shown(10.05) is None
    assert shown(10.11)["lead"] == "2.6 s"
