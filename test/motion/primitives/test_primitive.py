import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import Phase, Primitive
from telerobot_nodes.motion.primitives.primitive import TRANSITIONS, Event

PERIOD = 0.005
QUIET = {"max_force_thres": 0, "max_torque_thres": 0}
HAND = {"sel_vect_tp": [1] * 6, "max_tele_vel": [0.2] * 3 + [1.0] * 3}


class Stage:
    """A primitive, an ideal arm, and a wall for the tool's z."""

    def __init__(self, robot, wall=None, stiffness=2e4, **values):
        self.robot = robot
        self.now = 100.0
        self.primitive = Primitive(robot, PERIOD)
        self.primitive.start(self.now, robot.home, parameters_from({**QUIET, **values}))
        self.wall, self.stiffness = wall, stiffness
        self.home = robot.forward(robot.home)
        self.sensor = lr.sensor_in_tool(robot)
        self.rows, self.forces = [], []
        self.hand = None
        self.felt = True

    def step(self):
        self.now += PERIOD
        primitive = self.primitive
        q = primitive.setpoint.q
        primitive.measure(q)
        force = 0.0
        if self.wall is not None:
            T = self.home.actInv(self.robot.forward(q))
            force = self.stiffness * max(T.translation[2] - self.wall, 0.0)
        self.forces.append(force)
        if self.felt:
            noise = 1e-6 * np.sin(1000.0 * self.now)
            primitive.set_wrench(
                self.now, self.sensor.actInv(pin.Force(np.array([0, 0, force + noise, 0, 0, 0]))).vector
            )
        if self.hand is not None:
            primitive.teleoperate(np.array(self.hand))
        going = primitive.step(self.now)
        self.rows.append(np.concatenate((primitive.setpoint.q, primitive.setpoint.qd, primitive.setpoint.qdd)))
        return going

    def run(self, seconds):
        for _ in range(round(seconds / PERIOD)):
            if not self.step():
                break
        return self.primitive

    def check_limits(self):
        n, limits, rows = self.robot.dof, self.robot.limits, np.array(self.rows)
        assert (rows[:, :n] >= limits.lower - 1e-12).all()
        assert (rows[:, :n] <= limits.upper + 1e-12).all()
        assert (np.abs(rows[:, n : 2 * n]) <= limits.velocity * (1 + 1e-5)).all()
        assert (np.abs(rows[:, 2 * n :]) <= limits.acceleration * (1 + 1e-5)).all()


def down(robot, z, turn=(0, 0, 0)):
    T = robot.forward(robot.home) * pin.SE3(pin.exp3(np.array(turn, float)), np.array([0.0, 0.0, z]))
    return pin.SE3ToXYZQUAT(T).tolist()


def test_a_motion_without_conditions_completes_at_its_destination(robot):
    stage = Stage(robot, tr_tn_dest=down(robot, 0.05, (0, 0, 0.2)), time_vel_sel="time", time_vel_val=1.5)
    primitive = stage.run(5.0)
    assert primitive.phase is Phase.ENDED
    assert primitive.reason is Termination.COMPLETED
    assert primitive.reason.succeeded
    assert stage.now - 100.0 == pytest.approx(1.5, abs=0.1)
    goal = pin.XYZQUATToSE3(np.array(down(robot, 0.05, (0, 0, 0.2))))
    np.testing.assert_allclose(robot.forward(primitive.setpoint.q).homogeneous, goal.homogeneous, atol=1e-5)
    stage.check_limits()


def test_a_joint_destination_is_reached_in_joint_space(robot):
    goal = robot.home + 0.15 * np.where(np.arange(robot.dof) % 2, 1, -1)
    stage = Stage(robot, joint_dest=goal.tolist(), time_vel_val=0.3)
    primitive = stage.run(5.0)
    assert primitive.reason is Termination.COMPLETED
    np.testing.assert_allclose(primitive.setpoint.q, goal, atol=1e-6)
    stage.check_limits()


