import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest

PERIOD = 0.005
UP = [0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 1.0]
DEAF = {"max_force_thres": 0.0, "max_torque_thres": 0.0}


@pytest.fixture
def executive(arm):
    return Executive(arm, PERIOD)


def request(number=1, name="cartesian_guarded", **values):
    return PrimitiveRequest(number, name, values or {"tr_rel_dest": UP, **DEAF})


def begin(executive, asked, now=1.0):
    executive.begin(now, np.array(executive.robot.home), executive.prepare(asked, np.array(executive.robot.home)))


def run(executive, now=1.0, most=20.0):
    while executive.step(now):
        now += PERIOD
        assert now < most
    return now


def test_a_primitive_runs_to_its_end_and_its_status_says_so(executive):
    assert not executive.step(0.0)
    begin(executive, request(4))
    assert executive.running
    ended = run(executive)
    status = executive.status(ended + 5.0)
    assert (status.id, status.name, status.running) == (4, "cartesian_guarded", False)
    assert status.reason is Termination.COMPLETED
    assert status.succeeded
    assert status.elapsed == pytest.approx(ended - 1.0)
    assert status.readings["duration"] > 0.0


def test_a_relative_destination_counts_from_where_it_begins(executive):
    begin(executive, request())
    run(executive)
    moved = executive.robot.forward(np.array(executive.robot.home)).actInv(
        executive.robot.forward(executive.setpoint.q)
    )
    np.testing.assert_allclose(moved.translation, UP[:3], atol=1e-5)


def test_one_primitive_at_a_time(executive):
    begin(executive, request(1))
    with pytest.raises(TransitionError):
        begin(executive, request(2))
    assert executive.request.id == 1


def test_it_begins_only_where_it_was_prepared(executive):
    home = np.array(executive.robot.home)
    prepared = executive.prepare(request(), home)
    with pytest.raises(InvalidValueError, match=r"q\[0\]"):
        executive.begin(1.0, home + 0.01, prepared)
    assert not executive.running


def test_a_grasp_ends_the_motion_and_tells_the_width_held(executive):
    begin(executive, request(1, "compliant_grasp", grip_time=0.1, grip_force=7.0, **DEAF), now=1.0)
    now, opening = 1.0, 0.06
    executive.measure_gripper(now, opening)
    while executive.step(now):
        assert executive.gripper.force == 7.0
        opening = max(executive.gripper.width, 0.03)  # what is between the fingers
        now += PERIOD
        executive.set_wrench(now, np.full(6, 1e-6 * (round(now / PERIOD) % 2)))
        executive.measure_gripper(now, opening)
        assert now < 10.0
    assert executive.reason is Termination.GRIPPED
    assert executive.readings["grip_width"] == pytest.approx(0.03)
    assert executive.gripper.width < 0.03  # it goes on to close


def test_a_sensor_that_says_nothing_ends_a_motion_that_needs_it(executive):
    begin(executive, request(1, tr_rel_dest=UP, time_vel_val=0.005))
    run(executive)
    assert executive.reason is Termination.STALE_SENSOR
    assert not executive.status(9.0).succeeded


def test_readings_are_those_of_the_latest_primitive(executive):
    plane = [*executive.robot.forward(executive.robot.home).translation - [0.0, 0.0, 0.3], 0.0, 0.0, 1.0]
    begin(executive, request(1, tr_rel_dest=UP, guard_plane=plane, **DEAF))
    ended = run(executive)
    assert 0.0 < executive.readings["guard_room"] < 0.3
    q = executive.setpoint.q.copy()
    back = request(2, tr_rel_dest=[0.0, 0.0, -0.01, 0.0, 0.0, 0.0, 1.0], **DEAF)
    executive.begin(ended, q, executive.prepare(back, q))
    run(executive, ended, ended + 20.0)
    assert "guard_room" not in executive.readings
    assert executive.reason is Termination.COMPLETED


def test_a_stop_ends_it_as_an_external_stop(executive):
    begin(executive, request())
    executive.step(1.0)
    executive.stop()
    run(executive)
    assert executive.reason is Termination.EXTERNAL_STOP
    assert np.abs(executive.setpoint.qd).max() < 1e-9


def test_a_change_needs_a_running_primitive_and_allowed_names(executive):
    change = executive.prepare_change(executive.parameters, {"max_force_thres": 9.0}, np.array(executive.robot.home))
    with pytest.raises(InvalidValueError, match="while a primitive runs"):
        executive.change(1.0, change)
    begin(executive, request())
    with pytest.raises(InvalidValueError, match="dither_mag"):
        executive.prepare_change(executive.parameters, {"dither_mag": [0.0] * 6}, np.array(executive.robot.home))


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (request(1, "nosuch"), "name"),
        (request(1, "free_grasp", grip_width=0.5), "grip_width"),
        (request(1, "joint_guarded", joint_dest=[99.0] * 6), "joint_dest"),
        (request(1, "joint_guarded", joint_dest=[0.0] * 5), "joint_dest"),
        (request(1, "joint_path", via_points=[0.0] * 7), "via_points"),
        (request(1, "joint_path", via_points=[0.0] * 5 + [99.0]), r"via_points\[0\]"),
        (request(1, "move_to_touch", tr_rel_dest=UP, max_force_thres=0.0), "max_force_thres"),
    ],
)
def test_invalid_requests_are_rejected_by_field(executive, asked, field):
    with pytest.raises(InvalidValueError, match=field):
        executive.check(asked)


def test_a_grasp_needs_a_gripper():
    with pytest.raises(InvalidValueError, match="without a gripper"):
        Executive(load_robot("ur5"), PERIOD).check(request(1, "free_grasp", grip_width=0.02))


def test_a_sequence_goes_on_after_the_ends_it_accepts():
    assert PrimitiveRequest(1, "gcm").accepts(Termination.COMPLETED)
    assert not PrimitiveRequest(1, "gcm").accepts(Termination.MAX_FORCE)
    tolerant = PrimitiveRequest(1, "gcm", {}, ("MAX_FORCE",))
    assert tolerant.accepts(Termination.MAX_FORCE)
    assert not tolerant.accepts(Termination.COMPLETED)


@pytest.mark.parametrize("word", ["RUNNING", "nosuch"])
def test_an_unknown_end_cannot_be_accepted(word):
    with pytest.raises(InvalidValueError, match="accept"):
        PrimitiveRequest(1, "gcm", {}, (word,))
