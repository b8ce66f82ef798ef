"""The joint path over plan time: C2, local, through its points, and its rate limits rigorous."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from telerobot_nodes.core.robot import JointLimits, Kinematics, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.plan.executor.path import MIN_SPACING, JointPath, PathLimits, spread

DOF = 3
LIMITS = JointLimits(np.full(DOF, -3.0), np.full(DOF, 3.0), np.full(DOF, 2.0), np.full(DOF, 8.0), np.full(DOF, 10.0))
HANDS = sorted((Path(__file__).parents[4] / "shared/data/hand").glob("*.csv"))


def wave(t):
    return 0.4 * np.sin(2.0 * np.outer(t, [1.0, 1.7, 2.3]) + [0.0, 1.0, 2.0])


def made(n=50, spacing=0.02, seal=True, limits=LIMITS, share=None):
    path = JointPath(limits, share)
    t = spacing * np.arange(1, n + 1)
    path.reset(0.0, wave(np.zeros(1))[0])
    path.append(np.arange(1, n + 1), t, wave(t))
    if seal:
        path.seal()
    return path


def test_the_path_goes_through_every_knot():
    path = made()
    np.testing.assert_allclose(path.evaluate(path.times)[0], path.joints, atol=1e-12)


def test_velocity_and_acceleration_are_continuous_across_knots():
    path = made()
    inner = path.times[1:-1]
    _, v0, a0 = path.evaluate(inner - 1e-9)
    _, v1, a1 = path.evaluate(inner + 1e-9)
    np.testing.assert_allclose(v0, v1, atol=1e-5)
    np.testing.assert_allclose(a0, a1, atol=1e-3)


@pytest.mark.parametrize("way", [-1.0, 1.0])
@pytest.mark.parametrize("spacing", [0.004, 0.02, 0.1, "uneven"])
def test_a_path_with_knots_at_the_limits_of_joints_stays_inside_them(way, spacing):
    """Up to a limit at speed, a while there, and back; others go past a knot near it. It was 2 mrad beyond."""
    there = way * 3.0 * np.concatenate([np.linspace(0.9, 1.0, 12), np.ones(4), np.linspace(1.0, 0.95, 8)])
    near = np.where(np.arange(there.size) == 13, there, 0.999 * there)
    q = np.column_stack([there, near, np.random.default_rng(1).uniform(-3.0, 3.0, there.size)])
    steps = np.random.default_rng(2).uniform(0.002, 0.3, there.size) if spacing == "uneven" else spacing
    path = JointPath(LIMITS)
    path.reset(0.0, q[0])
    path.append(np.arange(1, len(q)), np.cumsum(np.broadcast_to(steps, there.shape))[1:], q[1:])
    path.seal()
    at, _, curvature = path.evaluate(np.linspace(0.0, path.settled_end, 20_000))
    assert np.abs(at).max() <= 3.0 + 1e-12
    _, v, a = path.evaluate(path.times)
    assert np.abs(v[1:11, 0]).min() > 0.0  # it does not stop on its way
    inner = path.times[1:-1]
    np.testing.assert_allclose(path.evaluate(inner - 1e-10)[2], a[1:-1], rtol=1e-3, atol=1e-3 * np.abs(curvature).max())


def test_far_from_the_limits_the_path_does_not_depend_on_them():
    wide = replace(LIMITS, lower=np.full(DOF, -30.0), upper=np.full(DOF, 30.0))
    tau = np.linspace(0.0, 1.0, 500)
    for mine, other in zip(made().evaluate(tau), made(limits=wide).evaluate(tau), strict=True):
        assert np.array_equal(mine, other)


def test_derivatives_are_those_of_the_position():
    path = made()
    tau, h = np.linspace(0.05, 0.9, 200), 1e-5
    q0, q1 = path.evaluate(tau - h)[0], path.evaluate(tau + h)[0]
    _, v, a = path.evaluate(tau)
    np.testing.assert_allclose((q1 - q0) / (2 * h), v, atol=1e-4)
    v0, v1 = path.evaluate(tau - h)[1], path.evaluate(tau + h)[1]
    np.testing.assert_allclose((v1 - v0) / (2 * h), a, atol=0.1)


def test_a_sealed_path_starts_and_ends_at_rest():
    _, v, a = made().evaluate(np.array([0.0, 1.0]))
    np.testing.assert_allclose(v, 0.0, atol=1e-12)
    np.testing.assert_allclose(a, 0.0, atol=1e-9)


def test_what_is_appended_changes_nothing_settled():
    path = made(30, seal=False)
    tau = np.linspace(0.0, path.settled_end - 1e-6, 300)
    before = path.evaluate(tau)
    path.append(np.arange(31, 41), 0.6 + 0.02 * np.arange(1, 11), np.zeros((10, DOF)) + 0.5)
    for then, now in zip(before, path.evaluate(tau), strict=True):
        np.testing.assert_array_equal(then, now)


@pytest.mark.parametrize("spacing", [0.02, 0.05])
def test_what_follows_the_last_knot_needed_changes_nothing_before(spacing):
    path = made(spacing=spacing, seal=False)
    for time in np.linspace(0.0, path.settled_end, 41):
        needed = path.index_needed(time)
        other = made(spacing=spacing, seal=False)
        other.truncate(needed + 1)
        tail, joints = other.times[-1], other.joints[-1]
        other.append(100 + np.arange(6), tail + spacing * np.arange(1, 7), joints - 0.05 * np.arange(1, 7)[:, None])
        before = np.linspace(0.0, time, 50)
        for mine, theirs in zip(path.evaluate(before), other.evaluate(before), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-9)
        assert path.times[needed] <= time + 2.0 * spacing  # and no more than the knot after the next is needed


def test_truncation_leaves_what_is_settled_before_it_and_unsettles_the_last_segment():
    path = made(50)
    tau = np.linspace(0.0, 0.379, 100)
    before = path.evaluate(tau)
    path.truncate(21)
    assert path.settled_end == pytest.approx(0.38)
    assert not path.sealed
    for then, now in zip(before, path.evaluate(tau), strict=True):
        np.testing.assert_array_equal(then, now)


def test_forgetting_what_is_behind_changes_nothing_ahead():
    path, whole = made(200), made(200)
    path.drop_before(1.0)
    assert len(path) < 155
    tau = np.linspace(1.0, 4.0, 300)
    np.testing.assert_array_equal(path.evaluate(tau)[0], whole.evaluate(tau)[0])
    a, b = path.rate_limits(1.0, 1.0, 9.0), whole.rate_limits(1.0, 1.0, 9.0)
    np.testing.assert_array_equal(a.rate, b.rate)
    np.testing.assert_array_equal(a.edge, b.edge)


def test_knots_too_near_in_plan_time_are_moved_apart_and_stay_in_order():
    times = spread(1.0, np.array([0.5, 1.0, 1.0, 2.0, 2.0]))
    assert np.all(np.diff(np.concatenate([[1.0], times])) >= MIN_SPACING * (1 - 1e-9))
    assert times[3] == 2.0


def test_uneven_spacing_does_not_make_the_path_swing_out():
    path = JointPath(LIMITS)
    t = np.concatenate([0.02 * np.arange(1, 20), 0.38 + 0.002 * np.arange(1, 20)])
    q = np.outer(np.concatenate([0.004 * np.arange(1, 20), 0.076 + 0.004 * np.arange(1, 20)]), np.ones(DOF))
    path.reset(0.0, np.zeros(DOF))
    path.append(np.arange(1, 39), t, q)
    path.seal()
    tau = np.linspace(0.0, t[-1], 5000)
    chord = np.interp(tau, np.concatenate([[0.0], t]), np.concatenate([[0.0], q[:, 0]]))
    assert np.abs(path.evaluate(tau)[0][:, 0] - chord).max() < 0.001  # a quarter of a step


@pytest.mark.parametrize("spacing", [0.002, 0.02, 0.3])
def test_the_rate_limit_of_every_cell_keeps_velocity_curvature_and_jerk(spacing):
    path = made(40, spacing)
    share = PathLimits()
    stretch = path.rate_limits(0.0, 0.0, 1e9)
    for k in range(stretch.rate.size):
        tau = np.linspace(stretch.edge[k], stretch.edge[k + 1], 12)[1:-1]
        _, v, a = path.evaluate(tau)
        r = stretch.rate[k]
        assert np.all(np.abs(v) * r <= share.reserve * LIMITS.velocity * (1 + 1e-6))
        assert np.all(np.abs(a) * r * r <= share.reserve * share.share * LIMITS.acceleration * (1 + 1e-6))
        allowed = share.reserve * (1 - share.share) * LIMITS.acceleration
        assert np.all(np.abs(v) * stretch.change[k] <= allowed * (1 + 1e-6))


@pytest.mark.parametrize("ratio", [100.0, 10.0, 2.0])
@pytest.mark.parametrize("spacing", [0.002, 0.02, 0.3])
def test_no_rate_and_no_change_of_it_within_a_cell_takes_more_than_the_jerk_limits(spacing, ratio):
    limits = replace(LIMITS, jerk=ratio * np.array([1.0, 3.0, 9.0]) * LIMITS.acceleration)
    share = PathLimits(filter_time=0.05)
    path = made(40, spacing, limits=limits, share=share)
    stretch = path.rate_limits(0.0, 0.0, 1e9)
    worst = 0.0
    for edge, end, most, change in zip(stretch.edge, stretch.edge[1:], stretch.rate, stretch.change, strict=False):
        tau, h = np.linspace(edge, end, 12)[1:-1], 1e-6
        _, v, a = path.evaluate(tau)
        third = (path.evaluate(tau + h)[2] - path.evaluate(tau - h)[2]) / (2.0 * h)
        for r in (0.1 * most, most):  # the second derivative of the averaged rate is 2 change / filter_time at most
            jerk = np.abs(third) * r**3 + 3.0 * np.abs(a) * r * change + np.abs(v) * 2.0 * change / share.filter_time
            worst = max(worst, float((jerk / limits.jerk).max()))
    assert worst <= share.reserve * sum(share.jerk_shares) * (1.0 + 1e-3)
    assert worst > 0.2 * (ratio < 100.0)  # not by being far slower than need be


def test_the_default_jerk_limit_changes_nothing():
    """It is above what acceleration limits, averaging and ramp allow."""
    share = PathLimits()
    _, bending, jerk, change, mixed = share.bounds(LIMITS)
    np.testing.assert_allclose(jerk, LIMITS.acceleration / share.jerk_time)
    np.testing.assert_allclose(change, share.reserve * (1.0 - share.share) * LIMITS.acceleration)
    assert np.all(bending / mixed < share.ramp_time)


def test_motion_never_runs_through_a_seal():
    path = made(30)
    path.append(np.arange(31, 41), 0.6 + 0.02 * np.arange(1, 11), np.tile(path.joints[-1], (10, 1)))
    before = path.rate_limits(0.1, 0.2, 9.0)
    assert before.edge[-1] == pytest.approx(0.6)
    assert not before.open_end
    after = path.rate_limits(0.6, 0.6, 9.0)
    assert after.edge[0] == pytest.approx(0.6)
    assert after.open_end


def test_the_gripper_follows_what_points_said_and_is_silent_before():
    path = made(10, seal=False)
    assert path.gripper_at(np.array([0.1])).size == 0
    path.append(np.arange(11, 21), 0.2 + 0.02 * np.arange(1, 11), np.zeros((10, DOF)), np.full(10, 0.05))
    path.seal()
    assert path.gripper_at(np.array([0.1, 0.4])).tolist() == [-1.0, pytest.approx(0.05)]
    first = 0.2 + 0.02  # [s] the first point that sets an opening
    assert path.gripper_at(np.array([first - 1e-13])).tolist() == [pytest.approx(0.05)]  # where a profile may end


@pytest.mark.skipif(not HANDS, reason="recorded hands are not beside the project")
@pytest.mark.parametrize("file", HANDS[:4], ids=lambda f: f.stem)
def test_between_the_points_of_a_recorded_hand_the_tool_stays_within_a_third_of_a_millimetre(file):
    robot = load_robot("arm")
    rows = np.loadtxt(file, delimiter=",", skiprows=1)
    tau = np.arange(0.02, rows[-1, 0], 0.02)
    kernel = np.hanning(21) / np.hanning(21).sum()  # what a shaper would take out: tremor and tracker jumps
    smooth = [
        np.convolve(np.pad(np.interp(tau, rows[:, 0], rows[:, i]), 10, "edge"), kernel, "valid") for i in (1, 2, 3)
    ]
    points = 0.5 * (np.array(smooth).T - smooth_start(smooth)) + robot.forward(robot.home).translation
    poses = np.tile(pose_from_se3(robot.forward(robot.home)), (tau.size, 1))
    poses[:, :3] = points
    q = Kinematics(robot).solve_path(poses, robot.home)
    path = JointPath(robot.limits)
    path.reset(0.0, q[0])
    path.append(np.arange(1, tau.size + 1), tau, q)
    path.seal()
    between = np.linspace(tau[1], tau[-2], 3000)
    tool = np.array([robot.forward(joints).translation for joints in path.evaluate(between)[0]])
    chord = np.array([np.interp(between, tau, points[:, i]) for i in range(3)]).T
    assert np.linalg.norm(tool - chord, axis=1).max() < 0.0003


def smooth_start(smooth):
    return np.array([s[0] for s in smooth])