def test_guarded_motion_stops_at_the_wall_and_says_why(arm):
    stage = Stage(arm, wall=0.01, tr_tn_dest=down(arm, 0.05), time_vel_val=0.02, max_force_thres=8)
    primitive = stage.run(5.0)
    assert primitive.phase is Phase.ENDED
    assert primitive.reason is Termination.MAX_FORCE
    assert not primitive.reason.succeeded
    assert not primitive.setpoint.qd.any()
    assert 8.0 < max(stage.forces) < 15.0
    stage.check_limits()


def test_the_ending_segment_goes_on_pressing_until_the_conditions_hold(arm):
    stage = Stage(
        arm,
        wall=0.002,
        sel_vect_fc=[0, 0, 1, 0, 0, 0],
        force_setpoints=[0, 0, 10, 0, 0, 0],
        force_gains=[5e-4] * 6,
        dead_zone=[0] * 6,
        select=16 + 64,
        end_force_err=0.5,
        end_time=20.0,
    )
    primitive = stage.run(0.05)
    assert primitive.phase is Phase.ENDING
    primitive = stage.run(25.0)
    assert primitive.reason is Termination.CONDITIONS
    assert stage.forces[-1] == pytest.approx(10.0, abs=0.5)
    averages = primitive.status(stage.now).averages
    assert averages[4] <= 0.5


def test_the_end_of_time_is_reported_when_conditions_do_not_hold(arm):
    stage = Stage(arm, **HAND, select=4, end_trans_vel=1e-6, test_time=0.4, end_time=1.0)
    stage.hand = [2e-4, 0, 0, 0, 0, 0]
    primitive = stage.run(3.0)
    assert primitive.reason is Termination.END_TIME
    assert stage.now - 100.0 == pytest.approx(1.0, abs=0.1)


def test_conditions_are_not_tested_during_the_nominal_segment(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.05), time_vel_sel="time", time_vel_val=3.0, select=1, end_time=5.0)
    primitive = stage.run(2.8)
    assert primitive.phase is Phase.NOMINAL
    assert np.isnan(primitive.status(stage.now).averages).all()
    assert stage.run(5.0).reason is Termination.CONDITIONS


def test_an_external_stop_ends_at_rest_within_the_limits(robot):
    stage = Stage(robot, tr_tn_dest=down(robot, 0.08), time_vel_val=0.1)
    stage.run(0.5)
    stage.primitive.stop()
    assert stage.primitive.phase is Phase.STOPPING
    primitive = stage.run(1.0)
    assert primitive.phase is Phase.ENDED
    assert primitive.reason is Termination.EXTERNAL_STOP
    assert np.abs(primitive.setpoint.qd).max() < 1e-6
    stage.check_limits()


def test_joints_come_to_rest_together_and_do_not_turn_back(robot):
    stage = Stage(robot, tr_tn_dest=down(robot, 0.08), time_vel_val=0.1)
    stage.run(0.7)
    stage.primitive.stop()
    before = len(stage.rows)
    direction = stage.rows[-1][robot.dof : 2 * robot.dof]
    stage.run(1.0)
    speeds = np.array(stage.rows[before:])[:, robot.dof : 2 * robot.dof]
    assert (speeds * np.sign(direction) > -1e-9).all()
    along = speeds @ direction / (direction @ direction)
    np.testing.assert_allclose(speeds, np.outer(along, direction), atol=1e-6)


def test_the_first_reason_is_the_one_reported(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.08), max_force_thres=5)
    stage.run(0.5)
    stage.primitive.stop()
    stage.wall = -1.0
    assert stage.run(1.0).reason is Termination.EXTERNAL_STOP


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (lambda stage: setattr(stage, "felt", False), Termination.STALE_SENSOR),
        (lambda stage: stage.primitive.set_wrench(stage.now, np.full(6, np.nan)), Termination.INVALID_SENSOR),
        (lambda stage: stage.primitive.measure(np.full(6, np.inf)), Termination.INVALID_SENSOR),
    ],
)
def test_a_sensor_that_fails_stops_the_motion(arm, trouble, reason):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.08), max_force_thres=50)
    stage.run(0.5)
    trouble(stage)
    primitive = stage.run(1.0)
    assert primitive.phase is Phase.ENDED
    assert primitive.reason is reason
    assert np.isfinite(primitive.setpoint.q).all()


