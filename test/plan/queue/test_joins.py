"""Joining the trial path to the plan."""

import numpy as np
import pytest
from plan_values import HOME, poses
from queue_session import Within

from telerobot_nodes.errors import JoinError, QueueFullError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.queue import Join
from telerobot_nodes.plan.queue.joins import join
from telerobot_nodes.plan.queue.path_connector import PathConnector
from telerobot_nodes.plan.queue.recorded_path import RecordedPath
from telerobot_nodes.plan.shaping import SampledPoints, TimeBaseConfig


def connector(blocked=""):
    return PathConnector(TimeBaseConfig(), 0.02, Within(), lambda path: blocked)


def recorded(n, step=0.02, capacity=1000, start=0.0):
    path = RecordedPath(capacity, "ann")
    path.begin(0.0, poses(1, start=start)[0])
    path.append([SampledPoints(np.full(n - 1, step), poses(n, 0.002, start)[1:], Timing.SYNCED)] if n > 1 else [])
    return path


def kinds(path, after):
    return [Timing(kind).name for kind in path.store.after(after).timing]


@pytest.mark.parametrize("kind", Join)
def test_an_empty_trial_joins_nothing(kind):
    plan = recorded(5)
    assert join(plan, recorded(1, start=0.3), kind, connector("pole")) == 0
    assert len(plan) == 5


def test_discard_joins_nothing():
    plan = recorded(5)
    assert join(plan, recorded(9), Join.DISCARD, connector("pole")) == 0
    assert len(plan) == 5


def test_connect_leads_to_the_latest_trial_point():
    plan, trial = recorded(5), recorded(20)
    n = join(plan, trial, Join.CONNECT, connector())
    assert len(plan) == 5 + n
    assert plan.head_pose == pytest.approx(trial.head_pose)
    assert set(kinds(plan, 5)) == {"LINK"}


def test_connect_sets_the_opening_of_the_trial_at_its_end():
    plan, trial = recorded(5), recorded(20)
    trial.set_gripper(0.03)
    join(plan, trial, Join.CONNECT, connector())
    assert plan.gripper_pending
    assert plan.gripper == 0.03


def test_adopt_keeps_the_steps_of_the_trial():
    plan, trial = recorded(5), recorded(9, step=0.07, start=0.008)  # begins at the plan's head
    assert join(plan, trial, Join.ADOPT, connector()) == 8
    time = plan.store.after(4).time
    assert np.diff(time) == pytest.approx(np.full(8, 0.07))
    assert set(kinds(plan, 5)) == {"SYNCED"}


def test_adopt_connects_to_the_trials_first_point():
    plan, trial = recorded(5), recorded(9, start=0.1)
    join(plan, trial, Join.ADOPT, connector())
    found = kinds(plan, 5)
    assert found == sorted(found)  # LINK first, then SYNCED
    assert found.count("SYNCED") == 8
    assert plan.head_pose == pytest.approx(trial.head_pose)


@pytest.mark.parametrize("kind", [Join.CONNECT, Join.ADOPT])
def test_a_refused_join_changes_nothing(kind):
    plan, trial = recorded(5), recorded(20, start=0.1)
    with pytest.raises(JoinError, match="pole"):
        join(plan, trial, kind, connector("pole"))
    small = recorded(5, capacity=12)
    with pytest.raises(QueueFullError):
        join(small, trial, kind, connector())
    assert (len(plan), len(small), len(trial)) == (5, 5, 20)
    assert np.array_equal(trial.store.after(0).pose[0], poses(1, start=0.1)[0])
    assert not np.array_equal(HOME, trial.head_pose)


def test_a_trial_that_is_blocked_on_its_way_is_not_adopted_though_its_ends_are_free():
    plan, trial = recorded(5), recorded(60, start=0.008)
    middle = trial.store.after(0).pose[30, 1]
    check = PathConnector(
        TimeBaseConfig(), 0.02, Within(), lambda path: "pole" * bool((abs(path[:, 1] - middle) < 0.005).any())
    )
    with pytest.raises(JoinError, match="pole"):
        join(plan, trial, Join.ADOPT, check)
    assert len(plan) == 5
