"""Undo: what brake and delete-all have deleted comes back, as long as no point was laid after it."""

import contextlib

import numpy as np
import pytest
from us5046022_scene import Scene

from telerobot_nodes.errors import InvalidValueError, TransitionError

pytestmark = pytest.mark.lengthy  # the real executor, many seconds of it


def laid(delay, rate=0.2):
    """A plan far ahead of an arm that is slow."""
    scene = Scene(delay=delay)
    scene.queue.set_rate(scene.now, rate)
    scene.draw(4.0)
    scene.run(2.5 * delay + 0.1)
    return scene


def brake(scene, seconds, rate=2.0):
    scene.queue.set_brake(scene.now, rate)
    scene.run(seconds)


@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("delay", [0.0, 0.5])
@pytest.mark.brief(2)
def test_the_brake_is_undone_and_the_arm_goes_all_the_way(delay, released):
    scene = laid(delay)
    _, time, pose, _ = scene.plan
    brake(scene, 0.7)
    assert scene.plan[2][-1][1] < pose[-1][1] - 0.01
    if released:
        scene.queue.set_brake(scene.now, 0.0)
        scene.run(0.3)
    deleted = len(pose) - len(scene.plan[2])
    assert scene.queue.undo(scene.now) >= deleted > 10
    assert scene.state().brake_rate == 0.0
    scene.run(0.1)
    n = min(len(scene.plan[1]), 50)
    assert np.array_equal(scene.plan[1][-n:], time[-n:])
    assert np.array_equal(scene.plan[2][-n:], pose[-n:])
    scene.queue.set_rate(scene.now, 1.0)
    scene.finish()
    assert np.linalg.norm(scene.robot.pose[:3] - pose[-1]) < 0.001
    assert scene.robot.refused == []


@pytest.mark.brief(1)
@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_delete_all_is_undone_once_the_robot_has_confirmed_what_it_keeps(rate):
    """Over a delay the robot was committed to more points than this side believed."""
    scene = laid(0.5, rate=0.2)
    scene.queue.set_rate(scene.now, rate)
    end = scene.plan[2][-1].copy()
    scene.queue.clear(scene.now)
    with pytest.raises(TransitionError, match="undo"):
        scene.queue.undo(scene.now)
    scene.run(2.0)
    assert scene.queue.undo(scene.now) > 10
    scene.queue.set_rate(scene.now, 1.0)
    scene.finish()
    assert np.linalg.norm(scene.robot.pose[:3] - end) < 0.001
    assert scene.robot.refused == []


def test_a_point_laid_after_it_ends_what_can_be_undone():
    scene = laid(0.1)
    brake(scene, 0.5)
    scene.queue.set_brake(scene.now, 0.0)
    scene.draw(0.3)
    before = scene.state()
    with pytest.raises(InvalidValueError, match="undo"):
        scene.queue.undo(scene.now)
    after = scene.state()
    assert after.refused == before.refused + 1
    assert (after.head_seq, after.length) == (before.head_seq, before.length)


def test_undone_twice_is_refused_and_braked_again_is_not():
    scene = laid(0.1)
    head = scene.plan[2][-1].copy()
    for _ in range(2):
        brake(scene, 0.5)
        scene.queue.undo(scene.now)
        scene.run(0.2)
        assert np.array_equal(scene.plan[2][-1], head)
        with pytest.raises(InvalidValueError, match="undo"):
            scene.queue.undo(scene.now)


def test_of_the_trial_path_only_the_trial_path_comes_back():
    scene = laid(0.1)
    plan = scene.state().length
    scene.queue.set_position_clutch(scene.now, False)
    scene.draw(1.0)
    trial = scene.state().trial_length
    brake(scene, 0.3)
    assert scene.state().trial_length < trial
    scene.queue.undo(scene.now)
    assert scene.state().trial_length == trial
    assert scene.state().length <= plan


@pytest.mark.parametrize("how", ["brake", "delete all"])
def test_what_was_drawn_and_had_no_plan_time_yet_is_deleted_and_comes_back_with_the_rest(how):
    """With the time clutch disengaged the end of the path is timed last; it was lost."""
    scene = laid(0.1)
    scene.queue.set_time_clutch(scene.now, False)
    scene.draw(1.5)
    drawn = scene.state().target_pose
    if how == "brake":
        brake(scene, 0.3, 5.0)
    else:
        scene.queue.clear(scene.now)
        scene.run(1.0)
    assert np.linalg.norm(scene.plan[2][-1] - drawn[:3]) > 0.05
    assert scene.queue.undo(scene.now) > 0
    scene.run(0.1)
    assert np.linalg.norm(scene.plan[2][-1] - drawn[:3]) < 0.02  # the hand's filter was behind by this


def test_a_trial_path_that_adds_nothing_leaves_what_can_be_undone():
    scene = laid(0.1)
    brake(scene, 0.3)
    scene.queue.set_brake(scene.now, 0.0)
    scene.queue.set_position_clutch(scene.now, False)
    scene.draw(0.3, (0.0, 0.0, 0.0))  # it stands
    scene.run(0.5)
    joined = scene.queue.set_position_clutch(scene.now, True)
    assert (joined.engaged, joined.appended) == (True, 0)
    assert scene.queue.undo(scene.now) > 0


@pytest.mark.brief(1)
@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_a_brake_that_does_not_begin_changes_nothing(rate):
    """A release of a brake that is not applied, and a refused rate: the end of the path waits for its plan time."""
    scene = laid(0.1)
    scene.queue.set_time_clutch(scene.now, False)
    scene.draw(1.5)
    head = scene.state().head_seq
    with contextlib.suppress(InvalidValueError):
        scene.queue.set_brake(scene.now, rate)
    assert scene.state().head_seq == head
    drawn = scene.state().target_pose
    scene.run(2.0)
    assert np.linalg.norm(scene.plan[2][-1] - drawn[:3]) < 0.002