def test_a_wrench_that_does_not_change_in_any_digit_is_a_frozen_sensor(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.08), max_force_thres=50, frozen_time=0.2, time_vel_val=0.02)
    assert stage.run(1.0).phase is Phase.NOMINAL
    stage.felt = False
    for _ in range(100):
        stage.primitive.set_wrench(stage.now + PERIOD, np.ones(6))
        stage.step()
    assert stage.primitive.reason is Termination.FROZEN_SENSOR


def test_without_need_of_the_sensor_its_silence_does_not_matter(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.03))
    stage.felt = False
    assert stage.run(5.0).reason is Termination.COMPLETED


def test_a_wrench_step_in_free_space_stops_a_guarded_motion(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.08), max_force_thres=20)
    stage.run(0.3)
    stage.felt = False
    stage.primitive.set_wrench(stage.now, np.array([100.0, 0, 0, 0, 0, 0]))
    stage.step()
    assert stage.primitive.reason is Termination.MAX_FORCE


def test_an_unreachable_destination_is_refused_before_motion(arm):
    primitive = Primitive(arm, PERIOD)
    with pytest.raises(InvalidValueError, match="tr_tn_dest"):
        primitive.start(0.0, arm.home, parameters_from({"tr_tn_dest": [5.0, 0, 0, 0, 0, 0, 1]}))
    with pytest.raises(InvalidValueError, match="joint_dest"):
        primitive.start(0.0, arm.home, parameters_from({"joint_dest": [9.0] * 6}))
    assert primitive.phase is Phase.IDLE
    assert not primitive.step(0.0)


def test_one_motion_at_a_time(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.05))
    stage.step()
    with pytest.raises(TransitionError):
        stage.primitive.start(stage.now, arm.home)
    stage.run(5.0)
    stage.primitive.start(stage.now, stage.primitive.setpoint.q.copy(), parameters_from(QUIET))
    assert stage.primitive.phase is Phase.NOMINAL


@pytest.mark.lengthy
def test_gains_setpoints_and_limits_change_while_running_without_a_step(arm):
    stage = Stage(
        arm,
        wall=0.002,
        sel_vect_fc=[0, 0, 1, 0, 0, 0],
        force_setpoints=[0, 0, 5, 0, 0, 0],
        force_gains=[5e-4] * 6,
        end_time=100.0,
    )
    stage.run(4.0)
    stage.primitive.change(
        stage.now, {"force_setpoints": [0, 0, 9, 0, 0, 0], "force_gains": [1e-4] * 6, "dead_zone": [0] * 6}
    )
    stage.run(8.0)
    assert stage.forces[-1] == pytest.approx(9.0, abs=0.5)
    assert np.abs(np.diff(stage.forces)).max() < 5.0
    stage.check_limits()


def test_a_change_that_makes_no_sense_is_refused_and_the_motion_goes_on(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.05))
    stage.run(0.2)
    for values, field in (
        ({"force_gains": [np.nan] * 6}, "force_gains"),
        ({"tr_nom": [0, 0, 1, 0, 0, 0, 1]}, "tr_nom"),
        ({"tr_base": [0, 0, 1, 0, 0, 0, 1]}, "tr_base"),
        ({"tr_tn_dest": [9, 0, 0, 0, 0, 0, 1]}, "tr_tn_dest"),
        ({"tr_tn_dest": (), "joint_dest": arm.home.tolist()}, "joint_dest"),
        ({"unknown": 1}, "unknown"),
    ):
        before = stage.primitive.parameters
        with pytest.raises(InvalidValueError, match=field):
            stage.primitive.change(stage.now, values)
        assert stage.primitive.parameters is before
    assert stage.run(5.0).reason is Termination.COMPLETED


