import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Fusion, Termination
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import StreamTool

PERIOD = 0.005
ALL = [1] * 6
QUIET = {"max_force_thres": 0, "max_torque_thres": 0}


def displacement(six):
    return pin.SE3(pin.exp3(np.array(six)[3:]), np.array(six)[:3])


def at_rest(robot, **values):
    fusion = Fusion(robot, PERIOD, parameters_from({**QUIET, **values}))
    fusion.inputs.joint[:] = robot.home
    fusion.inputs.value[lr.InputValue.NOMINAL_KIND] = lr.Nominal.STREAM
    return fusion


def test_without_sources_a_stream_of_joints_passes_through_unchanged(robot):
    fusion = at_rest(robot)
    for k in range(200):
        q = robot.home + 0.2 * np.sin(0.01 * k + np.arange(robot.dof)) - 0.2 * np.sin(np.arange(robot.dof))
        fusion.inputs.joint[lr.InputJoint.Q_NOMINAL] = q
        assert fusion.advance(k * PERIOD) == 0
        np.testing.assert_allclose(fusion.q, q, atol=1e-9)
    np.testing.assert_allclose(fusion.tr_del.homogeneous, np.eye(4), atol=1e-12)


def test_the_tool_follows_nominal_motion_and_sensor_motion_together(robot):
    fusion = at_rest(robot, sel_vect_tp=ALL, tr_nom=[0.0, 0.0, 0.1, 0, 0, 0, 1])
    total = pin.SE3.Identity()
    for k in range(100):
        fusion.inputs.joint[lr.InputJoint.Q_NOMINAL] = robot.home + 1e-3 * k * np.where(np.arange(robot.dof) % 2, 1, -1)
        fusion.inputs.six[lr.InputSix.TELE] = [2e-4, 0, -1e-4, 0, 1e-3, 0]
        fusion.advance(k * PERIOD)
        total = total * displacement([2e-4, 0, -1e-4, 0, 1e-3, 0])
    T_nom = pin.SE3(np.eye(3), np.array([0, 0, 0.1]))
    expected = robot.forward(fusion.inputs.joint[lr.InputJoint.Q_NOMINAL]) * T_nom * total * T_nom.inverse()
    np.testing.assert_allclose(robot.forward(fusion.q).homogeneous, expected.homogeneous, atol=1e-5)
    np.testing.assert_allclose(fusion.tr_del.homogeneous, total.inverse().homogeneous, atol=1e-9)


EVERYTHING = {
    "sel_vect_fc": [0, 0, 1, 0, 0, 0],
    "force_setpoints": [0, 0, 5, 0, 0, 0],
    "comply_vect": [1, 1, 0, 1, 1, 1],
    "tr_force": [0, 0, 0.05, 0, 0, 0, 1],
    "mass_prop": [0.5, 0, 0, 0.02],
    "sel_vect_tp": ALL,
    "tele_mode": "world",
    "dither_mag": [1e-3, 1e-3, 0, 0, 0, 1e-2],
    "dither_period": [0.3] * 6,
    "sel_vect_sp": ALL,
    "sel_vect_sing": True,
    "js_theta": [3.0, 3.0],
    "js_gain": [1e-4, 1e-4],
    "max_sf_vel": [10.0, 10.0],
}


def busy(robot, fusion, k):
    fusion.inputs.six[lr.InputSix.WRENCH] = [1.0 + 0.01 * k, -2.0, 4.0, 0.1, -0.2, 0.05]
    fusion.inputs.six[lr.InputSix.TELE] = [1e-4, -1e-4, 5e-5, 1e-4, 2e-4, -1e-4]
    fusion.inputs.six[lr.InputSix.FURTHER] = [0, 1e-5, 0, 0, 0, 1e-5]
    return fusion.advance(k * PERIOD)


def test_all_sources_together_are_added_and_move_nom_once(robot):
    fusion = at_rest(robot, **EVERYTHING, sel_vect_lim=[1] * robot.dof)
    for k in range(1, 120):
        before = fusion.tr_del
        assert busy(robot, fusion, k) == 0
        source = fusion.state.source
        idle = [lr.Source(row).name.lower() for row in range(6) if not source[row].any()]
        assert idle == (["springs"] if k == 1 else [])
        D = displacement(source.sum(axis=0))
        np.testing.assert_allclose(fusion.tr_del.homogeneous, (D.inverse() * before).homogeneous, atol=1e-9)
        ring = pin.XYZQUATToSE3(fusion.pose) * fusion.tr_del
        np.testing.assert_allclose(ring.homogeneous, robot.forward(robot.home).homogeneous, atol=1e-9)
        assert fusion.state.value[lr.StateValue.RESIDUAL] < 1e-4


