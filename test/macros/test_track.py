"""A track from a bag: measured joints become tool poses; a bag of another robot is refused."""

import numpy as np
import pytest
from joint_bags import write_bag

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import read_track


@pytest.mark.lengthy
def test_the_tool_s_poses_and_forces_are_those_of_the_recording(arm, tmp_path):
    names = list(reversed(arm.joint_names))  # names decide, not the order
    way = np.linspace(0.0, 0.3, 200)
    rows = [(np.array(arm.home) + np.eye(6)[0] * x)[::-1].copy() for x in way]
    track = read_track(write_bag(tmp_path / "bag", names, rows, np.linspace(0.0, 8.0, 200)), arm)
    assert np.diff(track.time) == pytest.approx(0.02)
    for k in (0, 20, len(track.time) - 1):
        q = np.array(arm.home)
        q[0] += np.interp(track.time[k], 0.005 * np.arange(200), way)
        assert track.pose[k] == pytest.approx(pose_from_se3(arm.forward(q)), abs=1e-6)
    assert track.force[-1] == pytest.approx(8.0, abs=0.2)
    assert len(track.part(0.2, 0.5).time) == pytest.approx(15, abs=1)
    for begin, end in ((0.5, 0.2), (7.0, 9.0), (float("nan"), 1.0)):
        with pytest.raises(InvalidValueError, match=r"a part of 0.00 \.\. "):
            track.part(begin, end)


@pytest.mark.lengthy
def test_a_bag_of_another_robot_or_without_joints_is_refused(arm, tmp_path):
    other = write_bag(tmp_path / "other", ["a", "b"], [np.zeros(2)] * 3)
    with pytest.raises(InvalidValueError, match="a recording of"):
        read_track(other, arm)
    with pytest.raises(InvalidValueError, match="/joint_states"):
        read_track(write_bag(tmp_path / "empty", [], []), arm)
    with pytest.raises(InvalidValueError, match="/left/joint_states"):
        read_track(other, arm, "left")
