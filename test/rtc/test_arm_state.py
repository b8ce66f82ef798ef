"""The arm as measured: pose, speed, freshness, slip."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.rtc.execution import ArmState


class Slide:
    """A robot whose joints are the position of its tool."""

    dof = 3
    limits = SimpleNamespace(lower=np.full(3, -1.0), upper=np.full(3, 1.0))

    def forward(self, joints):
        return pin.SE3(np.eye(3), joints)

    def jacobian(self, joints):
        return np.eye(3) * (1.0 - abs(joints[2]))  # singular at the ends of the third slide


@pytest.fixture
def state():
    return ArmState(Slide(), pin.SE3(np.eye(3), np.array([0.0, 1.0, 0.0])))


def update(state, now, *joints, mode=ControlState.HOLDING):
    return state.update(now, mode, np.array(joints, dtype=float), estop=False)


def test_the_pose_is_in_the_workcells_world(state):
    assert update(state, 1.0, 0.5, 0.0, 0.2)
    assert state.latest.pose[:3] == (0.5, 1.0, 0.2)
    assert state.latest.speed is None


def test_the_speed_is_that_of_the_tool_between_two_states(state):
    update(state, 1.0, 0.0, 0.0, 0.0)
    update(state, 1.5, 0.03, 0.04, 0.0)
    assert state.latest.speed == pytest.approx(0.1)
    update(state, 1.5, 0.0, 0.0, 0.0)  # twice at the same time: no speed
    assert state.latest.speed is None


@pytest.mark.parametrize("joints", [(1.0, 2.0), (np.nan, 0.0, 0.0)])
def test_joints_that_are_no_measurement_are_ignored(state, joints):
    assert not update(state, 1.0, *joints)
    assert not state.is_fresh(1.0)


def test_zeros_of_a_loop_that_has_received_no_joints_are_ignored(state):
    assert not update(state, 1.0, 0.0, 0.0, 0.0, mode=ControlState.FAULT)
    assert update(state, 1.0, 0.1, 0.0, 0.0, mode=ControlState.FAULT)


def test_a_state_is_fresh_for_half_a_second_and_lost_after_two(state):
    assert state.is_lost(0.0)
    update(state, 10.0, 0.1, 0.0, 0.0)
    assert (state.is_fresh(10.4), state.is_fresh(10.6)) == (True, False)
    assert (state.is_lost(11.9), state.is_lost(12.1)) == (False, True)


def test_a_wrench_of_a_sensor_that_fell_silent_is_no_measurement(state):
    """A guard on it is then unknown, and stops the motion; the last wrench would keep it content for ever."""
    state.take_wrench(1.0, (1.0,) * 6)
    update(state, 1.4, 0.1, 0.0, 0.0)
    assert state.latest.wrench == (1.0,) * 6
    update(state, 1.6, 0.1, 0.0, 0.0)
    assert state.latest.wrench == ()


@pytest.mark.parametrize(
    ("opening", "grip", "slips"),
    [(0.036, 0.04, False), (0.034, 0.04, True), (0.046, 0.04, True), (0.0, 0.0, False), (np.inf, 0.04, False)],
)
def test_what_is_held_slips_when_the_fingers_close_or_open_by_five_millimetres(state, opening, grip, slips):
    state.opening = opening
    assert state.slips(SimpleNamespace(grip=grip)) is slips


def test_an_e_stop_is_known_even_without_joints(state):
    state.update(1.0, ControlState.FAULT, np.array([]), estop=True)
    assert state.estop


def test_events_that_are_measured_are_told_apart_from_those_that_are_not(state):
    state.take_wrench(1.0, (0.0,) * 6)
    update(state, 1.0, 0.0, 0.0, 0.5)
    assert state.latest.events == {
        "joint-limit": False, "singularity": False, "sensor-loss": False, "link-loss": False
    }  # fmt: skip
    state.primitive, state.opening = SimpleNamespace(grip=0.04), 0.0
    update(state, 2.0, 0.0, 0.0, 0.98)
    assert state.latest.events == dict.fromkeys(("joint-limit", "singularity", "sensor-loss", "slip"), True) | {
        "link-loss": False
    }
    assert (state.latest.width, state.lost().events) == (0.0, {"link-loss": True})


def test_the_track_is_what_the_tool_has_passed(state):
    update(state, 1.0, 0.0, 0.0, 0.2)
    state.begin_track()
    for k in range(1, 101):
        update(state, 1.0 + 0.01 * k, 0.001 * k, 0.0, 0.2)
    track = np.array(state.track)
    assert 15 < len(track) < 25  # every 5 mm
    np.testing.assert_allclose(track[[0, -1], 0], (0.0, 0.1))
