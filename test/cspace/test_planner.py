"""Paths and their proofs, from the straight motion to the complete search."""

import math
from itertools import pairwise

import numpy as np
import pytest

from telerobot_nodes.bench.planner.problems import make_problem
from telerobot_nodes.cspace.geometry import box, clearance, floor, link_poses_of, sphere
from telerobot_nodes.cspace.search import Certificate, Outcome, Planner, PlannerSettings, check_certificate
from telerobot_nodes.errors import InvalidValueError

SETTINGS = PlannerSettings(tree_probes=300_000, cells=600)


def planner_for(geometry, problem):
    return Planner(geometry, list(problem.obstacles), SETTINGS)


def densely(path, step=2e-3):
    for a, b in pairwise(path):
        count = max(math.ceil(np.abs(b - a).max() / step), 1)
        for i in range(count + 1):
            yield a + i / count * (b - a)


@pytest.mark.parametrize(("family", "seed"), [("table", 0), ("table", 3), ("bookshelf", 1), ("box", 2), ("cage", 3)])
@pytest.mark.lengthy
def test_a_path_comes_with_a_proof_that_the_independent_checker_accepts(panda, family, seed):
    problem = make_problem(panda, family, seed)
    planner = planner_for(panda, problem)
    plan = planner.plan(problem.start, problem.goal)
    assert plan.found, plan
    assert plan.path[0] == pytest.approx(problem.start)
    assert plan.path[-1] == pytest.approx(problem.goal)
    checked = check_certificate(plan.certificate, plan.path, panda, planner.obstacles, SETTINGS.margin)
    assert checked.valid, checked
    poses = link_poses_of(panda.arm)
    assert min(clearance(panda.arm, planner.world, poses, q) for q in densely(plan.path)) > 0.0


def test_the_six_joint_arm_is_planned_for_too(arm):
    problem = make_problem(arm, "table", 1)
    plan = planner_for(arm, problem).plan(problem.start, problem.goal)
    assert plan.found
    assert check_certificate(plan.certificate, plan.path, arm, list(problem.obstacles), SETTINGS.margin).valid


def test_the_same_problem_gives_the_same_path(panda):
    problem = make_problem(panda, "table", 4)
    first = planner_for(panda, problem).plan(problem.start, problem.goal)
    again = planner_for(panda, problem).plan(problem.start, problem.goal)
    assert np.array_equal(first.path, again.path)


def test_without_obstacles_the_way_is_straight(panda):
    home = np.array(panda.robot.home)
    plan = Planner(panda, []).plan(home, home + 0.2)
    assert len(plan.path) == 2
    assert plan.stage == "trial"


def found_plan(panda):
    problem = make_problem(panda, "table", 0)
    planner = planner_for(panda, problem)
    return planner, planner.plan(problem.start, problem.goal)


def test_the_checker_refuses_a_chain_with_a_cell_missing(panda):
    planner, plan = found_plan(panda)
    certificate = plan.certificate
    middle = len(certificate) // 2
    broken = Certificate(np.delete(certificate.centers, middle, 0), np.delete(certificate.halves, middle, 0))
    checked = check_certificate(broken, plan.path, panda, planner.obstacles, SETTINGS.margin)
    assert not checked.valid
    assert "covered" in checked.reason


def test_the_checker_refuses_cells_that_are_not_free(panda):
    planner, plan = found_plan(panda)
    tool = panda.robot.forward(plan.path[-1]).translation
    there = [*planner.obstacles, sphere("new", 0.1, tool)]
    checked = check_certificate(plan.certificate, plan.path, panda, there, SETTINGS.margin)
    assert not checked.valid
    assert "not free" in checked.reason


def test_the_checker_refuses_cells_blown_up(panda):
    planner, plan = found_plan(panda)
    wide = Certificate(plan.certificate.centers.copy(), plan.certificate.halves + 0.5)
    assert not check_certificate(wide, plan.path, panda, planner.obstacles, SETTINGS.margin).valid


def test_a_start_in_collision_is_told_with_what_and_how_deep(panda):
    home = np.array(panda.robot.home)
    tool = panda.robot.forward(home).translation
    plan = Planner(panda, [sphere("thing", 0.1, tool)]).plan(home, home + 0.1)
    assert plan.outcome is Outcome.START_COLLIDES
    assert "thing" in plan.reason
    assert "mm" in plan.reason
    assert plan.path.size == 0