def test_every_source_alone_is_what_it_is_in_company(arm):
    together = at_rest(arm, **EVERYTHING)
    busy(arm, together, 1)
    parts = {
        0: ("sel_vect_fc", "force_setpoints", "comply_vect", "tr_force", "mass_prop"),
        1: ("sel_vect_tp", "tele_mode"),
        2: ("dither_mag", "dither_period"),
        4: ("sel_vect_sing", "js_theta", "js_gain"),
    }
    for row, names in parts.items():
        alone = at_rest(arm, **{name: EVERYTHING[name] for name in names})
        busy(arm, alone, 1)
        np.testing.assert_allclose(alone.state.source[row], together.state.source[row], atol=1e-12)
        others = [r for r in range(5) if r != row]
        assert not alone.state.source[others].any()


@given(increment=st.tuples(*[st.floats(-1, 1)] * 6))
@settings(max_examples=25)
def test_the_sum_keeps_its_speed_limit_and_its_direction(arm, increment):
    fusion = at_rest(arm, sel_vect_tp=ALL, max_tele_vel=[10.0] * 6, max_sf_vel=[0.05, 0.2])
    fusion.inputs.six[lr.InputSix.TELE] = np.array(increment) * 0.02
    fusion.advance(0.0)
    step, wanted = fusion.state.six[lr.StateSix.STEP], fusion.state.source.sum(axis=0)
    for part, bound in ((slice(0, 3), 0.05 * PERIOD), (slice(3, 6), 0.2 * PERIOD)):
        size = np.linalg.norm(step[part])
        assert size <= bound * (1 + 1e-9)
        np.testing.assert_allclose(np.cross(step[part], wanted[part]), 0.0, atol=1e-15)


def test_dither_that_is_limited_keeps_its_place(arm):
    fusion = at_rest(
        arm, dither_wave="square", dither_mag=[2e-3, 0, 0, 0, 0, 2e-2], dither_period=[0.4] * 6, max_sf_vel=[0.03, 0.3]
    )
    way = []
    for k in range(1, 800):
        fusion.advance(k * PERIOD)
        way.append(np.concatenate((fusion.tr_del.translation, pin.log3(fusion.tr_del.rotation))))
    way = np.array(way[80:])
    np.testing.assert_allclose(np.abs(way).max(axis=0), [2e-3, 0, 0, 0, 0, 2e-2], atol=1e-4)
    np.testing.assert_allclose(way.max(axis=0)[[0, 5]], -way.min(axis=0)[[0, 5]], atol=1e-4)


def test_a_further_module_moves_nom(arm):
    fusion = at_rest(arm, max_sf_vel=[1.0, 1.0])
    fusion.inputs.six[lr.InputSix.FURTHER] = [0, 0, 1e-3, 0, 0, 0]
    fusion.advance(0.0)
    moved = arm.forward(arm.home).actInv(arm.forward(fusion.q))
    np.testing.assert_allclose(moved.translation, [0, 0, 1e-3], atol=2e-6)
    fusion.advance(PERIOD)
    again = arm.forward(arm.home).actInv(arm.forward(fusion.q))
    np.testing.assert_allclose(again.translation, [0, 0, 1e-3], atol=2e-6)


def test_pushing_against_the_end_of_reach_is_not_saved_up(arm):
    fusion = at_rest(arm, sel_vect_tp=ALL, tele_mode="world", max_tele_vel=[1.0] * 6, max_sf_vel=[1.0, 1.0])
    fusion.apply(parameters_from({**fusion.parameters.flat(), "trans_threshold": 10.0}))
    for k in range(3000):
        fusion.inputs.six[lr.InputSix.TELE] = [1e-3, 0, 0, 0, 0, 0]
        fusion.advance(k * PERIOD)
    reach = arm.forward(fusion.q).translation[0]
    far = fusion.pose[0]
    assert far - reach < 5e-3
    for k in range(200):
        fusion.inputs.six[lr.InputSix.TELE] = [-1e-3, 0, 0, 0, 0, 0]
        fusion.advance(k * PERIOD)
    assert arm.forward(fusion.q).translation[0] < reach - 0.05


