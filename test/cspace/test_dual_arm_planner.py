"""Plans for two planar arms: strategies in their order, one-by-one moves, reasons."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import arm_geometry
from telerobot_nodes.cspace.multi_arm import DualArmPlanner, DualArmSettings
from telerobot_nodes.cspace.multi_arm.dual_arm_planner import Way
from telerobot_nodes.errors import InvalidValueError

UP, DOWN = np.array([1.2, 0.0]), np.array([-1.2, 0.0])


@pytest.fixture(scope="module")
def planner(planar):
    """Two planar arms that face each other, 1.3 m apart."""
    turned = pin.SE3(pin.utils.rotate("z", np.pi), np.array([1.3, 0.0, 0.0]))
    other = arm_geometry(load_robot(str(planar.robot.urdf_path), T_world_base=turned))
    settings = DualArmSettings(margin=0.02, tree_probes=20_000, cells=200)
    return DualArmPlanner([planar, other], [], settings, parks=[np.array([2.2, 0.0]), np.array([2.2, 0.0])])


@pytest.mark.lengthy
def test_two_arms_that_cross_get_paths_from_start_to_goal_and_a_schedule(planner):
    plan = planner.plan([UP, -UP], [DOWN, -DOWN])
    assert plan.found, plan.reason
    assert plan.way is not Way.NONE
    for path, start, goal in zip(plan.paths, [UP, -UP], [DOWN, -DOWN], strict=True):
        assert path.path[0] == pytest.approx(start)
        assert path.path[-1] == pytest.approx(goal)
    assert plan.schedule.ticks[-1].tolist() == [len(times) - 1 for times in plan.schedule.times]
    assert any(text.startswith(plan.way.value) for text in plan.tried)


def test_arms_that_do_not_meet_go_together(planner):
    plan = planner.plan([UP, UP], [UP + 0.2, UP + 0.2])
    assert plan.way is Way.TOGETHER


def test_goals_that_overlap_have_no_plan_and_a_reason(planner):
    plan = planner.plan([UP, UP], [np.zeros(2), np.zeros(2)])
    assert not plan.found
    assert plan.way is Way.NONE
    assert plan.reason


@pytest.mark.parametrize("way", [Way.IN_TURNS, Way.ASIDE, Way.BOTH_ASIDE])
def test_one_by_one_each_arm_ends_at_its_goal(planner, way):
    goals = [DOWN, -DOWN]
    moves = planner._moves(way, 0, 1, goals)
    assert moves[0][0] == 0
    paths = planner._one_by_one(moves, [UP, UP], [])
    for path, start, goal in zip(paths, [UP, UP], goals, strict=True):
        assert path.path[0] == pytest.approx(start)
        assert path.path[-1] == pytest.approx(goal)


def test_a_path_alone_avoids_where_the_other_stands(planner):
    path = planner.plan_alone(0, UP, UP + 0.3, UP)
    assert path.path[-1] == pytest.approx(UP + 0.3)
    assert isinstance(planner.plan_alone(0, UP, np.zeros(2), np.zeros(2)), str)


def test_two_arms_and_valid_distances_are_required(planar):
    with pytest.raises(InvalidValueError, match="geometries"):
        DualArmPlanner([planar], [])
    with pytest.raises(InvalidValueError, match="margin"):
        DualArmSettings(margin=0.0)
