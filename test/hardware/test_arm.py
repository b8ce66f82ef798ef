from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.errors import TransitionError
from telerobot_nodes.hardware import Hardware, MujocoArm
from telerobot_nodes.hardware.scene import FINGER_FORCE


def circle(robot, seconds: float, speed: float, radius: float = 0.1):
    """Joint rows per ms of a circle of the tool reached smoothly up to `speed` [m/s], and its poses."""
    T, h = robot.forward(robot.home), 0.001
    t = np.arange(0.0, seconds, h)
    s = np.clip(t, 0.0, 1.0)
    angle = speed / radius * (s**6 - 3 * s**5 + 2.5 * s**4 + np.maximum(t - 1.0, 0.0))
    around = np.stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros_like(t)], axis=1) * radius
    poses = np.array([pose_from_se3(pin.SE3(T.rotation, T.translation + offset)) for offset in around])
    q = Kinematics(robot).solve_path(poses, robot.home)
    v = np.gradient(q, h, axis=0)
    v[0] = 0.0
    a = np.gradient(v, h, axis=0)
    a[:2] = 0.0
    return poses, q, v, a


@pytest.mark.lengthy
def test_the_tool_follows_a_fast_circle_within_a_tenth_of_a_millimetre(any_rig, setpoint):
    rig = any_rig
    poses, q, v, a = circle(rig.robot, 2.2, 0.3)
    jitter = np.random.default_rng(1).integers(0, 4, len(q))
    waiting, worst = [], 0.0
    for k in range(len(q)):
        if k:
            rig.step()
            tool = rig.robot.forward(rig.hardware.measured().position).translation
            worst = max(worst, float(np.linalg.norm(tool - poses[k, :3])) if k > 20 else 0.0)
        if k % 5 == 0:
            made = rig.now
            waiting.append((k + jitter[k], made, k))
        while waiting and waiting[0][0] <= k:
            _, made, row = waiting.pop(0)
            assert rig.hardware.command(rig.now, setpoint(rig.robot, made, q[row], v[row], a[row])) == ""
    assert worst < 1e-4
    assert rig.hardware.status().saturated == 0
    rig.assert_limits_held()


def test_serving_in_bursts_does_not_pull_the_arm_ahead_of_its_setpoints(rig, setpoint):
    hardware, robot, begin, speed = rig.hardware, rig.robot, rig.now, 0.5
    unit, worst = np.eye(6)[0], 0.0
    for k in range(300):
        made = begin + 0.005 * k
        t = made - begin
        travel = speed * (t - np.sin(8.0 * t) / 8.0)
        rates = speed * (1.0 - np.cos(8.0 * t)), speed * 8.0 * np.sin(8.0 * t)
        assert (
            hardware.command(made, setpoint(robot, made, robot.home + unit * travel, *(unit * r for r in rates))) == ""
        )
        assert hardware.step(made + 0.0001) in (0, 5)
        worst = max(worst, abs(hardware.measured().position[0] - robot.home[0] - travel))
        if t > 1.5:
            break
    assert worst < 5e-5


def test_the_arm_holds_still_under_gravity(any_rig):
    any_rig.step(1500)
    measured = any_rig.hardware.measured()
    assert np.abs(measured.position - any_rig.robot.home).max() < 1e-4
    assert np.abs(measured.velocity).max() < 1e-4
    assert np.abs(measured.effort).max() > 1.0


def test_without_a_setpoint_it_holds_and_says_so(rig):
    rig.step(10)
    status = rig.hardware.status()
    assert status.state is HardwareState.HOLDING and status.reason == "no setpoint yet"


def test_a_setpoint_makes_it_ready(rig):
    assert rig.send(number=7) == ""
    rig.step(5)
    status = rig.hardware.status()
    assert status.state is HardwareState.READY and status.setpoint_number == 7 and status.reason == ""


def test_when_setpoints_cease_it_comes_to_rest_inside_the_limits_and_holds(rig):
    rig.swing(0.6)
    assert abs(rig.hardware.measured().velocity[0]) > 0.3
    rig.step(95)
    assert rig.hardware.status().state is HardwareState.READY
    rig.step(400)
    status = rig.hardware.status()
    assert status.state is HardwareState.HOLDING and status.watchdog_trips == 1 and "0.1 s" in status.reason
    assert np.abs(rig.hardware.measured().velocity).max() < 1e-3
    held = rig.hardware.measured().position
    rig.step(500)
    assert np.abs(rig.hardware.measured().position - held).max() < 1e-4
    rig.assert_limits_held()


def test_on_return_far_away_the_setpoint_is_refused_and_nothing_jumps(rig):
    rig.swing(0.6)
    rig.step(500)
    held = rig.hardware.measured().position
    away = held + np.array([0.5, 0, 0, 0, 0, 0])
    refusal = rig.send(away)
    assert "setpoint.position[0]" in refusal and "held" in refusal
    rig.step(100)
    assert rig.hardware.status().state is HardwareState.HOLDING
    assert np.abs(rig.hardware.measured().position - held).max() < 1e-4


