import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.robot import Kinematics, chain_of, forward, jacobian, workspace_of
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.joint_field import field_motion, joint_push, margins, sigma_gradient

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)
PERIOD = 0.005


def se3(six, scale=2.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def pose(T):
    return pin.SE3ToXYZQUAT(T).tolist()


def displacement(six):
    return pin.SE3(pin.exp3(np.array(six)[3:]), np.array(six)[:3])


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
    assert state.value[lr.StateValue.SIGMA] == pytest.approx(values[-1], rel=1e-3)
    gradient = np.empty(robot.dof)
    sigma_gradient(ws, state.value[lr.StateValue.SIGMA], gradient)
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
    assert state.value[lr.StateValue.JOINT_MARGIN] == pytest.approx(0.05)
    assert state.value[lr.StateValue.NEAREST_JOINT] == 1


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
    assert 0.0 < size <= 1e-3 / state.value[lr.StateValue.SIGMA] + 1e-9
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
    twist = arm.jacobian(q) @ state.joint[lr.StateJoint.PUSH] * PERIOD
    expected = T_tn_nom.inverse() * displacement(twist) * T_tn_nom
    np.testing.assert_allclose(displacement(out).homogeneous, expected.homogeneous, atol=1e-9)