@given(when=st.floats(0.05, 0.95), z=st.floats(-0.05, 0.05), turn=st.floats(-0.3, 0.3))
@settings(max_examples=15)
@pytest.mark.lengthy
def test_a_destination_changed_under_way_is_reached_inside_every_limit(arm, when, z, turn):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.06), time_vel_val=0.06, acc_time=0.3)
    stage.run(when * 1.3)
    goal = down(arm, z, (0, turn, 0))
    stage.primitive.change(stage.now, {"tr_tn_dest": goal})
    primitive = stage.run(15.0)
    assert primitive.reason is Termination.COMPLETED
    T = pin.XYZQUATToSE3(np.array(goal))
    np.testing.assert_allclose(arm.forward(primitive.setpoint.q).homogeneous, T.homogeneous, atol=1e-4)
    tool = np.array([arm.forward(row[:6]).translation for row in stage.rows])
    pushes = np.linalg.norm(np.diff(tool, n=2, axis=0), axis=1) / PERIOD**2
    assert pushes.max() < 3.0
    stage.check_limits()


def test_a_report_is_due_every_period(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.08), time_vel_val=0.04, period=0.25)
    due = []
    for _ in range(300):
        stage.step()
        if stage.primitive.report_due(stage.now):
            due.append(stage.now)
    np.testing.assert_allclose(np.diff(due), 0.25, atol=0.006)


def test_a_status_is_made_of_values_of_its_own(arm):
    stage = Stage(arm, tr_tn_dest=down(arm, 0.05), **HAND)
    stage.hand = [1e-4, 0, 0, 0, 0, 0]
    stage.run(0.5)
    status = stage.primitive.status(stage.now)
    kept = status.q.copy(), status.tool_pose.copy(), status.wrench_sense.copy()
    stage.run(0.5)
    np.testing.assert_array_equal(kept[0], status.q)
    np.testing.assert_array_equal(kept[1], status.tool_pose)
    np.testing.assert_array_equal(kept[2], status.wrench_sense)
    assert status.elapsed == pytest.approx(0.5, abs=0.01)
    assert status.trans > 0.0
    assert status.reason is Termination.RUNNING


def test_shared_control_polishes_operator_tangent_force_normal(arm):
    stage = Stage(
        arm,
        wall=0.001,
        sel_vect_fc=[0, 0, 1, 0, 0, 0],
        force_setpoints=[0, 0, 10, 0, 0, 0],
        force_gains=[5e-4] * 6,
        dead_zone=[0] * 6,
        sel_vect_tp=[1, 1, 0, 0, 0, 0],
        end_time=100.0,
    )
    stage.run(3.0)
    before = stage.home.actInv(arm.forward(stage.primitive.setpoint.q)).translation.copy()
    stage.hand = [0.05 * PERIOD, 0, 0.05 * PERIOD, 0, 0, 0]
    stage.run(1.0)
    after = stage.home.actInv(arm.forward(stage.primitive.setpoint.q)).translation
    assert after[0] - before[0] == pytest.approx(0.05, abs=2e-3)
    np.testing.assert_allclose(stage.forces[-150:], 10.0, atol=0.5)


def test_every_phase_ends_and_nothing_starts_twice():
    running = (Phase.NOMINAL, Phase.ENDING)
    assert all((phase, Event.TERMINATED) in TRANSITIONS for phase in running)
    assert all((phase, Event.START) not in TRANSITIONS for phase in (*running, Phase.STOPPING))


@pytest.mark.parametrize(
    "begin_anew", [Primitive.tare, lambda primitive: primitive.change(0.0, {"mass_prop": [1.0, 0, 0, 0]})]
)
def test_a_tare_or_another_load_while_pressing_is_no_jump_of_the_sensor(arm, begin_anew):
    stage = Stage(arm, wall=0.0005, sel_vect_fc=[0, 0, 1, 0, 0, 0], force_setpoints=[0, 0, 10.0, 0, 0, 0], end_time=9.0)
    stage.primitive.change(stage.now, {"force_gains": [1e-3] * 3 + [0.01] * 3})
    stage.run(2.0)
    before = stage.primitive.fusion.state.six[lr.StateSix.SENSE_WRENCH, 2]
    begin_anew(stage.primitive)
    stage.run(0.01)
    after = stage.primitive.fusion.state.six[lr.StateSix.SENSE_WRENCH, 2]
    assert abs(after - before) > 0.5 * before  # as far as a jump
    assert stage.run(0.05).reason is Termination.RUNNING
