"""One path that is being recorded."""

import numpy as np
import pytest
from plan_values import HOME, poses, store

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, UpdateKind
from telerobot_nodes.errors import QueueFullError
from telerobot_nodes.plan.log import EPOCH_BLOCK, Timing
from telerobot_nodes.plan.queue.recorded_path import RecordedPath
from telerobot_nodes.plan.shaping import SampledPoints


def samples(n, step=0.02, timing=Timing.SYNCED):
    return SampledPoints(np.full(n, step), poses(n), timing)


@pytest.fixture
def path():
    found = RecordedPath(100, "ann")
    found.begin(1.0, HOME)
    return found


def times(path):
    return path.store.after(0).time.tolist()


def test_a_path_begins_with_one_point(path):
    assert (len(path), path.store.first_seq, times(path)) == (1, 1, [1.0])
    assert np.array_equal(path.head_pose, HOME)


def test_samples_count_their_time_from_the_head(path):
    path.append([samples(2), samples(1, 0.5, Timing.FREE)])
    assert times(path) == pytest.approx([1.0, 1.02, 1.04, 1.54])
    assert path.store.after(0).timing.tolist() == [0, 0, 0, 2]


def test_numbers_are_never_used_twice(path):
    path.append([samples(4)])
    path.truncate(2)
    path.append([samples(2)])
    assert path.store.after(0).seq.tolist() == [1, 2, 6, 7]


def test_a_new_plan_begins_above_every_number_of_the_robot(path):
    path.skip_numbers(5)
    path.begin(0.0, HOME)
    assert path.store.first_seq == EPOCH_BLOCK
    path.skip_numbers(0)
    path.begin(0.0, HOME)
    assert path.store.first_seq == EPOCH_BLOCK + 1


def test_an_opening_holds_from_the_next_point_on(path):
    path.append([samples(1)])
    path.set_gripper(0.05)
    assert path.gripper_pending
    assert path.gripper == 0.05
    path.append([samples(2)])
    assert path.store.after(0).gripper.tolist() == [GRIPPER_UNCHANGED, GRIPPER_UNCHANGED, 0.05, 0.05]
    assert not path.gripper_pending


def test_no_points_leave_an_opening_pending(path):
    path.set_gripper(0.05)
    path.append([samples(0)])
    assert path.gripper_pending


def test_the_present_opening_is_not_pending(path):
    path.set_gripper(0.05)
    path.append([samples(1)])
    path.set_gripper(0.05)
    assert not path.gripper_pending


def test_another_path_is_appended_without_its_first_point(path):
    path.append_path(store(4).after(0))
    assert times(path) == pytest.approx([1.0, 1.02, 1.04, 1.06])
    assert path.store.after(0).seq.tolist() == [1, 2, 3, 4]


def test_lost_points_get_new_numbers_and_keep_their_times(path):
    path.append([samples(3)])
    lost = path.store.after(2).copy()
    path.truncate(2)
    path.append_again(lost)
    assert path.store.after(0).seq.tolist() == [1, 2, 5, 6]
    assert times(path) == pytest.approx([1.0, 1.02, 1.04, 1.06])


def test_the_capacity_is_checked_before_anything_is_appended(path):
    path.check_room(99)
    with pytest.raises(QueueFullError, match="allowed: 100"):
        path.check_room(100)


def test_updates_show_deletions_and_points(path):
    path.append([samples(3)])
    path.drain()
    path.truncate(2)
    path.append([samples(1)])
    assert [update.kind for update in path.drain()] == [UpdateKind.TRUNCATE, UpdateKind.APPEND]


@pytest.mark.parametrize("most", [1, 3, 7, 50])
def test_a_thinned_path_keeps_its_last_pose(path, most):
    path.append([samples(40)])
    thin = path.thinned(1, most)
    assert 1 <= len(thin) <= most
    assert np.array_equal(thin[-1], path.head_pose)
