"""The planning scene on the operator's side: taken once, loaded with the first obstacle, reported once."""

import time

import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time

from telerobot.msg import Obstacle, Obstacles
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.service import InProcessPlanner
from telerobot_nodes.nodes.operator.planning_scene_monitor import PlanningSceneMonitor

LOAD_LIMIT = 300.0  # [s] for a planner whose functions are not compiled yet
BOX = {"kind": "box", "size": [0.1, 0.1, 0.1], "pose": [0.4, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]}


class Side:
    """A monitor with a planner that has loaded nothing."""

    def __init__(self):
        self.planner = InProcessPlanner({"arm": load_robot("arm")})
        self.changes = 0
        self.monitor = PlanningSceneMonitor(self.planner, self._changed)

    def _changed(self):
        self.changes += 1

    def receive(self, second, *names):
        obstacles = [Obstacle(name=name, **BOX) for name in names]
        self.monitor.receive(Obstacles(stamp=Time(sec=second), replace=True, obstacles=obstacles))


@pytest.fixture
def side():
    return Side()


def test_an_empty_scene_is_reported_once_and_loads_nothing(side):
    side.receive(1)
    side.receive(1)
    side.monitor.tick()
    side.monitor.tick()
    assert side.changes == 1
    assert not side.planner.ready


@pytest.mark.timeout(LOAD_LIMIT + 60)
def test_a_scene_with_an_obstacle_is_reported_when_the_planner_has_loaded(side):
    side.receive(1, "box")
    side.monitor.tick()
    assert side.changes == int(side.planner.ready)
    end = time.monotonic() + LOAD_LIMIT
    while not side.planner.ready and time.monotonic() < end:
        assert side.planner.trouble == ""
        time.sleep(0.01)
    side.monitor.tick()
    assert side.changes == 1
    assert list(side.planner.scene.entries) == ["box"]


def test_the_same_scene_published_again_changes_nothing(side):
    side.receive(1)
    scene = side.planner.scene
    side.receive(1)
    assert side.planner.scene is scene
    side.receive(2)
    assert side.planner.scene is not scene
