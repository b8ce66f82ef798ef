"""Pictures, poses and calibrations that come in any order; what is damaged is reported and breaks nothing."""

import numpy as np
import pytest

from telerobot_nodes.core.camera import Calibration, CameraSetting, encode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.camera import CameraFeed, CameraState

PICTURE = encode(np.full((48, 64, 3), 90, np.uint8)).data
LENS = Calibration.of_view(64, 48, 0.8)
POSE = np.array((1.0, 2, 3, 0, 0, 0, 1))
SECOND = 1_000_000_000  # [ns]


def complete():
    feed = CameraFeed()
    feed.receive_calibration("palm", LENS)
    feed.receive_pose(7 * SECOND, POSE)
    feed.receive_picture("palm", 7 * SECOND, PICTURE, 100.0)
    return feed


def test_a_picture_has_the_calibration_of_its_camera_and_the_pose_of_its_own_stamp():
    feed = complete()
    feed.receive_pose(8 * SECOND, 2 * POSE - (0, 0, 0, 0, 0, 0, 1))
    calibration, pose = feed.lens()
    assert calibration is LENS
    assert (pose == POSE).all()


def test_the_latest_pose_is_that_of_the_latest_picture_in_whatever_order_they_came():
    assert CameraFeed().latest_pose.size == 0
    feed = complete()
    later = np.array((2.0, 2, 3, 0, 0, 0, 1))
    feed.receive_pose(9 * SECOND, later)
    feed.receive_pose(8 * SECOND, POSE)
    assert (feed.latest_pose == later).all()


def test_a_pose_may_come_after_its_picture():
    feed = complete()
    feed.receive_picture("palm", 8 * SECOND, PICTURE, 101.0)
    assert feed.lens() == "the pose of this picture has not come"
    feed.receive_pose(8 * SECOND, POSE)
    assert not isinstance(feed.lens(), str)


def test_the_age_counts_the_robots_clock_the_own_clock_and_half_the_round_trip():
    feed = complete()
    assert feed.age(100.0, 1.0) is None
    feed.receive_clock(int(7.5 * SECOND), 100.1)
    assert feed.age(100.4, 1.0) == pytest.approx(0.5 + 0.3 + 0.5)
    assert feed.age(100.4, -1.0) == pytest.approx(0.8)


@pytest.mark.parametrize("data", [b"", PICTURE[:-20], PICTURE[:200], b"nonsense" * 9])
def test_a_damaged_picture_is_reported_and_the_last_one_stays(data):
    feed = complete()
    with pytest.raises(InvalidValueError):
        feed.receive_picture("palm", 8 * SECOND, data, 101.0)
    assert feed.problem.startswith("picture refused: picture")
    assert (feed.picture.stamp, feed.received) == (7 * SECOND, 100.0)
    feed.receive_picture("palm", 9 * SECOND, PICTURE, 102.0)
    assert (feed.picture.stamp, feed.problem) == (9 * SECOND, "")


def test_a_calibration_of_another_size_is_refused_by_field_and_value():
    feed = complete()
    feed.receive_calibration("palm", Calibration.of_view(640, 48, 0.8))
    assert feed.lens().startswith("calibration refused: width: 640 is not allowed; allowed: 64")


def test_a_refused_calibration_is_not_replaced_by_an_older_one():
    feed = complete()
    feed.refuse_calibration("palm", InvalidValueError("fx", float("nan"), "allowed: finite numbers"))
    assert feed.lens() == "calibration refused: fx: nan is not allowed; allowed: finite numbers"
    feed.receive_calibration("palm", LENS)
    assert not isinstance(feed.lens(), str)


def test_no_sender_fills_the_memory():
    feed = CameraFeed()
    for number in range(500):
        feed.receive_pose(number, POSE)
        feed.receive_calibration(f"camera {number}", LENS)
    assert max(len(kept) for kept in vars(feed).values() if isinstance(kept, dict)) <= 64
    with pytest.raises(InvalidValueError, match="cameras"):
        CameraState(CameraSetting(), tuple("abc" * 99))


@pytest.mark.parametrize("pose", [np.zeros(7), np.full(7, np.nan), np.zeros(6)])
def test_a_wrong_pose_is_refused(pose):
    with pytest.raises(InvalidValueError, match="camera pose"):
        CameraFeed().receive_pose(1, pose)
