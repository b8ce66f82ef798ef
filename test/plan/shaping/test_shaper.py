"""The shaped target: smooth whatever the device does, jumps absorbed, bad input refused."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.shaping import Shaper, ShaperConfig
from telerobot_nodes.plan.shaping.shaper import SUBSTEP, shaped

START = [0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]
HANDS = sorted((Path(__file__).parents[4] / "shared" / "data" / "hand").glob("*.csv"))
CONFIG = ShaperConfig()


@pytest.fixture
def shaper():
    return Shaper(CONFIG, shaped(START), 0.0)


def assert_smooth(trail):
    """Speed and acceleration from differences of the poses themselves."""
    position = np.array([state.position for state in trail])
    velocity = np.diff(position, axis=0) / SUBSTEP
    acceleration = np.diff(velocity, axis=0) / SUBSTEP
    jerk = np.diff(acceleration, axis=0) / SUBSTEP
    assert np.linalg.norm(velocity, axis=1).max(initial=0.0) <= CONFIG.linear.speed * 1.001
    assert np.linalg.norm(acceleration, axis=1).max(initial=0.0) <= CONFIG.linear.acceleration * 1.01
    assert np.linalg.norm(jerk, axis=1).max(initial=0.0) <= CONFIG.linear.jerk * 1.5
    rotation = np.array([state.angular.velocity for state in trail])
    assert np.linalg.norm(rotation, axis=1).max(initial=0.0) <= CONFIG.angular.speed * 1.001
    turning = np.diff(rotation, axis=0) / SUBSTEP
    assert np.linalg.norm(turning, axis=1).max(initial=0.0) <= CONFIG.angular.acceleration * 1.01


def test_an_absolute_pose_is_reached_exactly_and_smoothly(shaper):
    goal = [0.2, 0.3, 0.5, 0.0, 0.0, math.sin(0.5), math.cos(0.5)]
    shaper.command_pose(0.0, goal, "world")
    shaper.advance(5.0)
    assert np.allclose(shaper.state.pose, goal, atol=1e-5)
    assert shaper.state.at_rest
    assert_smooth(shaper.take_trail())


def test_only_the_motion_of_a_device_counts(shaper):
    for k in range(100):
        now = 0.01 * k
        shaper.advance(now)
        shaper.command_pose(now, [9.0 + 0.001 * k, -3.0, 7.0, 0.0, 0.0, 0.0, 1.0], "device")
    shaper.advance(5.0)
    assert np.allclose(shaper.state.pose, [0.499, *START[1:]], atol=1e-5)


@pytest.mark.parametrize("bunch", [1, 7, 30])
def test_samples_that_come_in_bunches_are_judged_by_when_they_were_taken(shaper, bunch):
    """A machine that stalls delivers what the hand did meanwhile at once: that is no jump, and hides none."""
    jumps = []
    for k in range(120):
        taken, x = 0.01 * k, 0.3 * math.sin(0.04 * k) + (0.1 if k >= 60 else 0.0)  # up to 1.2 m/s
        received = 0.01 * (k - k % bunch + bunch)
        shaper.advance(received)
        jump = shaper.command_pose(received, [x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], "device", received - taken)
        jumps += [jump] if jump else []
    assert [jump.distance for jump in jumps] == [pytest.approx(0.1, abs=0.005)]
    shaper.advance(5.0)
    assert shaper.state.position[0] - START[0] == pytest.approx(0.3 * math.sin(0.04 * 119), abs=0.005)


def test_device_that_went_stale_and_came_back_elsewhere_moves_nothing(shaper):
    shaper.command_pose(0.0, START, "device")
    shaper.advance(2.0)
    assert not shaper.fresh(2.0)
    assert shaper.command_pose(2.0, [5.0, 5.0, 5.0, 0.0, 1.0, 0.0, 0.0], "device") is None
    shaper.advance(4.0)
    assert np.array_equal(shaper.state.pose, START)


def test_a_twist_moves_the_target_until_it_is_stale(shaper):
    for k in range(50):
        shaper.advance(0.02 * k)
        shaper.command_twist(0.02 * k, [0.1, 0.0, 0.0, 0.0, 0.0, 0.0], "world")
    shaper.advance(5.0)
    expected = START[0] + 0.1 * (0.98 + CONFIG.device.timeout)
    assert shaper.state.position[0] == pytest.approx(expected, abs=0.002)
    assert shaper.state.at_rest
    assert_smooth(shaper.take_trail())


def test_a_twist_in_tool_axes_turns_with_the_tool():
    quarter = [0.0, 0.0, 0.0, 0.0, 0.0, math.sin(math.pi / 4), math.cos(math.pi / 4)]
    shaper = Shaper(CONFIG, shaped(quarter), 0.0)
    shaper.command_twist(0.0, [0.2, 0.0, 0.0, 0.0, 0.0, 0.0], "tool")
    shaper.advance(3.0)
    assert shaper.state.position[1] > 0.05
    assert abs(shaper.state.position[0]) < 1e-6


def test_tremor_is_damped_and_steady_motion_is_followed_with_a_small_lag(shaper):
    for k in range(600):
        now = 0.01 * k
        shaper.advance(now)
        wobble = 0.001 * math.sin(2 * math.pi * 10.0 * now)
        shaper.command_pose(now, [0.1 * now, wobble, 0.0, 0.0, 0.0, 0.0, 1.0], "device")
    trail = shaper.take_trail()
    wobble = np.array([state.position[1] for state in trail[len(trail) // 2 :]])
    assert np.abs(wobble).max() < 0.0001
    lag = (0.1 * 5.99 - (trail[-1].position[0] - START[0])) / 0.1
    assert 0.0 < lag < 0.25


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0.0, 0.6),
            st.sampled_from(["world", "device", "twist"]),
            st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6),
        ),
        max_size=25,
    )
)
def test_output_is_smooth_for_any_input_at_any_time(commands):
    shaper, now = Shaper(CONFIG, shaped(START), 0.0), 0.0
    for wait, kind, values in commands:
        now += wait
        shaper.advance(now)
        if kind == "twist":
            shaper.command_twist(now, values, "tool")
        else:
            angle = values[3]
            shaper.command_pose(now, [*values[:3], 0.0, math.sin(angle), 0.0, math.cos(angle)], kind)
    shaper.advance(now + 0.5)
    assert_smooth(shaper.take_trail())


@pytest.mark.parametrize(
    ("pose", "frame", "field"),
    [
        ([math.nan, 0, 0, 0, 0, 0, 1], "world", r"pose\[0\]"),
        ([0, 0, math.inf, 0, 0, 0, 1], "device", r"pose\[2\]"),
        ([0, 0, 0, 0, 0, 0], "world", "length"),
        ([0, 0, 0, 0, 0, 0, 0], "world", "orientation"),
        ([0, 0, 0, 0, 0, 0, 1], "camera", "frame_id"),
        (["x"] * 7, "world", "pose"),
    ],
)
def test_a_bad_pose_is_refused_by_field_and_changes_nothing(shaper, pose, frame, field):
    target, state = shaper.target, shaper.state
    with pytest.raises(InvalidValueError, match=field):
        shaper.command_pose(1.0, pose, frame)
    assert np.array_equal(shaper.target, target)
    assert shaper.state == state
    assert not shaper.fresh(1.0)


@pytest.mark.parametrize(("twist", "frame"), [([math.nan] * 6, "world"), ([0.0] * 5, "tool"), ([0.0] * 6, "flange")])
def test_a_bad_twist_is_refused_and_changes_nothing(shaper, twist, frame):
    with pytest.raises(InvalidValueError, match="twist"):
        shaper.command_twist(1.0, twist, frame)
    assert not shaper.fresh(1.0)


@pytest.mark.skipif(not HANDS, reason="recorded hands are not beside the project (../shared/data/hand)")
@pytest.mark.parametrize("file", HANDS, ids=lambda path: path.stem)
@pytest.mark.lengthy
def test_a_recorded_hand_becomes_a_smooth_target_without_its_jumps(shaper, file):
    rows = np.genfromtxt(file, delimiter=",", skip_header=1)
    jumps = []
    for t, *p in rows:
        shaper.advance(t)
        jump = shaper.command_pose(t, [*p, 0.0, 0.0, 0.0, 1.0], "device")
        jumps += [jump] if jump else []
    shaper.advance(rows[-1, 0] + 3.0)
    steps = np.diff(rows[:, 1:], axis=0)
    normal = np.linalg.norm(steps, axis=1) <= 0.0095
    assert len(jumps) == np.sum(~normal) == shaper.jumps
    travelled = np.array(shaper.state.position) - START[:3]
    assert np.linalg.norm(travelled - steps[normal].sum(axis=0)) < 0.006 * len(jumps) + 1e-4
    assert_smooth(shaper.take_trail())
