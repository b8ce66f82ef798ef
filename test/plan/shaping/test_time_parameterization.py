"""The artificial time base: from geometry alone, inside limits, streaming."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.robot import ArmLoad, JointLoad, Kinematics, Reach, load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.shaping import PathTimeParameterization, TimeBaseConfig

PERIOD = 0.02
CONFIG = TimeBaseConfig()
HURRIED = 1.5  # [-] of the acceleration limit, where a bend is seen after what leads to it was released


def curve(x):
    angle = 0.8 * math.sin(math.pi * x)
    position = [0.2 * math.sin(2 * x * math.pi), 0.15 * math.cos(3 * x * math.pi), 0.1 * x]
    return np.array([*position, 0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)])


def line(x):
    return np.array([0.3 * x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def there_and_back(x):
    return np.array([0.1 * math.sin(3 * math.pi * x), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def corner(x):
    return np.array([0.4 * min(x, 0.5), 0.4 * max(x - 0.5, 0.0), 0.0, 0.0, 0.0, 0.0, 1.0])


def lay(path, duration, underrun_imminent=False, config=CONFIG, path_load=None, rest=0.5):
    """A hand that draws `path` in `duration` seconds and then rests: plan times and poses, start included."""
    base = PathTimeParameterization(config, PERIOD, path(0.0), path_load=path_load)
    samples = round(duration / PERIOD)
    steps, poses = [0.0], [path(0.0)]
    for k in range(samples + round(rest / PERIOD)):
        inside = [min((k + j / 5) / samples, 1.0) for j in range(1, 6)]
        base.add([path(x) for x in inside])
        timed = base.release(underrun_imminent)
        steps += list(timed.step)
        poses += list(timed.pose)
    return np.cumsum(steps), np.array(poses)


def motion(time, poses):
    velocity = np.diff(poses[:, :3], axis=0) / np.diff(time)[:, None]
    acceleration = np.diff(velocity, axis=0) / np.diff(time)[1:, None]
    return np.linalg.norm(velocity, axis=1), np.linalg.norm(acceleration, axis=1)


@pytest.mark.parametrize("path", [curve, line, there_and_back, corner])
@pytest.mark.lengthy
def test_plan_time_does_not_depend_on_how_fast_the_hand_moved(path):
    totals = [lay(path, duration)[0][-1] for duration in (3.0, 4.0, 6.0, 9.0)]
    assert max(totals) <= 1.1 * min(totals)


@pytest.mark.parametrize("path", [curve, line, there_and_back, corner])
@pytest.mark.parametrize("duration", [2.0, 8.0])
def test_the_tool_keeps_its_speed_limit_and_ends_where_the_hand_ended(path, duration):
    time, poses = lay(path, duration)
    speed, _ = motion(time, poses)
    assert speed.max() <= CONFIG.speed * 1.001
    assert np.allclose(poses[-1], path(1.0), atol=1e-9)
    assert np.all(np.diff(time) >= 0.001 - 1e-9)


def test_smooth_geometry_keeps_its_acceleration_limit():
    time, poses = lay(line, 2.0)
    speed, acceleration = motion(time, poses)
    assert acceleration.max() <= CONFIG.acceleration * 1.001
    assert speed.max() > 0.99 * CONFIG.speed


@pytest.mark.parametrize("path", [curve, there_and_back, corner])
@pytest.mark.parametrize("duration", [1.5, 8.0])
@pytest.mark.parametrize("underrun_imminent", [False, True])
@pytest.mark.lengthy
def test_bends_and_reversals_keep_the_acceleration_limit_too(path, duration, underrun_imminent):
    time, poses = lay(path, duration, underrun_imminent)
    _, acceleration = motion(time, poses)
    assert acceleration.max() <= CONFIG.acceleration * (HURRIED if underrun_imminent else 1.05)


def polygon(corners):
    """Path through points in the plane, evenly run through; a reversal is a corner too."""
    corners = np.array([(0.0, 0.0), *corners])
    lengths = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))))

    def path(x):
        at = [np.interp(x * lengths[-1], lengths, corners[:, k]) for k in (0, 1)]
        return np.array([*at, 0.0, 0.0, 0.0, 0.0, 1.0])

    return path


CORNERS = st.lists(st.tuples(*[st.integers(-12, 12)] * 2), min_size=1, max_size=8)


@settings(max_examples=30, deadline=None)
@given(CORNERS, st.floats(0.3, 10.0), st.booleans())
@pytest.mark.lengthy
def test_any_path_with_corners_and_reversals_stays_inside_speed_and_acceleration(corners, duration, underrun_imminent):
    steps = [(x, y) for x, y in np.array(corners) * 0.01]
    path = polygon(steps)
    time, poses = lay(path, duration, underrun_imminent)
    if len(time) < 4:
        return  # it did not leave its place
    speed, acceleration = motion(time, poses)
    assert speed.max() <= CONFIG.speed * 1.001
    assert acceleration.max() <= CONFIG.acceleration * (HURRIED if underrun_imminent else 1.1)


def pauses(speed, underrun_imminent):
    """While a hand creeps at `speed` [m/s]: longest wait for a point [s], lag of the plan [m], its plan time [s]."""
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    longest = quiet = total = 0.0
    moved = 0.0
    for k in range(round(6.0 / PERIOD)):
        base.add([line(speed * PERIOD * (k + 1) / 0.3)])
        timed = base.release(underrun_imminent)
        total += timed.step.sum()
        moved = timed.pose[-1, 0] if len(timed) else moved
        quiet = 0.0 if len(timed) else quiet + PERIOD
        longest = max(longest, quiet if k * PERIOD > 3.0 else 0.0)
    return longest, speed * 6.0 - moved, total


@pytest.mark.parametrize("speed", [0.002, 0.004, 0.006])
def test_a_creeping_hand_sets_the_pace_of_a_robot_that_would_run_dry(speed):
    longest, lag, total = pauses(speed, underrun_imminent=True)
    assert longest <= 0.001 / speed + 0.1  # a vertex is a millimetre
    assert lag <= speed * (CONFIG.hold + 0.2) + 0.006
    assert total == pytest.approx((speed * 6.0 - lag) / speed, rel=0.25)


def test_a_creeping_hand_does_not_end_the_path():
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    for k in range(200):
        base.add([line(0.003 * PERIOD * (k + 1) / 0.3)])
        assert len(base.release()) == 0  # nothing is final yet, and it does not stand still
    assert base.pending * CONFIG.speed == pytest.approx(0.012, abs=0.001)


def test_waiting_before_the_hand_leaves_does_not_count_as_its_pace():
    spans = []
    for wait in (0.0, 10.0):
        base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
        steps = []
        for _ in range(round(wait / PERIOD)):
            base.add([])
            steps += list(base.release(True).step)
        for k in range(100):
            base.add([line((k + 1) / 100)])
            steps += list(base.release(True).step)
        spans.append(sum(steps))
    assert spans[0] == pytest.approx(spans[1], abs=0.05)


def test_turning_on_the_spot_keeps_the_angular_speed():
    def turning(x):
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, math.sin(0.5 * x), math.cos(0.5 * x)])

    time, poses = lay(turning, 2.0)
    angle = 2.0 * np.arctan2(poses[:, 5], poses[:, 6])
    assert np.max(np.diff(angle) / np.diff(time)) <= CONFIG.angular_speed * 1.001
    assert angle[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("path", [curve, corner])
def test_points_lie_on_the_path_the_hand_drew(path):
    _, poses = lay(path, 4.0)
    dense = np.array([path(x) for x in np.linspace(0.0, 1.0, 4001)])[:, :3]
    offsets = [np.min(np.linalg.norm(dense - p, axis=1)) for p in poses[:, :3]]
    assert max(offsets) < 0.0005


def test_standing_still_appends_nothing():
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    for _ in range(200):
        base.add([])
        assert len(base.release()) == 0


def test_most_of_the_path_is_released_while_the_hand_moves_and_the_rest_when_it_stands():
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    released = 0
    for k in range(100):
        base.add([line((k + 1) / 100)])
        released += len(base.release())
    stretch = 0.5 * CONFIG.speed**2 / CONFIG.acceleration / CONFIG.speed
    assert released > 0
    assert base.pending <= stretch + 0.1
    for _ in range(round(CONFIG.still / PERIOD) + 1):
        base.add([])
        released += len(base.release())
    assert base.pending == 0.0


def test_hurry_bounds_the_wait_of_a_slow_hand():
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    for k in range(400):  # 10 mm/s
        base.add([line(0.01 * PERIOD * (k + 1) / 0.3)])
        base.release(underrun_imminent=True)
    assert base.pending * CONFIG.speed <= 0.01 * (CONFIG.hold + 0.2) + 0.004


def test_a_joint_at_its_limit_slows_the_plan():
    fast, _ = lay(line, 2.0)
    slow, _ = lay(line, 2.0, path_load=lambda poses, spacing: JointLoad(velocity=4.0))
    assert slow[-1] > 2.5 * fast[-1]


@pytest.mark.parametrize("name", ["arm", "panda", "ur5"])
def test_the_plan_is_inside_the_limits_of_the_joints_at_its_own_pace(name):
    """Else lead and plan time are not true: the arm would come later than they say."""
    robot = load_robot(name)
    home = pose_from_se3(robot.forward(robot.home))
    config = TimeBaseConfig(speed=1.0, acceleration=4.0, angular_speed=4.0, angular_acceleration=16.0)

    def swing(x):
        pose = home.copy()
        pose[:3] += [0.06 * math.cos(4.0 * math.pi * x) - 0.06, 0.12 * math.sin(2.0 * math.pi * x), 0.0]
        return pose

    def used(path_load):
        time, poses = lay(swing, 4.0, config=config, path_load=path_load)
        q = Kinematics(robot).solve_path(poses, robot.home)
        velocity = np.diff(q, axis=0) / np.diff(time)[:, None]
        acceleration = np.diff(velocity, axis=0)[:-1] / np.diff(time)[1:-1, None]  # the last step may be a short one
        return abs(velocity / robot.limits.velocity).max(), abs(acceleration / robot.limits.acceleration).max()

    velocity, acceleration = used(ArmLoad(robot, Reach(robot), 0.95, 0.57))
    assert velocity <= 0.96
    assert acceleration <= 0.57
    assert max(used(None)) > 0.8


def test_engaging_the_time_clutch_in_motion_flushes_the_rest_at_speed():
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    poses = [line(0.0)]
    for k in range(60):
        base.add([line((k + 1) / 100)])
        poses += list(base.release().pose)
    rest = base.finish(end_speed=1.0)
    poses += list(rest.pose)
    assert np.allclose(poses[-1], line(0.6), atol=1e-9)
    last = np.linalg.norm(rest.pose[-1, :3] - rest.pose[-2, :3]) / rest.step[-1]
    assert last > 0.9 * CONFIG.speed


def test_disengaging_in_motion_goes_on_at_the_hand_speed():
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0), speed=1.0)
    time, poses = [0.0], [line(0.0)]
    for k in range(100):
        base.add([line((k + 1) / 75)])
        timed = base.release()
        time += list(timed.step)
        poses += list(timed.pose)
    speed, _ = motion(np.cumsum(time), np.array(poses))
    assert speed[0] > 0.9 * CONFIG.speed


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-0.05, 0.05)] * 3), min_size=1, max_size=30), st.booleans())
@pytest.mark.lengthy
def test_any_path_gives_increasing_time_and_ends_at_its_end(steps, underrun_imminent):
    base = PathTimeParameterization(CONFIG, PERIOD, line(0.0))
    pose, total, last = line(0.0), 0.0, line(0.0)
    for step in [*steps, *[(0.0, 0.0, 0.0)] * 20]:
        pose = pose.copy()
        pose[:3] += step
        base.add([pose])
        timed = base.release(underrun_imminent)
        assert np.all(timed.step >= 0.001 - 1e-9)
        total += timed.step.sum()
        last = timed.pose[-1] if len(timed) else last
    assert np.linalg.norm(last[:3] - pose[:3]) <= 0.001
    assert total >= 0.9 * np.linalg.norm(pose[:3] - last[:3]) / CONFIG.speed - 0.005


def test_bad_bounds_are_refused_by_name():
    with pytest.raises(InvalidValueError, match=r"time_base\.speed"):
        TimeBaseConfig(speed=math.nan)
