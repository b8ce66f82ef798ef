"""Teleoperation, dither, springs and the joint field, each against a computation of its own."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.chain import chain_of, forward, jacobian, workspace_of
from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.motion import law_records as lr
from telerobot_nodes.motion.dither import dither_motion, give_back, wave
from telerobot_nodes.motion.joint_field import field_motion, joint_push, margins, sigma_gradient
from telerobot_nodes.motion.ring import accumulate
from telerobot_nodes.motion.springs import orientation_pull, spring_motion
from telerobot_nodes.motion.teleoperation import KEEP, hand_motion

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)
PERIOD = 0.005
ALL = [1] * 6


def se3(six, scale=2.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def pose(T):
    return pin.SE3ToXYZQUAT(T).tolist()


def displacement(six):
    return pin.SE3(pin.exp3(np.array(six)[3:]), np.array(six)[:3])


# teleoperation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["tool", "world", "camera"])
@given(nom=SIX, teleop=SIX, camera=SIX, hand=SIX)
@settings(max_examples=15)
def test_the_hand_moves_along_the_axes_of_its_mode(make_law, arm, mode, nom, teleop, camera, hand):
    T_world_nom, T_nom_teleop, T_world_camera = se3(nom), se3(teleop), se3(camera)
    law, state, _ = make_law(
        arm, tele_mode=mode, tr_teleop=pose(T_nom_teleop), tr_camera=pose(T_world_camera), sel_vect_tp=ALL
    )
    d = 1e-4 * np.array(hand)
    out = np.empty(6)
    hand_motion(law, state, d, T_world_nom.rotation, out)
    moved = displacement(out)  # of NOM, seen in NOM
    at_teleop = T_nom_teleop.inverse() * moved * T_nom_teleop
    axes = {
        "tool": np.eye(3),
        "world": (T_world_nom * T_nom_teleop).rotation.T,
        "camera": (T_world_nom * T_nom_teleop).rotation.T @ T_world_camera.rotation,
    }[mode]
    np.testing.assert_allclose(at_teleop.translation, axes @ d[:3], atol=1e-9)
    np.testing.assert_allclose(pin.log3(at_teleop.rotation), axes @ d[3:], atol=1e-9)


def test_gains_and_selection_act_on_each_dof_of_teleop(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_tp=[1, 0, 1, 0, 1, 0], tele_gains=[2, 2, -1, 1, 0.5, 1])
    out = np.empty(6)
    hand_motion(law, state, np.full(6, 1e-4), np.eye(3), out)
    np.testing.assert_allclose(out, 1e-4 * np.array([2, 0, -1, 0, 0.5, 0]), atol=1e-12)


def test_a_burst_of_the_hand_is_spread_over_samples_at_the_speed_limit_and_not_lost(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_tp=ALL, max_tele_vel=[0.1] * 3 + [0.5] * 3)
    out, total = np.empty(6), np.zeros(6)
    burst = np.array([0.004, 0, 0, 0, 0, 0.02])
    for k in range(20):
        hand_motion(law, state, burst if k == 0 else np.zeros(6), np.eye(3), out)
        assert (np.abs(out) <= law.six[lr.MAX_TELE_VEL] * PERIOD + 1e-15).all()
        total += out
    np.testing.assert_allclose(total, burst, atol=1e-12)


def test_a_hand_far_too_fast_leaves_no_more_than_a_tenth_of_a_second_of_motion_behind(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_tp=ALL, max_tele_vel=[0.1] * 6)
    out, total = np.empty(6), 0.0
    for _ in range(100):
        hand_motion(law, state, np.array([1.0, 0, 0, 0, 0, 0]), np.eye(3), out)
    for _ in range(100):
        hand_motion(law, state, np.zeros(6), np.eye(3), out)
        total += out[0]
    assert total <= 0.1 * KEEP + 1e-12


# dither -----------------------------------------------------------------------------------------------------------


def test_waves_have_their_shape_and_unit_amplitude():
    phases = np.linspace(0.0, 3.0, 3001)
    triangle, sine, square = ([wave(shape, x) for x in phases] for shape in range(3))
    np.testing.assert_allclose(sine, np.sin(2 * np.pi * phases), atol=1e-9)
    np.testing.assert_allclose(triangle, 2 / np.pi * np.arcsin(np.sin(2 * np.pi * phases)), atol=1e-9)
    assert set(square) == {-1.0, 1.0}
    assert np.mean(square) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("shape", ["triangle", "sine", "square"])
def test_dither_adds_up_to_its_wave_in_the_dither_frame(make_law, arm, shape):
    T = se3((0.1, -0.2, 0.3, 0.5, 0.1, -0.4))
    law, state, _ = make_law(
        arm,
        dither_wave=shape,
        tr_dither=pose(T),
        dither_mag=[2e-3, 0, 1e-3, 0, 5e-3, 0],
        dither_period=[0.5, 1, 0.2, 1, 0.4, 1],
    )
    out = np.empty(6)
    R, p = np.eye(3), np.zeros(3)
    for k in range(1, 300):
        dither_motion(law, state, k * PERIOD, out)
        accumulate(R, p, out)
        index = ("triangle", "sine", "square").index(shape)
        target = [
            mag * wave(index, k * PERIOD / period)
            for mag, period in zip(law.six[lr.DITHER_MAG], law.six[lr.DITHER_PERIOD], strict=True)
        ]
        at_dither = T.inverse() * pin.SE3(R, p) * T
        np.testing.assert_allclose(at_dither.translation, target[:3], atol=1e-4)  # jumps add up to second order
        np.testing.assert_allclose(pin.log3(at_dither.rotation), target[3:], atol=1e-9)


def test_what_a_limit_cuts_off_a_wave_is_made_up_later(make_law, arm):
    law, state, _ = make_law(arm, dither_wave="square", dither_mag=[1e-3, 0, 0, 0, 0, 0])
    out, x = np.empty(6), 0.0
    for k in range(1, 60):
        dither_motion(law, state, k * PERIOD, out)
        share = min(1.0, 1e-4 / max(abs(out[0]), 1e-12))
        x += share * out[0]
        give_back(state, np.array([share, 1.0]))
    assert x == pytest.approx(1e-3)


# springs ----------------------------------------------------------------------------------------------------------


def pulled(make_law, arm, tr_del, chosen, steps=1, **values):
    """trDel after some samples of springs alone."""
    law, state, _ = make_law(arm, sel_vect_sp=chosen, **values)
    E = tr_del.inverse()
    state.R[lr.DEL_INVERSE], state.p[lr.DEL_INVERSE] = E.rotation, E.translation
    out = np.empty(6)
    for _ in range(steps):
        spring_motion(law, state, out)
        accumulate(state.R[lr.DEL_INVERSE], state.p[lr.DEL_INVERSE], out)
    return pin.SE3(state.R[lr.DEL_INVERSE].copy(), state.p[lr.DEL_INVERSE].copy()).inverse()


@given(delta=SIX)
@settings(max_examples=30)
def test_springs_premultiply_trdel_by_their_pull(make_law, arm, delta):
    tr_del = se3(delta, 1.5)
    got = pulled(make_law, arm, tr_del, ALL, spring_gains=[1, 2, 3, 3], max_spring_vel=[10] * 4)
    pull = -PERIOD * np.array([1, 2, 3]) * tr_del.translation
    turn = -PERIOD * 3 * pin.log3(tr_del.rotation)
    expected = pin.SE3(pin.exp3(turn), pull) * tr_del
    np.testing.assert_allclose(got.homogeneous, expected.homogeneous, atol=1e-9)


@given(delta=SIX)
@settings(max_examples=20)
def test_springs_in_every_dof_bring_trdel_to_identity(make_law, arm, delta):
    got = pulled(make_law, arm, se3(delta, 1.5), ALL, steps=2000, spring_gains=[3] * 4, max_spring_vel=[9] * 4)
    np.testing.assert_allclose(got.homogeneous, np.eye(4), atol=1e-6)


def test_springs_keep_their_speed_limits(make_law, arm):
    tr_del = pin.SE3(pin.exp3(np.array([0.0, 1.0, 0.0])), np.array([0.2, -0.3, 0.4]))
    got = pulled(make_law, arm, tr_del, ALL, spring_gains=[50] * 4, max_spring_vel=[0.01, 0.02, 0.03, 0.1])
    step = got * tr_del.inverse()
    np.testing.assert_allclose(step.translation, PERIOD * np.array([-0.01, 0.02, -0.03]), atol=1e-12)
    np.testing.assert_allclose(pin.log3(step.rotation), [0.0, -0.1 * PERIOD, 0.0], atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
@given(delta=SIX)
@settings(max_examples=20)
def test_one_orientation_dof_aligns_that_axis_and_leaves_the_turn_about_it(make_law, arm, axis, delta):
    tr_del = se3(delta, 1.2)
    n = tr_del.rotation[:, axis]
    assume(n[axis] > -0.99)
    chosen = [0, 0, 0] + [int(i == axis) for i in range(3)]
    pull = np.empty(3)
    orientation_pull(tr_del.rotation, np.array(chosen[3:], dtype=float), pull)
    expected = np.cross(n, np.eye(3)[axis])
    size = np.linalg.norm(expected)
    if size > 1e-9:
        expected *= np.arccos(np.clip(n[axis], -1, 1)) / size
    np.testing.assert_allclose(pull, expected, atol=1e-6)
    got = pulled(make_law, arm, tr_del, chosen, steps=3000, spring_gains=[3] * 4, max_spring_vel=[9] * 4)
    np.testing.assert_allclose(got.rotation[:, axis], np.eye(3)[axis], atol=1e-6)
    np.testing.assert_allclose(got.translation, pin.exp3(pull) @ np.zeros(3) + got.translation)


def test_an_axis_turned_right_over_is_brought_back(make_law, arm):
    tr_del = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
    got = pulled(make_law, arm, tr_del, [0, 0, 0, 1, 0, 0], steps=3000, spring_gains=[3] * 4, max_spring_vel=[9] * 4)
    np.testing.assert_allclose(got.rotation[:, 0], [1, 0, 0], atol=1e-6)


@given(delta=SIX)
@settings(max_examples=20)
def test_two_orientation_dofs_leave_out_the_third_part_of_the_rotation_vector(make_law, arm, delta):
    tr_del = se3(delta, 1.0)
    pull = np.empty(3)
    orientation_pull(tr_del.rotation, np.array([1.0, 0.0, 1.0]), pull)
    np.testing.assert_allclose(pull, -pin.log3(tr_del.rotation) * [1, 0, 1], atol=1e-9)


def test_without_orientation_dofs_there_is_no_orientation_spring(make_law, arm):
    tr_del = se3((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    got = pulled(make_law, arm, tr_del, [1, 0, 0, 0, 0, 0], steps=50)
    np.testing.assert_allclose(got.rotation, tr_del.rotation, atol=1e-9)
    assert abs(got.translation[0]) < abs(tr_del.translation[0])
    np.testing.assert_allclose(got.translation[1:], tr_del.translation[1:], atol=1e-9)


# joint field ------------------------------------------------------------------------------------------------------


def at(robot, q):
    ws = workspace_of(robot.dof)
    forward(chain_of(robot.model, robot.tool_frame_id), np.array(q, dtype=float), ws)
    jacobian(chain_of(robot.model, robot.tool_frame_id), ws)
    return ws


@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_of_the_smallest_singular_value_is_its_derivative(make_law, robot, seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(robot.limits.lower + 0.2, robot.limits.upper - 0.2)
    values = np.linalg.svd(robot.jacobian(q), compute_uv=False)
    if values[-2] < 1.5 * values[-1]:
        pytest.skip("two nearly equal singular values: no singularity near, and no gradient")
    law, state, _ = make_law(robot)
    ws = at(robot, q)
    margins(law, state, ws, q)
    assert state.value[lr.SIGMA] == pytest.approx(values[-1], rel=1e-3)
    gradient = np.empty(robot.dof)
    sigma_gradient(ws, state.value[lr.SIGMA], gradient)
    h = 1e-6
    for i in range(robot.dof):
        step = h * np.eye(robot.dof)[i]
        up, down = (np.linalg.svd(robot.jacobian(q + s), compute_uv=False)[-1] for s in (step, -step))
        assert gradient[i] == pytest.approx((up - down) / (2 * h), abs=5e-3)


def test_a_joint_near_its_limit_is_pushed_away_with_gain_over_distance(make_law, robot):
    law, state, _ = make_law(robot, sel_vect_lim=[1] * robot.dof, js_gain=[0.002, 0.0], js_theta=[0.2, 0.0])
    q = robot.home.copy()
    q[0], q[1] = robot.limits.upper[0] - 0.1, robot.limits.lower[1] + 0.05
    middle = 0.5 * (robot.limits.lower + robot.limits.upper)
    q[2:] = middle[2:]
    push = np.empty(robot.dof)
    margins(law, state, at(robot, q), q)
    joint_push(law, state, at(robot, q), q, push)
    expected = np.zeros(robot.dof)
    expected[0], expected[1] = -0.02, 0.04
    np.testing.assert_allclose(push, expected, atol=1e-9)
    assert state.value[lr.JOINT_MARGIN] == pytest.approx(0.05)
    assert state.value[lr.NEAREST_JOINT] == 1


def test_joints_that_are_not_selected_are_left_alone(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_lim=[0, 1, 0, 0, 0, 0], js_theta=[0.2, 0.0])
    q = arm.home.copy()
    q[0] = arm.limits.upper[0] - 0.01
    push = np.empty(6)
    margins(law, state, at(arm, q), q)
    joint_push(law, state, at(arm, q), q, push)
    assert push[0] == 0.0


def test_the_push_is_limited_at_the_limit_itself(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_lim=[1] * 6, js_gain=[1.0, 0.0], js_theta=[0.2, 0.0])
    q = arm.home.copy()
    q[0] = arm.limits.upper[0]
    push = np.empty(6)
    margins(law, state, at(arm, q), q)
    joint_push(law, state, at(arm, q), q, push)
    assert push[0] == pytest.approx(-lr.FIELD_SHARE * arm.limits.velocity[0])


def test_near_a_singularity_the_joints_go_where_the_singular_value_grows(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_sing=True, js_gain=[0.0, 1e-3], js_theta=[0.0, 3.0])
    q = arm.home.copy()
    q[4] = 0.05  # wrist nearly straight
    kinematics = Kinematics(arm)
    push, ws = np.empty(6), at(arm, q)
    margins(law, state, ws, q)
    joint_push(law, state, ws, q, push)
    size = np.linalg.norm(push)
    assert 0.0 < size <= 1e-3 / state.value[lr.SIGMA] + 1e-9
    before = kinematics.smallest_singular_value(q)
    assert kinematics.smallest_singular_value(q + 1e-3 * push / size) > before


@given(nom=SIX)
@settings(max_examples=15)
def test_the_field_reaches_nom_through_the_jacobian(make_law, arm, nom):
    T_tn_nom = se3(nom)
    law, state, _ = make_law(arm, tr_nom=pose(T_tn_nom), sel_vect_lim=[1] * 6, js_theta=[0.2, 0.0])
    q = arm.home.copy()
    q[0] = arm.limits.upper[0] - 0.1
    ws = at(arm, q)
    margins(law, state, ws, q)
    out = np.empty(6)
    field_motion(law, state, ws, q, out)
    twist = arm.jacobian(q) @ state.joint[lr.PUSH] * PERIOD
    expected = T_tn_nom.inverse() * displacement(twist) * T_tn_nom
    np.testing.assert_allclose(displacement(out).homogeneous, expected.homogeneous, atol=1e-9)
