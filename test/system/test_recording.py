"""Recordings of a running graph: ended and begun by an operator, reviewed, and gone on with when the recorder dies."""

import json
import os
import signal

import numpy as np
import pytest

from telerobot_nodes.cli import main
from telerobot_nodes.operator.view import Light
from telerobot_nodes.runtime import GraphOptions, Supervisor

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]
WITHOUT = ("operator_console", "operator_input", "cspace_planner", "rtc_decision_unit")
LIMIT = 60.0  # [s]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    bag = tmp_path_factory.mktemp("recording") / "bag"
    supervisor = Supervisor(GraphOptions("demo", bag=bag, without=WITHOUT), on_line=print)
    supervisor.start()
    try:
        assert supervisor.wait_ready(120.0)
        yield supervisor
    finally:
        assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean)


@pytest.fixture
def robot(graph):
    from telerobot_nodes.client import connect

    with connect(name="test") as robot:
        assert robot.wait_ready(LIMIT), robot.state
        yield robot


def move(robot, height):
    goal = robot.state.queue.target_pose[:3] + np.array([0.0, 0.0, height])
    assert robot.move_to(position=goal, speed=0.1).ok


def reviewed(bag):
    """Figures that the command finds in a recording."""
    file = bag.with_suffix(".json")
    assert main(["review", str(bag), "--json", str(file)]) in (0, 1)  # 1: the machine was late; 2: no valid bag
    return json.loads(file.read_text())


def shows(robot, light):
    return robot.wait_until(lambda _: robot.view().light is light, LIMIT)


@pytest.mark.nightly
def test_an_operator_ends_and_begins_recordings_and_a_killed_recorder_goes_on_beside(graph, robot):
    first = graph.options.bag
    second = first.with_name("second")
    assert shows(robot, Light.ON)
    move(robot, 0.02)
    assert robot.record(False).done
    assert shows(robot, Light.OFF)
    assert "a folder that does not exist yet" in robot.record(True, str(first)).text
    assert robot.record(True, str(second)).done
    move(robot, -0.02)
    assert robot.record(False).done
    for bag in (first, second):
        assert reviewed(bag)["points_executed"] > 0, bag

    assert main(["record", "on"]) == 0
    assert shows(robot, Light.ON)
    assert robot.state.recorder.folder == str(first.with_name("bag_2"))
    os.kill(graph.pid("bag_recorder"), signal.SIGKILL)
    third = first.with_name("bag_3")
    assert robot.wait_until(lambda state: state.recorder.folder == str(third), LIMIT)
    assert shows(robot, Light.ON)
    move(robot, 0.02)
    assert robot.record(False).done
    assert reviewed(third)["points_executed"] > 0
