"""Primitives and stream laws inside the control step: begun at rest, stopped as everything is, reported once."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, ControlState, HardwareState, StopCause
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.loop.control_records import text
from telerobot_nodes.motion.loop.status_records import unpack_status
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import PrimitiveRequest, StreamTool

PERIOD = 0.004
FORWARD = {"tr_rel_dest": [0.0, 0.0, 0.04, 0.0, 0.0, 0.0, 1.0], "time_vel_sel": "velocity", "time_vel_val": 0.05}
PUSH = np.array([0.0, 0.0, 30.0, 0.0, 0.0, 0.0])


class Bench:
    """A control step, an arm that is where it was told to be, and a wrist sensor with a little noise."""

    def __init__(self, robot, stream=None):
        self.robot = robot
        tool = None if stream is None else StreamTool(robot, PERIOD, parameters_from(stream))
        self.control = ControlStep(robot, PERIOD, tool_motion=tool)
        self.now = 10.0
        self.arm = robot.home.copy()
        self.wrench = np.zeros(6)
        self.feels = self.noisy = self.sees = self.follows = True
        self.rows, self.told = [], []
        self.run(0.02)

    def step(self):
        self.now += PERIOD
        control = self.control
        if self.sees:
            control.measure(self.now, self.arm, np.zeros(self.robot.dof))
        if self.feels:
            noise = 1e-3 * (len(self.rows) % 2) if self.noisy else 0.0
            control.set_wrench(self.now, self.wrench + noise)
        news = control.primitives.status_count
        output = control.step(self.now)
        if control.primitives.status_count != news:
            self.told.append(unpack_status(control.primitives.status))
        if self.follows:
            self.arm = output.q.copy()
            control.arrival.hardware(self.now, output.record["number"].item(), np.nan, np.nan)
        self.rows.append(np.stack((output.q, output.qd, output.qdd)))
        return output

    def run(self, duration):
        for _ in range(round(duration / PERIOD)):
            output = self.step()
        return output

    def begin(self, name="cartesian_guarded", number=1, **values):
        request = PrimitiveRequest(number, name, values or FORWARD)
        prepared = self.control.primitives.executive.prepare(request, self.control.output.q.copy())
        return self.control.begin(self.now, number, prepared)

    def to_the_end(self, limit=20.0):
        end = self.now + limit
        while self.control.primitives.running or self.control.primitives.confirming:
            self.step()
            assert self.now < end
        return self.run(0.1)

    def check_limits(self):
        q, qd, qdd = np.moveaxis(np.array(self.rows), 1, 0)
        limits = self.robot.limits
        assert (q >= limits.lower - 1e-12).all()
        assert (q <= limits.upper + 1e-12).all()
        assert (np.abs(qd) <= limits.velocity * (1 + 1e-5)).all()
        assert (np.abs(qdd) <= limits.acceleration * (1 + 1e-5)).all()
        np.testing.assert_allclose(np.diff(q, axis=0) / PERIOD, qd[1:], atol=1e-6)


@pytest.fixture
def bench(robot):
    return Bench(robot)


def test_a_primitive_moves_the_arm_and_ends_holding_where_it_led(bench):
    start = bench.robot.forward(bench.arm)
    assert bench.begin() == ""
    assert bench.run(0.4).primitive == 1
    assert bench.control.state is ControlState.TRACKING
    output = bench.to_the_end()
    moved = start.actInv(bench.robot.forward(output.q)).translation
    np.testing.assert_allclose(moved, [0.0, 0.0, 0.04], atol=1e-4)
    assert (output.state, output.primitive, output.reason) == (ControlState.HOLDING, 0, "")
    ends = [status for status in bench.told if not status.running]
    assert [(status.id, status.reason) for status in ends] == [(1, Termination.COMPLETED)]
    bench.check_limits()


def test_no_window_and_no_second_primitive_is_taken_while_one_runs(bench, make_window):
    bench.begin()
    bench.run(0.2)
    window = make_window(bench.arm, bench.arm + 0.1, begin=bench.now, duration=3.0)
    assert "a primitive runs" in bench.control.offer(bench.now, window)
    prepared = bench.control.primitives.executive.prepare(PrimitiveRequest(2, "gcm", {}), bench.robot.home)
    assert "a primitive runs" in bench.control.begin(bench.now, 2, prepared)
    assert text(bench.control.output.record["begin_refusal"].item()).startswith("primitive: a primitive runs")


def test_no_primitive_begins_while_a_window_moves_the_arm(bench, make_window):
    window = make_window(bench.arm, bench.arm + 0.1, begin=bench.now, duration=2.0)
    assert bench.control.offer(bench.now, window) == ""
    bench.run(0.5)
    assert "not at rest" in bench.begin()


def test_after_a_primitive_windows_are_followed_from_where_the_arm_is(bench, make_window):
    bench.begin()
    q = bench.to_the_end().q.copy()
    np.testing.assert_array_equal(bench.control.output.path_q, q)
    window = make_window(q, q + 0.1, begin=bench.now, duration=2.0)
    assert bench.control.offer(bench.now, window) == ""
    np.testing.assert_allclose(bench.run(2.2).q, q + 0.1, atol=1e-9)
    bench.check_limits()


def test_a_halt_stops_a_primitive_inside_the_limits_and_says_so(bench):
    bench.begin()
    bench.run(0.4)
    bench.control.halt(1, "operator")
    assert bench.control.state is ControlState.STOPPING
    output = bench.to_the_end(1.0)
    assert (output.state, output.reason) == (ControlState.STOPPED, "halt 1: operator")
    assert not output.qd.any()
    end = bench.told[-1]
    assert (end.reason, end.detail, end.running) == (Termination.EXTERNAL_STOP, "halt 1: operator", False)
    bench.check_limits()
    bench.run(0.3)
    assert "allowed: after RESUME of halt 1" in bench.begin(number=2)
    assert not bench.run(0.5).qd.any()
    bench.control.resume(1)
    assert bench.begin(number=3) == ""


def test_a_halt_while_a_touch_brakes_keeps_the_arm_from_backing_off(bench):
    assert bench.begin("move_to_touch", **FORWARD, max_force_thres=5.0, back_off="return") == ""
    bench.run(0.4)
    bench.wrench = PUSH
    while bench.control.primitives.executive.primitive.runs:
        bench.step()
    bench.control.halt(1, "operator")
    q = bench.arm.copy()
    output = bench.to_the_end(1.0)
    assert output.state == ControlState.STOPPED
    assert np.abs(output.q - q).max() < 0.01


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (lambda b: setattr(b, "wrench", PUSH), Termination.MAX_FORCE),
        (lambda b: setattr(b, "wrench", np.full(6, np.nan)), Termination.INVALID_SENSOR),
        (lambda b: setattr(b, "feels", False), Termination.STALE_SENSOR),
        (lambda b: setattr(b, "noisy", False), Termination.FROZEN_SENSOR),
    ],
    ids=["step", "nan", "dropped", "frozen"],
)
def test_what_is_wrong_with_the_wrench_stops_the_arm_with_its_reason(bench, fault, reason):
    assert bench.begin(**FORWARD, max_force_thres=10.0, frozen_time=0.1) == ""
    bench.run(0.3)
    fault(bench)
    output = bench.to_the_end(1.0)
    assert output.state == ControlState.STOPPED
    assert reason.name in output.reason
    assert bench.told[-1].reason is reason
    bench.check_limits()


def test_measured_joints_that_stop_coming_stop_a_primitive(bench):
    bench.begin()
    bench.run(0.3)
    bench.sees = False
    output = bench.to_the_end(1.0)
    assert output.state == ControlState.STOPPED
    assert "measured joints" in output.reason
    assert "measured joints" in bench.told[-1].detail


def test_an_emergency_stop_ends_a_primitive_and_the_arm_comes_back_at_rest(bench):
    bench.begin()
    bench.run(0.3)
    bench.control.set_hardware(HardwareState.ESTOP, "button")
    bench.to_the_end(1.0)
    assert bench.control.state is ControlState.FAULT
    assert bench.told[-1].reason is Termination.EXTERNAL_STOP
    bench.control.set_hardware(HardwareState.READY)
    bench.run(0.5)
    assert bench.control.state is ControlState.STOPPED
    bench.check_limits()


def test_a_loop_that_did_not_run_ends_a_primitive_where_the_setpoint_stood(bench):
    bench.begin()
    bench.run(0.3)
    q = bench.arm.copy()
    bench.now += 1.0
    output = bench.to_the_end(1.0)
    assert "did not run" in output.reason
    np.testing.assert_allclose(output.q, q, atol=1e-3)
    bench.check_limits()


def test_the_fingers_keep_what_a_grasp_told_them(bench):
    if bench.robot.gripper is None:
        pytest.skip("no gripper")
    bench.control.set_hardware(HardwareState.READY, "", bench.now, 0.06)
    assert bench.begin("free_grasp", grip_width=0.03) == ""
    for _ in range(400):
        bench.control.set_hardware(HardwareState.READY, "", bench.now, max(bench.control.output.gripper, 0.03))
        bench.step()
    assert bench.told[-1].reason is Termination.OPENED
    assert bench.run(0.1).gripper == pytest.approx(0.03)


def test_a_halt_stops_fingers_on_their_way_and_its_end_lets_none_go_on(bench):
    if bench.robot.gripper is None:
        pytest.skip("no gripper")
    bench.control.set_hardware(HardwareState.READY, "", bench.now, 0.06)
    assert bench.begin("free_grasp", grip_width=0.03) == ""
    assert bench.run(0.05).gripper >= 0.0
    bench.control.halt(1, "test")
    assert {bench.step().gripper for _ in range(100)} == {GRIPPER_UNCHANGED}
    bench.control.resume(bench.control.output.halt_count)
    assert {bench.step().gripper for _ in range(100)} == {GRIPPER_UNCHANGED}


STREAM = {
    "comply_vect": [True, True, True, False, False, False],
    "force_gains": [2e-3] * 3 + [0.0] * 3,
    "dead_zone": [1.0] * 3 + [0.1] * 3,
    "max_force_thres": 25.0,
    "trans_threshold": 0.05,
}


def test_a_stream_under_a_law_gives_way_and_the_plan_still_joins(robot, make_window):
    bench = Bench(robot, STREAM)
    window = make_window(bench.arm, bench.arm + 0.05, begin=bench.now, duration=3.0)
    assert bench.control.offer(bench.now, window) == ""
    bench.run(0.5)
    bench.wrench = 0.3 * PUSH
    output = bench.run(1.0)
    assert np.abs(output.q - output.path_q).max() > 1e-3  # sensors moved it
    following = make_window(output.path_q, output.path_q, begin=bench.now, duration=0.1, number=2)
    assert "velocity" in bench.control.offer(
        bench.now, following
    )  # only the speed differs: it was compared with the path
    bench.check_limits()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (lambda b: setattr(b, "wrench", PUSH), "MAX_FORCE"),
        (lambda b: setattr(b, "wrench", np.full(6, np.nan)), "INVALID_SENSOR"),
        (lambda b: setattr(b, "feels", False), "STALE_SENSOR"),
    ],
    ids=["step", "nan", "dropped"],
)
def test_monitors_of_a_streams_law_stop_the_arm_with_their_reason(robot, make_window, fault, reason):
    bench = Bench(robot, STREAM)
    window = make_window(bench.arm, bench.arm + 0.05, begin=bench.now, duration=3.0)
    bench.control.offer(bench.now, window)
    bench.run(0.5)
    fault(bench)
    output = bench.run(1.0)
    assert output.state == ControlState.STOPPED
    assert output.reason == f"stream: {reason}"
    assert not output.qd.any()
    bench.check_limits()


def test_a_force_field_pushes_a_primitive_and_not_a_plain_plan(bench):
    q = bench.arm.copy()
    for _ in range(50):
        bench.control.add_field_twist(np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0]))
        bench.step()
    np.testing.assert_array_equal(bench.arm, q)
    assert bench.begin("gcm", end_time=100.0) == ""
    start = bench.robot.forward(bench.arm)
    for _ in range(100):
        bench.control.add_field_twist(np.array([0.02, 0.0, 0.0, 0.0, 0.0, 0.0]))
        bench.step()
    moved = start.actInv(bench.robot.forward(bench.arm)).translation
    np.testing.assert_allclose(moved, [0.008, 0.0, 0.0], atol=5e-4)


@pytest.mark.parametrize("trouble", ["arm", "hardware"])
def test_a_primitive_has_succeeded_only_when_the_arm_has_come(bench, trouble):
    """The setpoint is there first: it is no success until hardware and joints are, and a failure when they do not."""
    bench.begin()
    bench.run(0.4)
    bench.follows = trouble == "hardware"  # an arm that stays behind by less than a fault
    while bench.control.primitives.running:
        if trouble == "hardware":
            bench.control.arrival.hardware(bench.now, 1, np.nan, np.nan)
        bench.step()
    bench.follows = False
    if trouble == "hardware":
        bench.control.arrival.hardware(bench.now, 1, np.nan, np.nan)
    bench.run(0.1)
    assert not [status for status in bench.told if not status.running], "nothing is confirmed yet"
    assert "on its way to where primitive 1 ended" in bench.begin(number=2)
    bench.run(1.0)
    (end,) = [status for status in bench.told if not status.running]
    assert (end.reason, end.cause) == (Termination.EXTERNAL_STOP, StopCause.NOT_FOLLOWING)
    assert ("rad from where it ended" if trouble == "arm" else "did not accept") in end.detail
    assert bench.control.state is ControlState.STOPPED


def test_a_primitive_whose_arm_comes_late_is_confirmed_then(bench):
    bench.begin()
    bench.run(0.4)
    bench.follows = False
    while bench.control.primitives.running:
        bench.step()
    bench.run(0.5)
    assert not [status for status in bench.told if not status.running]
    bench.follows = True
    bench.run(0.05)
    (end,) = [status for status in bench.told if not status.running]
    assert end.reason is Termination.COMPLETED
    assert bench.control.state is ControlState.HOLDING