def test_a_goal_in_collision_is_told_too(panda):
    home = np.array(panda.robot.home)
    goal = home + np.array([0.8, 0, 0, 0, 0, 0, 0])
    plan = Planner(panda, [sphere("thing", 0.05, panda.robot.forward(goal).translation)]).plan(home, goal)
    assert plan.outcome is Outcome.GOAL_COLLIDES


@pytest.mark.parametrize("bad", [np.full(7, math.nan), np.zeros(6), np.full(7, 9.0), [math.inf] * 7, "here"])
def test_a_configuration_that_is_none_is_refused(panda, bad):
    planner = Planner(panda, [floor(height=-0.12)])
    with pytest.raises(InvalidValueError, match="start"):
        planner.plan(bad, panda.robot.home)
    with pytest.raises(InvalidValueError, match="goal"):
        planner.plan(panda.robot.home, bad)


def test_a_spent_budget_is_an_answer(panda):
    problem = make_problem(panda, "cage", 1)
    poor = PlannerSettings(trial_probes=1, tree_probes=1, cells=10)
    plan = Planner(panda, list(problem.obstacles), poor).plan(problem.start, problem.goal)
    assert plan.outcome is Outcome.BUDGET_SPENT
    assert plan.path.size == 0


def test_obstacles_that_move_are_respected_by_the_next_query(panda):
    home, turn = np.array(panda.robot.home), np.array([1.0, 0, 0, 0, 0, 0, 0])
    planner = Planner(panda, [])
    assert len(planner.plan(home - turn, home + turn).path) == 2
    planner.set_obstacles([box("pole", (0.04, 0.04, 0.3), panda.robot.forward(home).translation)])
    plan = planner.plan(home - turn, home + turn)
    assert plan.found
    assert len(plan.path) > 2


def test_cells_are_judged_again_when_they_are_next_asked_for(planar):
    planner = Planner(planar, [sphere("ball", 0.05, (0.6, 0.0, 0.0))])
    q = np.array([0.9, 0.4])
    before = planner.cells.status[planner.cells.refine(q, 0.2)]
    obstacles = [sphere("ball", 0.05, planar.robot.forward(q).translation)]
    planner.set_obstacles(obstacles)
    assert not planner.cells_current
    assert planner.status(q)[0] < 0.0  # what is no cell is up to date at once
    fresh = Planner(planar, obstacles)
    after, anew = (p.cells.status[p.cells.refine(q, 0.2)] for p in (planner, fresh))
    assert before != after == anew
    assert planner.cells_current


def test_obstacles_that_are_refused_change_nothing(planar):
    planner = Planner(planar, [])
    with pytest.raises(InvalidValueError, match="obstacle name"):
        planner.set_obstacles([floor(), floor()])
    assert planner.obstacles == []
    assert planner.cells_current


def countdown(calls):
    """A clock that shows one second less each time it is asked."""
    left = iter(range(calls, -1, -1))
    return lambda: float(next(left, 0))


def test_the_time_is_used_to_its_end_with_other_samples_each_try(planar):
    wall = [box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))]
    planner = Planner(planar, wall, PlannerSettings(tree_probes=500, cell=2.5))
    start, goal = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    plan = planner.plan(start, goal, countdown(40))
    assert plan.outcome is Outcome.UNPROVED  # cells that coarse prove nothing
    assert plan.statistics["tries"] > 3
    assert planner.plan(start, goal).statistics["tries"] == 1


@pytest.mark.lengthy
def test_time_that_ends_between_two_looks_at_the_clock_does_no_harm_to_later_requests(planar):
    """Each number of looks before the end, so that it comes at every place; then a request with time is answered."""
    wall = [box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))]
    planner = Planner(planar, wall, PlannerSettings(tree_probes=500, cell=2.5))
    start, goal = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    for looks in [*range(1, 30)] * 3:
        times = iter([1.0] * looks)
        planner.plan(start, goal, lambda times=times: next(times, -1e-3))
    plan = planner.plan(start, goal, countdown(40))
    assert plan.outcome is Outcome.UNPROVED
    assert plan.statistics["tries"] > 3
    assert plan.statistics["tree_probes"] > 500


def test_a_proof_that_there_is_no_path_ends_the_search_before_the_time(planar):
    wall = [box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))]
    plan = Planner(planar, wall).plan(np.array([-1.6, 0.1]), np.array([1.6, 0.1]), lambda: 1000.0)
    assert plan.outcome is Outcome.NO_PATH
    assert plan.statistics["tries"] == 1