def test_a_tare_makes_what_is_felt_no_contact_whatever_the_load_and_bias(arm):
    load, bias = {"mass_prop": [1.2, 0.0, 0.01, 0.1]}, np.array([3.0, -4.0, 5.0, 0.1, 0.2, -0.3])
    fusion = at_rest(arm, **load)
    q = arm.home + 0.2
    weight = Fusion(arm, PERIOD, parameters_from({**QUIET, **load}))
    weight.tare(q, np.zeros(6))
    reading_of_load = -weight.inputs.six[lr.InputSix.BIAS]
    fusion.tare(q, reading_of_load + bias)
    np.testing.assert_allclose(fusion.inputs.six[lr.InputSix.BIAS], bias, atol=1e-12)


def press(fusion, stiffness, seconds, delay=4, wall=0.002):
    """Forces on a wall along the tool's z, felt after `delay` samples; the arm is ideal."""
    robot = fusion.robot
    start = robot.forward(robot.home)
    T_sensor = lr.sensor_in_tool(robot)
    queue = [np.zeros(6)] * delay
    forces, depths = [], []
    for k in range(round(seconds / fusion.period)):
        depth = max(start.actInv(robot.forward(fusion.q)).translation[2] - wall, 0.0)
        push = pin.Force(np.array([0, 0, stiffness * depth, 0, 0, 0]))
        queue.append(T_sensor.actInv(push).vector)
        fusion.inputs.six[lr.InputSix.WRENCH] = queue.pop(0)
        fusion.advance(k * fusion.period)
        forces.append(stiffness * depth)
        depths.append(depth)
    return np.array(forces), np.array(depths)


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
@pytest.mark.lengthy
@pytest.mark.brief(3)
def test_a_force_error_moves_the_tool_so_as_to_reduce_it_without_bounce(robot, stiffness):
    fusion = Fusion(
        robot,
        0.002,
        parameters_from({**QUIET, "sel_vect_fc": [0, 0, 1, 0, 0, 0], "force_setpoints": [0, 0, 10, 0, 0, 0]}),
    )
    fusion.inputs.joint[:] = robot.home
    fusion.inputs.value[lr.InputValue.NOMINAL_KIND] = lr.Nominal.STREAM
    forces, _ = press(fusion, stiffness, 60.0 if stiffness < 1e4 else 12.0)
    assert forces.max() < 12.0
    assert forces[-1] == pytest.approx(10.0, abs=0.5)
    touched = int(np.argmax(forces > 0.0))
    assert (forces[touched:] > 0.0).all()


def test_compliance_at_default_gains_takes_energy_out_of_a_stiff_contact(arm):
    fusion = Fusion(arm, 0.002, parameters_from({**QUIET, "comply_vect": [0, 0, 1, 0, 0, 0], "sel_vect_tp": ALL}))
    fusion.inputs.joint[:] = arm.home
    fusion.inputs.value[lr.InputValue.NOMINAL_KIND] = lr.Nominal.STREAM
    fusion.inputs.six[lr.InputSix.TELE] = [0, 0, 0.0022, 0, 0, 0]
    forces, depths = press(fusion, 1e5, 4.0)
    deepest = int(np.argmax(forces))
    after = 0.5 * forces[deepest:] * depths[deepest:]  # stored in the contact
    assert np.diff(after).max() <= 1e-9
    assert forces[-1] < 0.5


def off_the_path(arm, output):
    """Distance [m] from where the plan alone would have the tool."""
    return np.linalg.norm(output.tool_pose[:3] - arm.forward(output.path_q).translation)


def test_a_stream_with_sensor_motion_runs_in_the_control_step(arm, make_window):
    tool = StreamTool(arm, 0.004, parameters_from({**QUIET, "sel_vect_tp": ALL, "sel_vect_sp": ALL}))
    control = ControlStep(arm, 0.004, tool_motion=tool)
    now = 5.0
    control.measure(now, arm.home, arm.home)
    control.step(now)
    assert control.offer(now, make_window(arm.home, arm.home + 0.1, begin=now, duration=1.0)) == ""
    reached = 0.0
    for k in range(1500):
        now += 0.004
        control.measure(now, control.output.q, control.output.qd)
        if 50 <= k < 150:
            tool.teleoperate(np.array([1e-4, 0, 0, 0, 0, 0]))
        q = control.step(now).q
        assert (np.abs(control.output.qdd) <= arm.limits.acceleration * (1 + 1e-5)).all()
        reached = max(reached, off_the_path(arm, control.output))
    assert reached > 0.005
    np.testing.assert_allclose(q, arm.home + 0.1, atol=0.01)


