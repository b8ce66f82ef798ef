"""Requests as values: what is not acceptable is refused when made, with its field."""

import math

import numpy as np
import pytest

from telerobot_nodes.cspace.service import PLUGINS, Goal, PlanAnswer, PlanRequest, Refusal, Result
from telerobot_nodes.errors import InvalidValueError

START, POSE = np.zeros(6), (0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0)
GOAL = Goal("left", START, joints=START)


def test_a_goal_is_joints_or_a_pose_and_not_both():
    assert Goal("left", START, joints=START).pose is None
    assert Goal("left", START, pose=np.array(POSE)).joints is None
    for given in ({}, {"joints": START, "pose": np.array(POSE)}):
        with pytest.raises(InvalidValueError, match="joint_goal, pose_goal"):
            Goal("left", START, **given)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"joints": [math.nan] * 6}, "joint_goal"),
        ({"pose": np.zeros(7)}, "pose_goal"),
        ({"pose": np.zeros(6)}, "pose_goal"),
        ({"joints": START, "tolerance": np.array([0.0, 0.0, 4.0])}, "orientation_tolerance.2."),
        ({"joints": START, "tolerance": np.zeros(2)}, "orientation_tolerance"),
        ({"joints": START, "start_time": -1.0}, "start_time"),
    ],
)
def test_a_wrong_field_of_a_goal_is_named(fields, name):
    with pytest.raises(InvalidValueError, match=name):
        Goal("left", START, **fields)


@pytest.mark.parametrize(
    ("goals", "fields", "name"),
    [
        ((), {}, "goals"),
        ((GOAL, GOAL), {}, "goals.arm"),
        ((GOAL,), {"back_end": "rrt"}, "back_end"),
        ((GOAL,), {"budget": 0.0}, "budget"),
        ((GOAL,), {"budget": 61.0}, "budget"),
        ((GOAL,), {"speed": 1.1}, "speed"),
    ],
)
def test_a_wrong_field_of_a_request_is_named(goals, fields, name):
    with pytest.raises(InvalidValueError, match=name):
        PlanRequest(goals, **fields)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_every_plugin_can_be_asked_for(plugin):
    assert PlanRequest((GOAL,), back_end=plugin).back_end == plugin


def test_only_found_is_found():
    assert [result for result in Result if PlanAnswer(result, "").found] == [Result.FOUND]
    assert Refusal("no").result is Result.REFUSED
