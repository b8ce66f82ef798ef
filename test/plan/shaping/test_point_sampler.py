"""Sampling of the shaped target: time clutch, ratio, reach, dwell."""

import numpy as np
import pytest
from queue_session import Within

from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.shaping import PointSampler, ShaperConfig, TimeBaseConfig
from telerobot_nodes.plan.shaping.curvature_limits import ALONG
from telerobot_nodes.plan.shaping.point_sampler import STALL

HOME = np.array([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])
PERIOD = 0.02


def sampler_of(reach=None, placed=True):
    sampler = PointSampler(ShaperConfig(), TimeBaseConfig(), PERIOD, Within(reach) if reach else Within())
    if placed:
        sampler.place(0.0, HOME)
    return sampler


def target(y, z=0.4):
    return [0.4, y, z, 0.0, 0.0, 0.0, 1.0]


def run(sampler, start, seconds, y=None, held=False, underrun=False):
    """Samples of `seconds`; the target moves to `y` if given, or nothing is sent."""
    points = []
    for k in range(1, round(seconds / PERIOD) + 1):
        now = start + PERIOD * k
        if y is not None:
            sampler.shaper.command_pose(now, target(y), "world")
        points += sampler.advance(now, held, underrun)
    return points


def duration(points):
    return sum(p.step.sum() for p in points)


@pytest.mark.parametrize("period", [0.001, 0.0205, 0.0])
def test_a_period_between_substeps_is_refused(period):
    with pytest.raises(InvalidValueError, match="sample_period"):
        PointSampler(ShaperConfig(), TimeBaseConfig(), period, Within())


def test_before_it_is_placed_it_checks_commands_and_keeps_settings():
    sampler = sampler_of(placed=False)
    with pytest.raises(InvalidValueError, match="pose"):
        sampler.shaper.command_pose(0.0, [1.0], "world")
    sampler.set_time_clutch(False)
    assert run(sampler, 0.0, 1.0, y=0.1) == []
    assert (sampler.pose.size, sampler.target.size) == (0, 0)
    assert sampler.dwell() == sampler.flush() == []
    sampler.place(1.0, HOME)
    run(sampler, 1.0, 0.4, y=0.1)
    assert sampler.pending > 0.0  # the clutch is still disengaged


def test_an_engaged_clutch_gives_one_point_a_period():
    points = run(sampler_of(), 0.0, 1.0, y=0.1)
    assert [len(p) for p in points] == [1] * 50
    assert {p.timing for p in points} == {Timing.SYNCED}
    assert duration(points) == pytest.approx(1.0)


def test_a_ratio_scales_plan_time():
    sampler = sampler_of()
    sampler.ratio = 0.5
    points = run(sampler, 0.0, 1.0, y=0.1)
    assert duration(points) == pytest.approx(0.5)
    assert {p.timing for p in points} == {Timing.SCALED}


def test_dwell_is_appended_only_while_the_device_sends():
    sampler = sampler_of()
    assert len(run(sampler, 0.0, 1.0, y=0.0)) == 50
    assert len(run(sampler, 1.0, 2.0)) < 20  # until the input is stale


def test_a_disengaged_clutch_makes_time_from_geometry():
    sampler = sampler_of()
    sampler.set_time_clutch(False)
    points = run(sampler, 0.0, 3.0, y=0.1)
    assert {p.timing for p in points} == {Timing.FREE}
    assert points[-1].pose[-1, 1] == pytest.approx(0.1, abs=1e-4)
    full, ramp = 0.2, ALONG * 0.5  # [m/s], [m/s^2]
    assert duration(points) == pytest.approx(0.1 / full + full / ramp + 0.1, abs=0.06)
    assert run(sampler, 3.0, 1.0, y=0.1) == []  # standing still adds nothing


def test_engaging_the_clutch_returns_what_was_pending():
    sampler = sampler_of()
    sampler.set_time_clutch(False)
    before = run(sampler, 0.0, 0.5, y=0.2)
    assert sampler.pending > 0.0
    rest = sampler.set_time_clutch(True)
    assert rest[-1].pose[-1] == pytest.approx(sampler.pose)
    assert sampler.pending == 0.0
    assert duration(before + rest) > 0.0


def test_a_flush_keeps_the_clutch():
    sampler = sampler_of()
    sampler.set_time_clutch(False)
    run(sampler, 0.0, 0.5, y=0.2)
    assert sampler.flush()
    assert not sampler.time_clutch
    assert sampler.pending == 0.0
    run(sampler, 0.5, 0.3, y=0.2)
    assert sampler.pending > 0.0


def test_a_held_sampler_comes_to_rest():
    sampler = sampler_of()
    run(sampler, 0.0, 0.5, y=0.5)
    run(sampler, 0.5, 1.0, y=0.5, held=True)
    at_rest = sampler.pose
    assert run(sampler, 1.5, 0.2, y=0.5, held=True) == []
    assert sampler.pose == pytest.approx(at_rest, abs=0.0)


def test_the_tool_stays_inside_the_reach_and_says_why():
    def reach(pose):
        if pose[1] > 0.1:
            raise OutOfReachError("too far left")

    sampler = sampler_of(reach)
    points = run(sampler, 0.0, 3.0, y=0.5)
    assert max(p.pose[-1, 1] for p in points) <= 0.1
    assert sampler.blocked == "target is out of reach: too far left"
    run(sampler, 3.0, 2.0, y=0.0)
    assert sampler.blocked == ""
    assert sampler.pose[1] == pytest.approx(0.0, abs=1e-3)


def test_a_stall_is_counted_and_skipped():
    sampler = sampler_of()
    run(sampler, 0.0, 0.2, y=0.3)
    points = sampler.advance(0.2 + STALL + 0.1, False, False)
    assert sampler.stalls == 1
    assert points == []


def test_a_restart_drops_what_is_pending_and_continues_there():
    sampler = sampler_of()
    sampler.set_time_clutch(False)
    run(sampler, 0.0, 0.5, y=0.2)
    sampler.restart(HOME)
    assert sampler.pending == 0.0
    assert sampler.pose == pytest.approx(HOME)


def test_dwell_needs_rest():
    sampler = sampler_of()
    (point,) = sampler.dwell()
    assert (point.step.tolist(), point.timing) == ([PERIOD], Timing.SYNCED)
    run(sampler, 0.0, 0.3, y=0.3)
    assert sampler.dwell() == []
