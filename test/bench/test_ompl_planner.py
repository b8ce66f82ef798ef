"""The rival of `bench planner` plans: its checker is the planner's own, so its paths avoid what ours avoid."""

import numpy as np
import pytest

from telerobot_nodes.bench.planner.dense_check import DenseCheck
from telerobot_nodes.bench.planner.problems import make_problems
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import arm_geometry

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # its checkers are compiled at each run


@pytest.mark.parametrize("per_edge", [False, True])
def test_the_rival_solves_an_easy_problem_at_its_resolution(per_edge):
    pytest.importorskip("ompl")
    from telerobot_nodes.bench.planner.ompl_planner import OmplPlanner

    geometry = arm_geometry(load_robot("panda"))
    problem = next(problem for problem in make_problems(geometry, 1, 0) if problem.family == "table")
    path, *seconds = OmplPlanner(geometry, problem, 0.01, per_edge)(5.0)
    assert min(seconds) > 0.0
    assert np.allclose(path[[0, -1]], [problem.start, problem.goal])
    collided, checked = DenseCheck(geometry, list(problem.obstacles), 0.0).collisions(path, 0.01)
    assert collided == 0
    assert checked > 10