@pytest.mark.lengthy
def test_on_return_near_by_it_goes_on_without_a_jump(rig):
    rig.swing(0.6)
    rig.step(500)
    near = rig.hardware.measured().position + 0.05
    for _ in range(300):
        assert rig.send(near) == ""
        rig.step(5)
    assert np.abs(rig.hardware.measured().position - near).max() < 1e-4
    rig.assert_limits_held()


@pytest.mark.lengthy
def test_an_oversized_step_is_saturated_and_counted(rig):
    rig.send()
    rig.step(5)
    far = rig.robot.home + np.array([1.0, 0.5, -0.4, 0.5, 0.5, 0.5])
    for _ in range(500):
        assert rig.send(far) == ""
        rig.step(5)
    assert rig.hardware.status().saturated > 10
    assert np.abs(rig.hardware.measured().position - far).max() < 1e-3
    rows = np.array(rig.reference)
    assert (np.abs(rows - rig.robot.home).max(axis=0) <= np.abs(far - rig.robot.home) + 1e-5).all()
    rig.assert_limits_held()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"position": [np.nan, 1, -3, 0, -1, 0]}, "setpoint.position[0]"),
        ({"position": [0.0] * 5}, "setpoint.position (length)"),
        ({"position": [9.0, 1, -3, 0, -1, 0]}, "setpoint.position[0]"),
        ({"velocity": [0, 0, np.inf, 0, 0, 0]}, "setpoint.velocity[2]"),
        ({"velocity": [0, 0, 0, 99.0, 0, 0]}, "setpoint.velocity[3]"),
        ({"velocity": [0.0]}, "setpoint.velocity (length)"),
        ({"acceleration": [np.nan] * 6}, "setpoint.acceleration[0]"),
        ({"gripper": np.nan}, "setpoint.gripper"),
        ({"gripper": 3.0}, "setpoint.gripper"),
    ],
)
def test_a_bad_setpoint_is_refused_by_field_and_changes_nothing(rig, change, field):
    rig.send(number=1)
    rig.step(5)
    before = rig.reference[-1]
    refusal = rig.send(number=2, **change)
    assert refusal.startswith(field + ":")
    rig.step(50)
    status = rig.hardware.status()
    assert (status.refused, status.refusal, status.setpoint_number) == (1, refusal, 1)
    assert status.state is HardwareState.READY
    assert np.abs(rig.reference[-1] - before).max() < 1e-9


def test_a_stale_or_repeated_setpoint_is_refused(rig, setpoint):
    now = rig.now
    assert "monotonic (age)" in rig.hardware.command(now, setpoint(rig.robot, now - 0.2))
    assert "monotonic (age)" in rig.hardware.command(now, setpoint(rig.robot, now + 3600.0))
    assert rig.hardware.command(now, setpoint(rig.robot, now)) == ""
    assert "later than the one before" in rig.hardware.command(now, setpoint(rig.robot, now))
    assert "later than the one before" in rig.hardware.command(now, setpoint(rig.robot, now - 0.01))


def test_the_estop_brings_the_arm_to_rest_and_latches(rig):
    rig.swing(0.6)
    rig.hardware.estop("test")
    rig.step(300)
    status = rig.hardware.status()
    assert status.state is HardwareState.ESTOP and status.reason == "e-stop: test"
    assert np.abs(rig.hardware.measured().velocity).max() < 1e-3
    assert "not allowed in ESTOP" in rig.send(rig.hardware.measured().position)
    rig.step(300)
    assert rig.hardware.status().state is HardwareState.ESTOP
    rig.assert_limits_held()


def test_after_a_reset_it_holds_where_it_is_until_a_setpoint_near_by(rig):
    rig.swing(0.6)
    rig.hardware.estop("test")
    rig.step(300)
    here = rig.hardware.measured().position
    rig.hardware.reset()
    rig.step(300)
    assert rig.hardware.status().state is HardwareState.HOLDING
    assert np.abs(rig.hardware.measured().position - here).max() < 1e-4
    assert rig.send(here) == ""
    rig.step(5)
    assert rig.hardware.status().state is HardwareState.READY


def test_a_reset_while_following_is_refused(rig):
    rig.send()
    with pytest.raises(TransitionError):
        rig.hardware.reset()
    assert rig.hardware.status().state is HardwareState.READY


def test_an_arm_pushed_off_its_reference_for_long_is_a_fault(rig):
    data, body = rig.hardware.arm.data, rig.hardware.arm.model.body("arm/link2").id
    data.xfrc_applied[body, :3] = [0.0, 3000.0, 0.0]
    rig.step(600)
    status = rig.hardware.status()
    assert status.state is HardwareState.FAULT and "tracking error" in status.reason
    assert "not allowed in FAULT" in rig.send()
    data.xfrc_applied[:] = 0.0
    rig.hardware.reset()
    rig.step(500)
    assert rig.hardware.status().state is HardwareState.HOLDING
    assert rig.hardware.status().tracking_error < 1e-3


def test_physics_that_diverges_is_a_fault_by_name(rig):
    rig.step(1)
    rig.hardware.arm.data.qpos[-1] = np.nan
    rig.hardware._check_following(rig.now)
    status = rig.hardware.status()
    assert status.state is HardwareState.FAULT and "not finite" in status.reason


