"""A replay sends every pose once and in order, and ends once: finished, or stopped."""

import threading
import time

import numpy as np
import pytest

from telerobot_nodes.operator.devices.hand import DeviceMotion
from telerobot_nodes.operator.devices.replay import MOST_LATE, Replay, ReplayState

WAIT = 20.0  # [s] that a test may take before it fails


class Played:
    """A replay and what it sent; `first` is set by the first pose, `over` by an end."""

    def __init__(self, send=None):
        self.poses, self.lateness, self.ends = [], [], []
        self.first, self.over = threading.Event(), threading.Event()
        self.replay = Replay(send or self._send, self._end)

    def _send(self, pose, late):
        self.poses.append(pose.copy())
        self.lateness.append(late)
        self.first.set()

    def _end(self, state):
        self.ends.append(state)
        self.over.set()


def motion(count, seconds):
    pose = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (count, 1))
    pose[:, 0] = np.arange(count)
    return DeviceMotion(np.linspace(0.0, seconds, count), pose)


@pytest.fixture
def played():
    made = Played()
    yield made
    made.replay.stop()


def test_every_pose_is_sent_once_in_order_and_never_early(played):
    assert played.replay.state is ReplayState.IDLE
    played.replay.start(motion(20, 0.05))
    assert played.over.wait(WAIT)
    assert [pose[0] for pose in played.poses] == list(range(20))
    assert played.ends == [ReplayState.FINISHED]
    assert played.replay.state is ReplayState.FINISHED
    assert not played.replay.playing
    assert played.replay.sent == 20
    assert min(played.lateness) >= 0.0
    assert played.replay.lateness_max == max(played.lateness)
    assert played.replay.lateness_sum == pytest.approx(sum(played.lateness))


def test_stop_ends_it_at_once_and_nothing_is_sent_afterwards(played):
    played.replay.start(motion(100, 3600.0))
    assert played.first.wait(WAIT)
    assert played.replay.playing
    assert played.replay.stop()
    assert played.ends == [ReplayState.STOPPED]
    assert len(played.poses) == played.replay.sent == 1
    assert not played.replay.stop()


def test_a_new_replay_stops_the_one_before_and_counts_anew(played):
    played.replay.start(motion(100, 3600.0))
    assert played.first.wait(WAIT)
    played.over.clear()
    played.replay.start(motion(3, 0.01))
    assert played.ends[0] is ReplayState.STOPPED
    while len(played.ends) < 2:
        assert played.over.wait(WAIT)
        played.over.clear()
    assert played.ends == [ReplayState.STOPPED, ReplayState.FINISHED]
    assert played.replay.sent == 3
    assert [pose[0] for pose in played.poses] == [0, 0, 1, 2]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_send_that_fails_ends_the_replay_as_stopped():
    def fail(_pose, _late):
        raise OSError("no device")

    played = Played(fail)
    played.replay.start(motion(3, 0.01))
    assert played.over.wait(WAIT)
    assert played.ends == [ReplayState.STOPPED]
    assert not played.replay.stop()


@pytest.mark.lengthy
def test_a_replay_that_stood_still_goes_on_from_there_and_sends_no_burst():
    at = []

    def send(pose, late):
        at.append(time.monotonic())
        if len(at) == 5:
            time.sleep(3.0 * MOST_LATE)  # the process stands still: that is the fault, not a wait
        lateness.append(late)

    lateness = []
    played = Played(send)
    played.replay.start(motion(21, 0.4))
    assert played.over.wait(WAIT)
    assert len(lateness) == 21
    assert max(lateness) <= MOST_LATE
    assert played.replay.paused >= 2.0 * MOST_LATE
    assert at[-1] - at[5] >= 0.9 * 15 * 0.02  # what follows keeps its times
