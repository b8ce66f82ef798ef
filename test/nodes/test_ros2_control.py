"""The driver `ros2_control` over DDS against another process: follows, names every trouble, returns without a jump."""

import time

import numpy as np
import pytest

pytest.importorskip("rclpy")

from stand_in import StandIn, bring, write_arm_file

from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.hardware import Hardware, Setpoint
from telerobot_nodes.hardware.ros2_control import Trouble
from telerobot_nodes.nodes.drivers import DriverSetting, make_arm

SILENCE = 0.5  # [s]; a test machine may be busy
PATIENCE = 30.0  # [s]


class Served:
    """The hardware interface's core on the wall clock, as its node serves it."""

    def __init__(self, file):
        self.robot = load_robot(str(file))
        self.arm = make_arm(DriverSetting(self.robot, 0.001))
        self.hardware = Hardware(self.robot, 0.001, self.arm)
        self.hardware.open(time.monotonic())
        self.number = 0

    def until(self, condition, goal=None):
        """Serve until the condition holds; with a goal it is sent as setpoint at rest. False after PATIENCE."""
        end = time.monotonic() + PATIENCE
        while not condition():
            now = time.monotonic()
            if now > end:
                return False
            if goal is not None:
                if self.arm.trouble is Trouble.STALLED:  # this test process had to wait for the processor
                    self.can_be_reset()
                self.send(now, goal)
            self.hardware.step(time.monotonic())
            self.hardware.measured()
            time.sleep(0.004)
        return True

    def send(self, now, goal):
        self.number += 1
        zero = np.zeros(self.robot.dof)
        self.hardware.command(now, Setpoint(self.number, now, goal, zero, zero, 0.03))

    @property
    def state(self):
        return self.hardware.status().state

    def at(self, goal):
        return lambda: np.abs(self.hardware.measured().position - goal).max() < 2e-3

    def provoke(self, call, fault):
        """Release all faults, engage the arm in motion, and bring one about until the hardware has a fault."""
        bring(call, "release")
        assert self.until(lambda: self.state is not HardwareState.FAULT or self.can_be_reset()), fault
        goal = self.arm.position + 0.05 * np.eye(self.robot.dof)[0]
        self.until(lambda: self.state is HardwareState.READY, goal)
        bring(call, fault)
        assert self.until(lambda: self.state is HardwareState.FAULT), fault

    def can_be_reset(self):
        try:
            self.hardware.reset()
        except InvalidValueError:
            return False
        return True

    def moved_while_holding(self):
        """Largest motion of a joint [rad] while nothing is sent to it."""
        here, rows = self.arm.position.copy(), []
        self.until(lambda: rows.append(np.abs(self.arm.position - here).max()) or len(rows) == 100)
        return max(rows)


@pytest.fixture
def served(tmp_path):
    """Starts a stand-in of a robot and serves it."""
    made = []

    def start(name="arm", mode="position"):
        file = write_arm_file(tmp_path, load_robot(name), mode, SILENCE)
        stand_in = StandIn(file)
        made.append(stand_in.kill)
        one = Served(file)
        made.append(one.hardware.close)
        one.stand_in = stand_in
        return one

    yield start
    for end in reversed(made):
        end()


@pytest.mark.parametrize(
    ("name", "mode"),
    [("arm", "position"), ("arm", "velocity"), ("arm", "trajectory"), ("panda", "position"), ("ur5", "position")],
)
@pytest.mark.brief(2)
def test_the_arm_follows_in_each_mode_with_other_names_in_another_order(served, name, mode):
    one = served(name, mode)
    assert one.hardware.status().reason == "no setpoint yet"
    home = np.array(one.robot.home)
    assert one.until(one.at(home))
    steps = np.linspace(0.02, 0.08, one.robot.dof)
    assert one.until(one.at(home + steps), home + steps), one.hardware.status()
    assert one.state is HardwareState.READY
    assert np.isfinite(one.hardware.measured().wrench_sensor).all()
    if one.robot.gripper is not None:
        assert one.until(lambda: abs(one.hardware.measured().gripper - 0.03) < 2e-3, home + steps)


