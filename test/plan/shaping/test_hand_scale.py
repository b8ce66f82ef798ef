"""Scales and orientation clutch of the hand: shares of its motion, never a jump of the tool."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.shaping import HandScale, PointSampler, Shaper, ShaperConfig, TimeBaseConfig
from telerobot_nodes.plan.shaping.shaper import shaped

START = [0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]
SECONDS = 1.0


def turned(angle):
    """Quaternion of a turn [rad] about z."""
    return [0.0, 0.0, math.sin(0.5 * angle), math.cos(0.5 * angle)]


def angle_of(state):
    return 2.0 * math.atan2(state.orientation[2], state.orientation[3])


def draw(shaper, begin=0.0, way=0.1, angle=0.3):
    """A hand that moves `way` [m] along y and turns by `angle` [rad] within SECONDS, and then rests."""
    for k in range(101):
        now, share = begin + 0.01 * k * SECONDS, 0.01 * k
        shaper.advance(now)
        shaper.command_pose(now, [5.0, 7.0 + way * share, 3.0, *turned(angle * share)], "device")
    shaper.advance(begin + SECONDS + 2.0)


def shaper_with(**scale):
    return Shaper(ShaperConfig(hand_scale=HandScale(**scale)), shaped(START), 0.0)


@pytest.mark.lengthy
@given(linear=st.floats(0.0, 4.0), angular=st.floats(0.0, 4.0))
def test_the_tool_moves_and_turns_by_its_own_share_of_the_hand(linear, angular):
    shaper = shaper_with(linear=linear, angular=angular)
    draw(shaper)
    assert shaper.state.position == pytest.approx([0.4, 0.1 * linear, 0.4], abs=1e-4)
    assert angle_of(shaper.state) == pytest.approx(0.3 * angular, abs=1e-4)
    assert shaper.jumps == 0  # jumps are of the hand, whatever the scale


def test_with_the_orientation_clutch_disengaged_the_hand_only_moves_the_tool():
    shaper = shaper_with(turns=False)
    draw(shaper)
    assert shaper.state.position == pytest.approx([0.4, 0.1, 0.4], abs=1e-4)
    assert shaper.state.orientation == (0.0, 0.0, 0.0, 1.0)


def test_with_a_linear_scale_of_0_the_hand_only_turns_the_tool():
    shaper = shaper_with(linear=0.0)
    draw(shaper)
    assert shaper.state.position == (0.4, 0.0, 0.4)
    assert angle_of(shaper.state) == pytest.approx(0.3, abs=1e-4)


def test_what_the_hand_turned_while_the_clutch_was_disengaged_never_reaches_the_tool():
    """A person turns the hand back to a comfortable place, and goes on."""
    shaper = shaper_with()
    draw(shaper)
    shaper.hand_scale = HandScale(turns=False)
    draw(shaper, 4.0, way=0.0, angle=-1.2)
    assert angle_of(shaper.state) == pytest.approx(0.3, abs=1e-4)
    shaper.hand_scale = HandScale()
    draw(shaper, 8.0, way=0.0)
    assert angle_of(shaper.state) == pytest.approx(0.6, abs=1e-4)


def test_a_scale_that_changes_in_motion_moves_nothing_by_itself():
    shaper = shaper_with()
    for k in range(100):
        shaper.advance(0.01 * k)
        shaper.command_pose(0.01 * k, [0.0, 0.001 * k, 0.0, *turned(0.0)], "device")
        if k == 50:
            target = shaper.target
            shaper.hand_scale = HandScale(linear=0.1)
            assert np.array_equal(shaper.target, target)
    shaper.advance(3.0)
    assert shaper.state.position[1] == pytest.approx(0.050 + 0.1 * 0.049, abs=1e-5)


def test_the_speed_of_a_twist_is_scaled_and_stays_inside_its_limit():
    for scale, speed in ((0.25, 0.1), (10.0, ShaperConfig().linear.speed)):
        shaper = shaper_with(linear=scale, turns=False)
        for k in range(200):
            shaper.advance(0.01 * k)
            shaper.command_twist(0.01 * k, [0.4, 0.0, 0.0, 0.0, 0.0, 1.0], "tool")
        assert shaper.state.linear.velocity[0] == pytest.approx(speed, rel=0.06)
        assert shaper.state.orientation == (0.0, 0.0, 0.0, 1.0)


def test_an_absolute_goal_is_reached_as_it_is():
    shaper = shaper_with(linear=0.1, turns=False)
    goal = [0.5, 0.1, 0.4, *turned(0.8)]
    shaper.command_pose(0.0, goal, "world")
    shaper.advance(4.0)
    assert shaper.state.pose == pytest.approx(goal, abs=1e-5)


def test_scales_set_before_the_tool_has_a_place_are_kept():
    sampler = PointSampler(ShaperConfig(), TimeBaseConfig(), 0.02, lambda pose: None)
    sampler.shaper.hand_scale = HandScale(linear=0.5)
    sampler.place(0.0, np.array(START))
    assert sampler.shaper.hand_scale.linear == 0.5
    sampler.restart(np.array(START))
    assert sampler.shaper.hand_scale.linear == 0.5


@pytest.mark.parametrize("value", [-0.1, 10.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["linear", "angular"])
def test_a_scale_out_of_range_is_rejected_by_its_name(name, value):
    with pytest.raises(InvalidValueError, match=f"{name}_scale"):
        HandScale(**{name: value})
