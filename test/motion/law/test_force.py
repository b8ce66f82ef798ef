import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.force import beyond, contact_wrench, force_motion, load_wrench

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)


def pose(six, scale=2.0):
    return pin.SE3ToXYZQUAT(se3(six, scale)).tolist()


def se3(six, scale=2.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def weight_by_hand(T_world_tn, T_tn_sensor, mass, com):
    """Wrench of the tool on its load in SENSOR: holds the weight at the centre of mass."""
    up = pin.Force(T_world_tn.rotation.T @ np.array([0.0, 0.0, 9.81 * mass]), np.zeros(3))
    at_tn = pin.SE3(np.eye(3), np.array(com)).act(up)
    return T_tn_sensor.actInv(at_tn).vector


@given(base=SIX, tool=SIX)
@settings(max_examples=30)
@pytest.mark.lengthy
def test_gravity_of_the_load_is_taken_out_in_every_orientation(make_law, arm, base, tool):
    mass, com = 1.3, (0.02, -0.03, 0.11)
    law, state, inputs = make_law(arm, tr_base=pose(base), mass_prop=[mass, *com])
    T_base_tn = se3(tool)
    expected = weight_by_hand(se3(base) * T_base_tn, lr.sensor_in_tool(arm), mass, com)
    load = np.zeros(6)
    load_wrench(law, T_base_tn.rotation, load)
    np.testing.assert_allclose(load, expected, atol=1e-9)
    inputs.six[lr.InputSix.WRENCH] = expected
    contact_wrench(law, state, inputs, T_base_tn.rotation)
    np.testing.assert_allclose(state.six[lr.StateSix.SENSE_WRENCH], 0.0, atol=1e-9)


@given(nom=SIX, sense=SIX, contact=SIX)
@settings(max_examples=30)
def test_the_wrench_arrives_in_sense_as_rigid_bodies_carry_it(make_law, arm, nom, sense, contact):
    law, state, inputs = make_law(arm, tr_nom=pose(nom), tr_sense=pose(sense))
    w = 20.0 * np.array(contact)
    inputs.six[lr.InputSix.WRENCH] = w
    contact_wrench(law, state, inputs, np.eye(3))
    at_tn = lr.sensor_in_tool(arm).act(pin.Force(w))
    expected = (se3(nom) * se3(sense)).actInv(at_tn).vector
    np.testing.assert_allclose(state.six[lr.StateSix.SENSE_WRENCH], expected, atol=1e-9)
    assert state.value[lr.StateValue.FELT_FORCE] == pytest.approx(np.linalg.norm(expected[:3]))
    assert state.value[lr.StateValue.FELT_TORQUE] == pytest.approx(np.linalg.norm(expected[3:]))


@given(value=st.floats(-10, 10), zone=st.floats(0, 5))
def test_the_dead_zone_is_nothing_inside_and_reduces_outside(value, zone):
    got = beyond(value, zone)
    assert got == pytest.approx(np.sign(value) * max(abs(value) - zone, 0.0))


def test_setpoint_minus_measured_moves_the_chosen_dofs_and_compliance_gives_way(make_law, arm):
    law, state, _ = make_law(
        arm,
        sel_vect_fc=[0, 0, 1, 0, 0, 0],
        comply_vect=[1, 0, 0, 0, 1, 0],
        force_setpoints=[0, 0, 10, 0, 0, 0],
        dead_zone=[1.0] * 6,
        force_gains=[1e-3] * 6,
        max_force_vel=[1.0] * 6,
    )
    state.six[lr.StateSix.SMOOTH_WRENCH] = [5.0, 5.0, 4.0, 3.0, -3.0, 3.0]
    out = np.empty(6)
    force_motion(law, state, out)
    np.testing.assert_allclose(state.six[lr.StateSix.FORCE_ERROR], [-4.0, 0.0, 7.0, 0.0, 2.0, 0.0])
    np.testing.assert_allclose(out, 0.005e-3 * np.array([-4.0, 0.0, 7.0, 0.0, 2.0, 0.0]), atol=1e-15)


def test_motion_by_forces_keeps_its_speed_limit_in_every_dof(make_law, arm):
    most = [0.01, 0.02, 0.03, 0.1, 0.2, 0.3]
    law, state, _ = make_law(arm, comply_vect=[1] * 6, force_gains=[1.0] * 6, max_force_vel=most)
    state.six[lr.StateSix.SMOOTH_WRENCH] = [100.0, -100.0, 100.0, -100.0, 100.0, -100.0]
    out = np.empty(6)
    force_motion(law, state, out)
    expected = 0.005 * np.array([-0.01, 0.02, -0.03, 0.1, -0.2, 0.3])
    np.testing.assert_allclose(out, expected, atol=1e-12)


@given(frame=SIX)
@settings(max_examples=20)
def test_motion_by_forces_goes_from_force_to_nom(make_law, arm, frame):
    law, state, _ = make_law(arm, tr_force=pose(frame), comply_vect=[1] * 6, dead_zone=[0.0] * 6)
    state.six[lr.StateSix.SMOOTH_WRENCH] = [1.0, -2.0, 3.0, 0.1, 0.2, -0.3]
    out = np.empty(6)
    force_motion(law, state, out)
    d = -0.005 * law.six[lr.LawSix.FORCE_GAINS] * state.six[lr.StateSix.SMOOTH_WRENCH]
    F, D = se3(frame), pin.SE3(pin.exp3(d[3:]), d[:3])
    expected = F * D * F.inverse()
    np.testing.assert_allclose(pin.SE3(pin.exp3(out[3:]), out[:3]).homogeneous, expected.homogeneous, atol=1e-12)


def test_levelling_needs_sense_apart_from_force(make_law, arm):
    # a plate touches at its edge, 0.1 m along x: felt at its centre there is a moment that turns it level
    law, state, inputs = make_law(
        arm, tr_nom=[0.1, 0, 0, 0, 0, 0, 1], tr_sense=[-0.1, 0, 0, 0, 0, 0, 1], comply_vect=[0, 0, 0, 1, 1, 0]
    )
    T = lr.sensor_in_tool(arm)
    push = pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0])).act(pin.Force(np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0])))
    inputs.six[lr.InputSix.WRENCH] = T.actInv(push).vector
    contact_wrench(law, state, inputs, np.eye(3))
    assert state.six[lr.StateSix.SENSE_WRENCH][4] == pytest.approx(-1.0)
    out = np.empty(6)
    state.six[lr.StateSix.SMOOTH_WRENCH] = state.six[lr.StateSix.SENSE_WRENCH]
    force_motion(law, state, out)
    assert out[4] > 0.0  # the edge that touches is lifted: the tool pushes along +z there, and turns away from it


def test_the_wrench_that_moves_the_tool_is_smooth_and_the_one_monitored_is_not(make_law, arm):
    law, state, inputs = make_law(arm, filter_time=0.05)
    inputs.six[lr.InputSix.WRENCH] = [0, 0, 10, 0, 0, 0]
    felt = []
    for _ in range(10):
        contact_wrench(law, state, inputs, np.eye(3))
        assert state.value[lr.StateValue.FELT_FORCE] == pytest.approx(10.0)
        felt.append(state.six[lr.StateSix.SMOOTH_WRENCH][2])
    share = 0.005 / 0.055
    np.testing.assert_allclose(felt, 10 * (1 - (1 - share) ** np.arange(1, 11)), rtol=1e-9)