@pytest.mark.parametrize("force", [[0.0, 0.0, 10.0], [6.0, -4.0, 0.0]])
def test_the_wrench_is_what_the_tool_does_to_the_environment(rig, force):
    rig.step(50)
    R = rig.robot.forward(rig.robot.home).rotation
    on_environment = np.array(force)  # in the sensor's axes, which are parallel to the tool's
    body = rig.hardware.arm.model.body("arm/gripper").id
    rig.hardware.arm.data.xfrc_applied[body, :3] = -R @ on_environment
    rig.step(400)
    assert felt(rig)[:3] == pytest.approx(on_environment, abs=0.1)


def felt(rig) -> np.ndarray:
    """Mean of twenty measurements, as a tare takes it."""
    rows = []
    for _ in range(20):
        rig.step(5)
        rows.append(rig.hardware.measured().wrench_sensor)
    return np.mean(rows, axis=0)


def test_an_ideal_sensor_reads_the_hand_s_weight(ideal_rig):
    weight = 0.25 + 0.55 + 2 * 0.05
    assert ideal_rig.hardware.arm.read().wrench_sensor[2] == pytest.approx(-weight * 9.81, rel=1e-3)
    assert np.abs(ideal_rig.hardware.measured().wrench_sensor).max() < 1e-6


def test_taring_takes_the_present_wrench_as_zero(rig):
    body = rig.hardware.arm.model.body("arm/gripper").id
    rig.hardware.arm.data.xfrc_applied[body, :3] = [0.0, 0.0, 5.0]
    rig.step(400)
    assert felt(rig)[2] == pytest.approx(5.0, abs=0.2)  # the one reading of the opening was its tare
    rig.hardware.tare()
    assert np.abs(felt(rig)[:3]).max() < 0.1


@pytest.mark.lengthy
def test_the_gripper_opens_and_closes_as_asked_and_negative_leaves_it(rig):
    assert rig.hardware.measured().gripper == pytest.approx(0.08, abs=1e-3)
    for gripper in (0.02, -1.0):
        for _ in range(200):
            rig.send(gripper=gripper)
            rig.step(5)
        assert rig.hardware.measured().gripper == pytest.approx(0.02, abs=2e-3)


@pytest.mark.lengthy
def test_fingers_press_with_the_force_that_is_asked_for_and_never_with_more_than_their_own(rig_of):
    """On both sides of a block; kept while they stay where they are, and at their own most without a force."""
    robot = load_robot("arm")
    at = robot.forward(robot.home).translation

    def block(spec):
        body = spec.worldbody.add_body(name="block", pos=at)
        body.add_geom(size=[0.01, 0.03, 0.01], type=mujoco.mjtGeom.mjGEOM_BOX, contype=2, conaffinity=1)

    rig = rig_of(Hardware(robot, arm=MujocoArm(robot, task_board=False, furnish=block)))

    def pressed(**fingers):
        for _ in range(200):
            assert rig.send(**fingers) == ""
            rig.step(5)
        return rig.hardware.arm.scene()["block"][1]

    assert pressed(gripper=0.0, gripper_force=6.0) == pytest.approx(2 * 6.0, abs=0.5)
    assert pressed(gripper=0.0, gripper_force=9.0) == pytest.approx(2 * 9.0, abs=0.5)
    assert pressed(gripper=-1.0) == pytest.approx(2 * 9.0, abs=0.5)
    assert pressed(gripper=0.0) == pytest.approx(FINGER_FORCE, abs=0.5)
    assert pressed(gripper=0.0, gripper_force=500.0) == pytest.approx(FINGER_FORCE, abs=0.5)


@pytest.mark.parametrize("stops", ["negative opening", "e-stop", "no setpoint"])
@pytest.mark.lengthy
def test_fingers_on_their_way_stop_where_they_are(rig, stops):
    for _ in range(60):  # 0.3 s of closing at 0.1 m/s
        rig.send(gripper=0.0)
        rig.step(5)
    if stops == "e-stop":
        rig.hardware.estop("test")
    elif stops == "no setpoint":
        while rig.hardware.status().state is HardwareState.READY:
            rig.step()
    for _ in range(200):
        if stops == "negative opening":
            rig.send(gripper=-1.0)
        rig.step(5)
    assert 0.03 < rig.hardware.measured().gripper < 0.055
    if stops == "e-stop":
        rig.hardware.reset()
        rig.step(200)
        assert rig.hardware.measured().gripper > 0.03  # what closed them was forgotten
    for _ in range(200):
        assert rig.send(gripper=0.0) == ""
        rig.step(5)
    assert rig.hardware.measured().gripper < 0.003


def test_efforts_never_exceed_their_limits(rig):
    rig.send()
    rig.step(5)
    far = rig.robot.home + np.array([1.0, 0.5, -0.4, 0.5, 0.5, 0.5])
    for _ in range(200):
        rig.send(far)
        rig.step(5)
        assert (np.abs(rig.hardware.measured().effort) <= rig.robot.limits.effort).all()
