"""A device that is moved in space: grips, axes, clocks, and what counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.devices import GAP, HeldPoses, RemoteClock, TrackedHand, world_from_xr

NO_TURN = (0.0, 0.0, 0.0, 1.0)


def pose(x=0.0, y=0.0, z=0.0, turn=NO_TURN):
    return np.array((x, y, z, *turn))


def about(axis, angle):
    return Rotation.from_rotvec(np.eye(3)[axis] * angle).as_quat()


def test_the_hand_moves_as_the_device_does():
    hand = TrackedHand()
    first = hand.move(0.0, pose(1.0))
    moved = hand.move(0.02, pose(1.1, 0.2, turn=about(2, 0.3)))
    np.testing.assert_allclose(moved[:3] - first[:3], (0.1, 0.2, 0.0), atol=1e-12)
    np.testing.assert_allclose(Rotation.from_quat(moved[3:]).as_rotvec(), (0.0, 0.0, 0.3), atol=1e-12)


@pytest.mark.parametrize("gap", [0.01, 10.0])
def test_after_another_grip_the_motion_goes_on_from_where_it_was(gap):
    hand = TrackedHand()
    hand.move(0.0, pose(1.0))
    before = hand.move(0.02, pose(1.1, turn=about(2, 0.3)))
    hand.let_go()
    again = hand.move(0.02 + gap, pose(5.0, turn=about(0, 1.0)))  # elsewhere, turned
    np.testing.assert_allclose(again, before, atol=1e-12)
    after = hand.move(0.04 + gap, pose(5.0, 0.1, turn=about(0, 1.0)))
    np.testing.assert_allclose(after - before, pose(0.0, 0.1, turn=np.zeros(4)), atol=1e-12)


def test_a_device_that_was_silent_is_held_anew_where_it_is():
    hand = TrackedHand()
    before = hand.move(0.0, pose(1.0))
    np.testing.assert_allclose(hand.move(GAP + 0.01, pose(3.0)), before)


@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.booleans()), min_size=1, max_size=30))
def test_whatever_grips_are_taken_the_hand_never_jumps(moves):
    hand, at, given_before, taken, held = TrackedHand(), np.zeros(3), None, 0.0, False
    for x, y, grip in moves:
        before = at
        at = at + np.array((x, y, 0.0))
        taken += 0.02
        if grip:  # let go, moved, held again
            hand.let_go()
            held = False
        moved = hand.move(taken, pose(*at))
        if given_before is not None:
            expected = at - before if held else np.zeros(3)
            np.testing.assert_allclose(moved[:3] - given_before[:3], expected, atol=1e-9)
        given_before, held = moved, True


def test_forward_left_and_up_of_the_room_are_those_of_the_world():
    for xr, world in (((0, 0, -1), (1, 0, 0)), ((-1, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 0, 1))):
        np.testing.assert_allclose(world_from_xr(pose(*xr))[:3], world, atol=1e-12)
        turned = world_from_xr(np.concatenate((np.zeros(3), Rotation.from_rotvec(np.array(xr) * 0.5).as_quat())))
        np.testing.assert_allclose(Rotation.from_quat(turned[3:]).as_rotvec(), np.array(world) * 0.5, atol=1e-12)


@pytest.mark.parametrize("wrong", [None, [1.0, 2.0], [np.nan, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0], "pose"])
def test_what_is_no_pose_is_rejected_by_name(wrong):
    with pytest.raises(InvalidValueError, match="pose"):
        world_from_xr(wrong)


def test_the_shortest_way_tells_the_time_and_jitter_does_not_shake_it():
    clock, rng = RemoteClock(), np.random.default_rng(1)
    taken = np.arange(0.0, 5.0, 0.0125)
    here = np.array([clock.here(t, t + 100.0 + 0.01 + rng.exponential(0.02)) for t in taken])
    settled = here[80:] - taken[80:]
    assert settled.std() < 0.002
    assert abs(settled.mean() - 100.012) < 0.005


def test_a_clock_that_was_set_is_followed_at_once():
    clock = RemoteClock()
    clock.here(1.0, 50.0)
    assert clock.here(1000.0, 50.02) == pytest.approx(50.02)
    assert clock.here(3.0, 50.04) == pytest.approx(50.04)


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 10)), min_size=1, max_size=30))
def test_no_time_is_after_its_receipt_or_before_the_one_before(messages):
    clock, now, last = RemoteClock(), 0.0, -np.inf
    for time, pause in messages:
        now += pause
        here = clock.here(time, now)
        assert last <= here <= now + 1e-6
        last = here


def test_the_velocity_of_what_is_held_is_in_the_axes_of_the_world():
    held = HeldPoses()
    np.testing.assert_array_equal(held.receive(0.0, 10.0, pose()), np.zeros(6))
    velocity = held.receive(0.02, 10.02, pose(0.002, turn=about(1, 0.01)))
    np.testing.assert_allclose(velocity, (0.1, 0.0, 0.0, 0.0, 0.5, 0.0), atol=1e-9)


def test_a_device_held_anew_begins_at_rest_and_an_older_pose_is_no_motion():
    held = HeldPoses()
    held.receive(0.0, 0.0, pose())
    assert not held.fell_silent(GAP)
    assert held.fell_silent(GAP + 0.01)
    assert not held.fell_silent(GAP + 0.02)
    np.testing.assert_array_equal(held.receive(1.0, 1.0, pose(3.0)), np.zeros(6))
    np.testing.assert_array_equal(held.receive(1.02, 1.0, pose(4.0)), np.zeros(6))


def test_what_was_held_when_the_mode_changed_counts_when_it_was_let_go():
    held = HeldPoses()
    held.receive(0.0, 0.0, pose())
    held.let_go()
    assert held.receive(0.02, 0.02, pose()) is None
    assert held.receive(0.02 + GAP, 0.3, pose()) is None
    assert held.receive(0.4 + 2 * GAP, 1.0, pose()) is not None
