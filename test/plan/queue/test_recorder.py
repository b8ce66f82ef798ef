"""Recording on plan and trial path."""

import numpy as np
import pytest
from plan_values import HOME
from queue_session import Within

from telerobot_nodes.plan.queue import Join, QueueConfig
from telerobot_nodes.plan.queue.notices import Notices
from telerobot_nodes.plan.queue.path_connector import PathConnector
from telerobot_nodes.plan.queue.recorder import Recorder

CONFIG = QueueConfig(reserve=20, capacity=200)


@pytest.fixture
def recorder():
    connector = PathConnector(CONFIG.time_base, CONFIG.sample_period, Within())
    found = Recorder(CONFIG, Within(), None, connector, Notices())
    found.begin_plan(0.0, 0.0, HOME)
    return found


def draw(recorder, start, seconds, y, free=1000, held=False):
    for k in range(1, round(seconds / 0.02) + 1):
        now = start + 0.02 * k
        recorder.sampler.shaper.command_pose(now, [0.4, y, 0.4, 0.0, 0.0, 0.0, 1.0], "world")
        recorder.record(now, free, held, False)


def test_points_go_to_the_plan(recorder):
    draw(recorder, 0.0, 1.0, 0.1)
    assert (len(recorder.plan), len(recorder.trial)) == (51, 0)


def test_a_held_recorder_appends_nothing(recorder):
    draw(recorder, 0.0, 1.0, 0.1, held=True)
    assert len(recorder.plan) == 1


def test_a_full_path_is_full_until_twice_the_reserve_is_free(recorder):
    assert not recorder.is_full(20)
    assert recorder.is_full(19)
    draw(recorder, 0.0, 0.1, 0.1, free=19)
    assert recorder.is_full(39)
    assert not recorder.is_full(40)
    draw(recorder, 0.1, 0.1, 0.1, free=40)
    assert not recorder.is_full(39)


def test_asking_whether_it_is_full_changes_nothing(recorder):
    recorder.is_full(0)
    assert not recorder.is_full(20)


def test_disengaged_points_go_to_the_trial_from_the_plans_head(recorder):
    draw(recorder, 0.0, 0.5, 0.1)
    head, n = recorder.plan.store.last_time, len(recorder.plan)
    outcome = recorder.disengage()
    assert outcome.reason == "position clutch disengaged: trial path"
    draw(recorder, 0.5, 0.5, 0.1)
    assert len(recorder.plan) == n
    assert len(recorder.trial) > 20
    assert recorder.trial.store.first_time == head


def test_engaging_joins_and_continues_on_the_plan(recorder):
    recorder.disengage()
    draw(recorder, 0.0, 1.0, 0.1)
    outcome = recorder.engage(Join.ADOPT)
    assert outcome.engaged
    assert outcome.appended == len(recorder.plan) - 1 > 40
    assert len(recorder.trial) == 0
    assert recorder.path is recorder.plan


def test_the_clutch_releases_the_brake(recorder):
    recorder.brake.set(0.0, 1.0, 0.0)
    recorder.disengage()
    assert not recorder.brake.engaged


def test_a_gripper_command_appends_a_point_only_at_rest(recorder):
    recorder.set_gripper(0.04)
    recorder.append_gripper()
    assert recorder.plan.store.last_gripper == 0.04
    n = len(recorder.plan)
    recorder.append_gripper()  # nothing waits
    assert len(recorder.plan) == n
    draw(recorder, 0.0, 0.2, 0.3)
    recorder.set_gripper(0.01)
    n = len(recorder.plan)
    recorder.append_gripper()  # moving: the next sample has it
    assert len(recorder.plan) == n
    draw(recorder, 0.2, 0.02, 0.3)
    assert recorder.plan.store.last_gripper == 0.01


def test_a_stand_by_records_a_trial_from_the_arm():
    connector = PathConnector(CONFIG.time_base, CONFIG.sample_period, Within())
    recorder = Recorder(CONFIG, Within(), None, connector, Notices())
    recorder.stand_by(0.0, HOME)
    assert np.array_equal(recorder.trial.head_pose, HOME)
    draw(recorder, 0.0, 0.5, 0.1)
    assert len(recorder.trial) > 20
    recorder.begin_plan(0.5, 0.0, HOME)  # authority: what was tried is kept
    assert len(recorder.trial) > 20
    assert not recorder.position_clutch


def test_the_brake_deletes_down_to_its_cutoff_and_never_below_the_floor(recorder):
    draw(recorder, 0.0, 1.0, 0.1)
    recorder.brake.set(1.0, 1.0, recorder.plan.store.last_time)
    assert recorder.brake_target(1.0, 0.0) is None
    assert recorder.brake_target(1.51, 0.0) == recorder.plan.store.before_time(0.49)
    assert recorder.brake_target(1.9, 0.71) == recorder.plan.store.before_time(0.71)
    assert recorder._notices.latest == "at committed stretch"
