"""The planner in a caller's process: what it answers before it is loaded, and when loading fails."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import scene_of, sphere
from telerobot_nodes.cspace.service import InProcessPlanner, precompile
from telerobot_nodes.cspace.service.in_process_planner import LOADING
from telerobot_nodes.errors import PlanningError

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)


@pytest.fixture
def planner():
    return InProcessPlanner({"arm": ROBOT}, margin=0.01)


def test_before_loading_nothing_is_called_free_and_nothing_collides(planner):
    planner.set_scene(scene_of([sphere("ball", 0.2, ROBOT.forward(HOME).translation)]))
    assert not planner.ready
    assert planner.unexamined == f"collisions are not examined: {LOADING}"
    assert planner.check_path("arm", np.array([HOME, HOME]), 0.0, frozenset()) == LOADING
    assert planner.check_outside("arm", np.array([HOME, HOME])) == LOADING
    assert planner.collision(HOME) == ("", 0.0)
    with pytest.raises(PlanningError, match=LOADING):
        planner.plan_joints("arm", HOME, HOME)


def test_a_failure_to_load_is_the_answer_from_then_on(planner, monkeypatch):
    def fail():
        raise OSError("disk gone")

    monkeypatch.setattr(precompile, "compile_apart", lambda: None)
    monkeypatch.setattr(planner, "load", fail)
    planner.load_later()
    planner._thread.join(timeout=5.0)
    assert "disk gone" in planner.trouble
    assert planner.unexamined == ""  # without obstacles there is nothing to examine
    planner.set_scene(scene_of([sphere("ball", 0.2, np.zeros(3))]))
    assert "disk gone" in planner.unexamined
    assert "disk gone" in planner.check_path("arm", np.array([HOME, HOME]), 0.0, frozenset())


def test_it_keeps_margin_and_scene(planner):
    scene = scene_of([])
    planner.set_scene(scene)
    assert planner.scene is scene
    assert planner.margin == 0.01