def test_a_halt_stops_sensor_motion_as_well_and_resuming_keeps_it(arm):
    tool = StreamTool(arm, 0.004, parameters_from({**QUIET, "sel_vect_tp": ALL}))
    control = ControlStep(arm, 0.004, tool_motion=tool)
    now = 5.0
    for k in range(400):
        now += 0.004
        control.measure(now, control.output.q if k else arm.home, control.output.qd)
        tool.teleoperate(np.array([0, 2e-4, 0, 0, 0, 0]))
        if k == 100:
            control.halt(1, "")
        output = control.step(now)
        if k == 99:
            assert np.abs(output.qd).max() > 1e-3
    assert output.state == ControlState.STOPPED
    assert np.abs(output.qd).max() < 1e-9
    assert off_the_path(arm, output) > 0.005


def test_a_set_for_another_arm_is_refused_and_the_law_goes_on(arm):
    fusion = at_rest(arm)
    with pytest.raises(InvalidValueError, match="sel_vect_lim"):
        fusion.apply(parameters_from({"sel_vect_lim": [1] * 7}))
    assert fusion.parameters.joints.sel_vect_lim == ()
    assert fusion.advance(0.0) == 0


@pytest.mark.parametrize(
    ("values", "wrench", "reason"),
    [
        ({"max_force_thres": 10}, [0, 0, 11, 0, 0, 0], Termination.MAX_FORCE),
        ({"max_torque_thres": 1}, [0, 0, 0, 0, 0, 1.1], Termination.MAX_TORQUE),
    ],
)
def test_too_much_wrench_is_a_monitor(arm, values, wrench, reason):
    fusion = at_rest(arm, **values)
    assert fusion.advance(0.0) == 0
    fusion.inputs.six[lr.InputSix.WRENCH] = wrench
    assert fusion.advance(PERIOD) == reason


@pytest.mark.parametrize(
    ("values", "touching", "lost", "reason"),
    [
        ({"min_force_thres": 5}, [0, 0, 6, 0, 0, 0], [0, 0, 4, 0, 0, 0], Termination.MIN_FORCE),
        ({"min_torque_thres": 1}, [0, 0, 0, 0, 0, 2], [0] * 6, Termination.MIN_TORQUE),
    ],
)
def test_contact_lost_is_a_monitor_once_there_was_contact(arm, values, touching, lost, reason):
    fusion = at_rest(arm, **values)
    assert fusion.advance(0.0) == 0
    fusion.inputs.six[lr.InputSix.WRENCH] = touching
    assert fusion.advance(PERIOD) == 0
    fusion.inputs.six[lr.InputSix.WRENCH] = lost
    assert fusion.advance(2 * PERIOD) == reason


def test_too_much_sensor_motion_is_a_monitor(arm):
    for values, hand, reason in (
        ({"trans_threshold": 0.01}, [1e-3, 0, 0, 0, 0, 0], Termination.TRANS_THRESHOLD),
        ({"ang_threshold": 0.05}, [0, 0, 0, 5e-3, 0, 0], Termination.ANG_THRESHOLD),
    ):
        fusion = at_rest(arm, sel_vect_tp=ALL, max_tele_vel=[2.0] * 6, max_sf_vel=[2.0, 2.0], **values)
        results = []
        for k in range(12):
            fusion.inputs.six[lr.InputSix.TELE] = hand
            results.append(fusion.advance(k * PERIOD))
        assert results[:9] == [0] * 9
        assert results[-1] == reason


def test_near_a_joint_limit_only_motion_towards_it_is_stopped(arm):
    near = arm.home.copy()
    near[0] = arm.limits.upper[0] - 0.08
    fusion = at_rest(arm, j_safety_limit=[0.1, 0.0])
    fusion.reset(near)
    for direction, expected in ((-1, 0), (1, Termination.JOINT_LIMIT)):
        fusion.reset(near)
        results = set()
        for k in range(10):
            q = near.copy()
            q[0] += direction * 1e-3 * k
            fusion.inputs.joint[lr.InputJoint.Q_NOMINAL] = q
            results.add(fusion.advance(k * PERIOD))
        assert results == {0, expected}


def test_near_a_singularity_only_motion_towards_it_is_stopped(arm):
    fusion = at_rest(arm, j_safety_limit=[0.0, 0.5])
    for direction, stops in ((1.0, False), (-1.0, True)):
        start = arm.home.copy()
        start[4] = 0.12
        fusion.reset(start)
        results = set()
        for k in range(20):
            q = start.copy()
            q[4] += direction * 2e-3 * k
            fusion.inputs.joint[lr.InputJoint.Q_NOMINAL] = q
            results.add(fusion.advance(k * PERIOD))
        assert (Termination.SINGULARITY in results) == stops
