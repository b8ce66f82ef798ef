"""Planner plugins: each answers with a proved path, or a reason; budgets are converted, never kept."""

import importlib.util

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import sphere
from telerobot_nodes.cspace.search import Outcome, Planner, check_certificate
from telerobot_nodes.cspace.service import default_plugins, proved
from telerobot_nodes.cspace.service.planner_plugins import plan_cspace, plan_ompl, plugin_named
from telerobot_nodes.errors import NotInstalledError

OBSTACLES = [sphere("ball", 0.1, (0.75, 0.0, 0.0))]
START, GOAL = np.array([-1.2, 0.2]), np.array([1.2, 0.2])
WITHOUT_OMPL = pytest.mark.skipif(importlib.util.find_spec("ompl") is None, reason="ompl is not installed")
OMPL = pytest.param("ompl", marks=WITHOUT_OMPL)


@pytest.fixture
def planner(planar):
    return Planner(planar, OBSTACLES)


def accepted(planner, plan):
    margin = planner.settings.margin
    return check_certificate(plan.certificate, plan.path, planner.geometry, OBSTACLES, margin).valid


@pytest.mark.parametrize("name", ["cspace", OMPL])
def test_a_plugin_s_path_joins_start_and_goal_with_a_proof(planner, name):
    plan = default_plugins()[name](planner, START, GOAL, 2.0)
    assert plan.found, plan.reason
    assert np.array_equal(plan.path[[0, -1]], [START, GOAL])
    assert accepted(planner, plan)


@pytest.mark.parametrize("name", ["cspace", OMPL])
def test_ends_that_collide_are_answered_before_a_search(planner, name):
    plugin, inside = default_plugins()[name], np.zeros(2)
    assert plugin(planner, inside, GOAL, 1.0).outcome is Outcome.START_COLLIDES
    assert plugin(planner, START, inside, 1.0).outcome is Outcome.GOAL_COLLIDES


def test_a_small_budget_is_one_try(planner):
    plan = plan_cspace(planner, START, GOAL, 1e-3)
    assert plan.statistics["tries"] == 1
    assert plan.statistics["tree_probes"] <= 200


def test_a_path_of_others_is_proved_or_not_found(planner):
    free = np.array([START, [-1.0, -0.8]])
    plan = proved(planner, free, "other")
    assert (plan.found, plan.stage) == (True, "other")
    assert accepted(planner, plan)
    through = proved(planner, np.array([START, GOAL]), "other")
    assert through.outcome is Outcome.NO_PATH
    assert through.reason.startswith("other: ")
    assert through.path.shape == (0, 2)


def test_an_unknown_plugin_is_refused_with_those_there_are():
    with pytest.raises(NotInstalledError, match=r"moveit.*cspace, ompl"):
        plugin_named("moveit", default_plugins())
    assert plugin_named("ompl", default_plugins()) is plan_ompl
