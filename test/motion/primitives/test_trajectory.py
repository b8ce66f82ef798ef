import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.motion.parameters import GcmsfParameters, Trajectory
from telerobot_nodes.motion.primitives.trajectory import CartesianMotion, JointMotion, Profile, profile_for

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)
START = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5])), np.array([0.4, 0.1, 0.3]))


def sampled(motion, step=1e-3, beyond=0.0):
    times = np.arange(0.0, motion.duration + beyond + step, step)
    poses = []
    for t in times:
        motion.sample(t)
        poses.append(pin.SE3(motion.R.copy(), motion.p.copy()))
    return times, poses


@given(duration=st.floats(0.1, 20.0), share=st.floats(0.01, 0.5))
def test_progress_goes_from_nothing_to_all_without_turning_back_and_with_smooth_speed(duration, share):
    profile = Profile(duration, share * duration)
    t = np.linspace(-0.1 * duration, 1.1 * duration, 4001)
    s = np.array([profile.at(x) for x in t])
    assert s[0] == 0.0
    assert s[-1] == 1.0
    assert profile.at(0.5 * duration) == pytest.approx(0.5)
    speed = np.diff(s) / np.diff(t)
    assert (speed >= -1e-9).all()
    assert speed.max() <= 1.0 / (duration - profile.ramp) * (1 + 1e-6)
    push = np.diff(speed) / (t[1] - t[0])
    assert np.abs(push).max() <= 1.5 / ((duration - profile.ramp) * profile.ramp) * 1.01


def test_with_a_time_the_motion_takes_that_time():
    trajectory = Trajectory(time_vel_sel="time", time_vel_val=3.0, acc_time=0.5)
    assert profile_for(trajectory, 0.2, 1.0) == Profile(3.0, 0.5)


def test_with_a_velocity_the_cruise_has_that_velocity_of_offset_and_rotation():
    trajectory = Trajectory(time_vel_sel="velocity", time_vel_val=0.1, acc_time=0.5)
    assert profile_for(trajectory, 0.5, 0.2).duration == pytest.approx(5.5)
    assert profile_for(trajectory, 0.1, 0.4).duration == pytest.approx(4.5)
    profile = profile_for(trajectory, 0.5, 0.2)
    h = 1e-4
    assert 0.5 * (profile.at(2.0 + h) - profile.at(2.0 - h)) / (2 * h) == pytest.approx(0.1)


def test_a_motion_too_short_for_its_speed_still_ramps_up_and_down():
    trajectory = Trajectory(time_vel_sel="velocity", time_vel_val=1.0, acc_time=0.5)
    assert profile_for(trajectory, 0.001, 0.0) == Profile(1.0, 0.5)


@given(size=st.floats(0.01, 2.0), most=st.floats(0.05, 5.0), speed=st.floats(0.01, 1.0))
def test_an_acceleration_limit_is_kept(size, most, speed):
    trajectory = Trajectory(time_vel_val=speed, acc_time=0.05, max_acceleration=most)
    profile = profile_for(trajectory, size, 0.0)
    t = np.linspace(0.0, profile.duration, 5001)
    s = size * np.array([profile.at(x) for x in t])
    push = np.diff(s, n=2) / (t[1] - t[0]) ** 2
    assert np.abs(push).max() <= most * 1.02
    assert (np.diff(s) / (t[1] - t[0])).max() <= speed * 1.001


@pytest.mark.lengthy
@given(dest=SIX)
@settings(max_examples=25)
def test_nom_goes_straight_from_where_it_is_to_its_destination(dest):
    goal = pin.SE3(pin.exp3(1.5 * np.array(dest[3:])), np.array(dest[:3]))
    motion = CartesianMotion(START, goal, Trajectory(time_vel_val=0.3))
    _, poses = sampled(motion, step=motion.duration / 50)
    np.testing.assert_allclose(poses[0].homogeneous, START.homogeneous, atol=1e-9)
    np.testing.assert_allclose(poses[-1].homogeneous, goal.homogeneous, atol=1e-9)
    way = goal.translation - START.translation
    axis = pin.log3(goal.rotation.T @ START.rotation)
    for T in poses:
        off = np.cross(T.translation - START.translation, way)
        assert np.linalg.norm(off) <= 1e-9 * max(np.linalg.norm(way), 1.0)
        turned = pin.log3(goal.rotation.T @ T.rotation)
        np.testing.assert_allclose(np.cross(turned, axis), 0.0, atol=1e-6)


def test_a_rotation_about_an_axis_of_nom_moves_the_tool_on_an_arc():
    # a crank: NOM on its axis, the knob 0.15 m away
    T_nom_tn = pin.SE3(np.eye(3), np.array([0.15, 0.0, 0.0]))
    goal = START * pin.SE3(pin.exp3(np.array([0.0, 0.0, 2.0])), np.zeros(3))
    motion = CartesianMotion(START, goal, Trajectory(time_vel_val=0.5))
    _, poses = sampled(motion, step=0.05)
    for T in poses:
        knob = START.actInv(T * T_nom_tn).translation
        assert np.linalg.norm(knob) == pytest.approx(0.15)
        assert knob[2] == pytest.approx(0.0, abs=1e-12)