@pytest.mark.nightly
@pytest.mark.timing("the driver's own stall comes first where this process waits for the processor")
def test_every_trouble_is_named_and_the_return_does_not_move_the_arm(served, ros):
    one = served()
    for fault, trouble in (
        ("protective_stop", Trouble.NOT_RUNNING),
        ("silent", Trouble.SILENT),
        ("frozen", Trouble.SILENT),
        ("drop_joint", Trouble.MISSING_JOINT),
        ("degrees", Trouble.UNITS),
        ("not_finite", Trouble.NOT_FINITE),
        ("jump", Trouble.JUMP),
        ("other_wrench_frame", Trouble.WRENCH_FRAME),
    ):
        one.provoke(ros.call, fault)
        while one.arm.trouble is Trouble.STALLED:  # this process had to wait for the processor
            one.provoke(ros.call, fault)
        assert one.arm.trouble is trouble, (fault, one.hardware.status())
        if fault != "jump":  # a jump that is over is a position like any other
            assert not one.can_be_reset(), fault
        bring(ros.call, "release")
        assert one.until(one.can_be_reset), (fault, one.arm.healthy)
        moved = one.moved_while_holding()
        assert moved < 2e-3 or one.arm.trouble is Trouble.JUMP, (fault, moved)


def test_a_driver_that_died_and_came_back_elsewhere_moves_nothing(served):
    one = served()
    home = np.array(one.robot.home)
    goal = home + 0.08 * np.eye(one.robot.dof)[0]
    assert one.until(one.at(goal), goal)
    one.stand_in.kill()
    assert one.until(lambda: one.state is HardwareState.FAULT)
    assert one.arm.trouble in (Trouble.SILENT, Trouble.NO_CONTROLLER)
    assert not one.can_be_reset()
    one.stand_in.start()  # at home again
    assert one.until(one.can_be_reset), (one.arm.trouble, one.arm.healthy, one.state)
    assert one.at(home)() and one.state is HardwareState.HOLDING
    assert one.moved_while_holding() < 2e-3


def test_without_an_arm_it_starts_and_says_what_it_misses(tmp_path, monkeypatch):
    monkeypatch.setattr("telerobot_nodes.nodes.drivers.ros2_control.CONNECT", 0.2)
    one = Served(write_arm_file(tmp_path, load_robot("arm")))
    try:
        assert one.until(lambda: one.state is HardwareState.FAULT)
        assert one.arm.trouble is Trouble.UNHEARD and "/cell/joint_states" in one.hardware.status().reason
        assert one.hardware.measured().time == -np.inf
    finally:
        one.hardware.close()


def arm_from(tmp_path, text):
    file = tmp_path / "cell.yaml"
    file.write_text(text)
    return make_arm(DriverSetting(load_robot(str(file)), 0.001))


def test_a_driver_nobody_has_is_named(tmp_path):
    with pytest.raises(InvalidValueError, match="'ur_rtde' is not allowed; allowed: mujoco, ros2_control"):
        arm_from(tmp_path, "urdf: arm\ndriver: ur_rtde\n")


def test_the_simulated_arm_has_no_options(tmp_path):
    with pytest.raises(InvalidValueError, match=r"options\.speed"):
        arm_from(tmp_path, "urdf: arm\noptions: {speed: 1.0}\n")


def test_a_driver_in_the_hardware_interfaces_own_namespace_is_refused(tmp_path):
    text = "urdf: arm\ndriver: ros2_control\noptions: {namespace: /, gripper: {joint: f, open: 0.04}}\n"
    with pytest.raises(InvalidValueError, match="another one than that of hardware_interface"):
        arm_from(tmp_path, text)


def test_options_are_checked_before_anything_starts(tmp_path):
    with pytest.raises(ParameterFileError, match=r"cell\.yaml:3:11: namspace: unknown key; did you mean namespace"):
        arm_from(tmp_path, "urdf: ur5\ndriver: ros2_control\noptions: {namspace: /cell}\n")