@given(dest=SIX, another=SIX, when=st.floats(0.05, 0.9))
@settings(max_examples=25)
def test_a_new_destination_under_way_is_reached_without_a_step_in_place_or_speed(dest, another, when):
    trajectory = Trajectory(time_vel_val=0.3, acc_time=0.4)
    first_goal = START * pin.SE3(pin.exp3(0.6 * np.array(dest[3:])), 0.5 * np.array(dest[:3]))
    first = CartesianMotion(START, first_goal, trajectory)
    t = when * first.duration
    twist = first.twist(t)
    now = pin.SE3(first.R.copy(), first.p.copy())
    goal = START * pin.SE3(pin.exp3(0.6 * np.array(another[3:])), 0.5 * np.array(another[:3]))
    second = CartesianMotion(now, goal, trajectory, twist)
    np.testing.assert_allclose(second.p, now.translation, atol=1e-9)
    np.testing.assert_allclose(second.R, now.rotation, atol=1e-9)
    h = 1e-5
    second.sample(h)
    np.testing.assert_allclose((second.p - now.translation) / h, twist[:3], atol=1e-4)
    np.testing.assert_allclose(pin.log3(second.R @ now.rotation.T) / h, twist[3:], atol=1e-3)
    assert second.sample(second.duration)
    np.testing.assert_allclose(second.p, goal.translation, atol=1e-9)
    np.testing.assert_allclose(second.R, goal.rotation, atol=1e-9)


def test_joints_arrive_together_on_a_straight_line():
    q_from, q_to = np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.5, -1.0])
    motion = JointMotion(q_from, q_to, Trajectory(time_vel_val=0.5, acc_time=0.2))
    assert motion.duration == pytest.approx(2.2)
    for t in np.linspace(0.0, motion.duration, 50):
        motion.sample(t)
        share = motion.q[0]
        np.testing.assert_allclose(motion.q, q_from + share * (q_to - q_from), atol=1e-12)
    assert motion.sample(motion.duration)
    np.testing.assert_allclose(motion.q, q_to)


def test_joints_change_destination_under_way_without_a_step_in_place_or_speed():
    first = JointMotion(np.zeros(3), np.array([1.0, -1.0, 0.3]), Trajectory(time_vel_val=0.5))
    v = first.velocity(1.0)
    q = first.q.copy()
    second = JointMotion(q, np.array([-0.5, 0.0, 0.0]), Trajectory(time_vel_val=0.5), v)
    second.sample(0.0)
    np.testing.assert_allclose(second.q, q, atol=1e-12)
    second.sample(1e-5)
    np.testing.assert_allclose((second.q - q) / 1e-5, v, atol=1e-3)
    assert second.sample(second.duration)
    np.testing.assert_allclose(second.q, [-0.5, 0.0, 0.0], atol=1e-12)


WAYS = {"cartesian": {"tr_tn_dest": (0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)}, "joint": {"joint_dest": (0.2,)}}


def slowed(kind, t, value):
    """A motion of 0.2 m or rad in 1.2 s, slowed down to `value` [1/s] at `t` [s]: its places from there on, each ms."""
    fast = Trajectory(**WAYS[kind], acc_time=0.2, time_vel_sel="time", time_vel_val=1.2)
    slow = Trajectory(**WAYS[kind], acc_time=0.2, time_vel_sel="velocity", time_vel_val=value)
    slower = GcmsfParameters(trajectory=slow)
    if kind == "joint":
        motion = JointMotion(np.zeros(1), np.array(fast.joint_dest), fast)
    else:
        motion = CartesianMotion(pin.SE3.Identity(), fast.se3("tr_tn_dest"), fast)
    motion.sample(t)
    again, places = motion.redirected(t, slower), []
    for now in np.arange(0.0, again.duration + 1e-3, 1e-3):
        again.sample(now)
        places.append(again.q[0] if kind == "joint" else again.p[0])
    return np.array(places)


@pytest.mark.brief(12)
@pytest.mark.parametrize("kind", ["cartesian", "joint"])
@pytest.mark.parametrize("value", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("t", [0.05, 0.15, 0.6, 0.95, 1.0, 1.05, 1.1, 1.15, 1.19, 1.199])
def test_a_motion_slowed_down_on_its_way_never_passes_its_destination(kind, value, t):
    places = slowed(kind, t, value)
    assert places.max() <= 0.2 + 1e-6
    assert places[-1] == pytest.approx(0.2, abs=1e-6)
    assert np.abs(np.diff(places, n=2)).max() * 1e6 < 1.5 * 1.5  # [1/s^2] the ramp it had has 1.5
