"""An arm behind another driver: every trouble is named, the arm comes to rest, and it never jumps on return."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from remote_cell import Cell

from telerobot_nodes.hardware import Hardware
from telerobot_nodes.hardware.ros2_control import Trouble

pytestmark = pytest.mark.lengthy  # together some seconds

DEGREES = 180.0 / np.pi
BAD = {
    Trouble.MISSING_JOINT: lambda row: {name: value for name, value in row.items() if name != "joint3"},
    Trouble.NOT_FINITE: lambda row: {**row, "joint2": float("nan")},
    Trouble.UNITS: lambda row: {name: DEGREES * value for name, value in row.items()},
    Trouble.JUMP: lambda row: {**row, "joint4": row["joint4"] + 0.4},
}


def steps_within_limits(cell):
    rows = np.array([row for _, row, _ in cell.sent if np.isfinite(row).all()])
    times = np.array([at for at, row, _ in cell.sent if np.isfinite(row).all()])
    gaps = np.diff(times)
    if not gaps.size:
        return True
    close = gaps < 0.02  # between two engagements nothing is sent
    speed = np.abs(np.diff(rows, axis=0))[close] / gaps[close, None]
    return bool((speed <= cell.robot.limits.velocity * (1 + 1e-6)).all())


def test_the_commands_are_the_references_without_lag():
    cell = Cell().opened()
    cell.step(50)
    begin = cell.now
    cell.turn(0.2)
    cell.step(1000)
    assert cell.q[0] == pytest.approx(cell.robot.home[0] + 0.2 * (cell.now - begin), abs=2e-3)
    assert cell.arm.healthy == "" and steps_within_limits(cell)


@pytest.mark.parametrize("trouble", BAD)
def test_a_bad_measurement_is_named_and_the_arm_comes_to_rest(trouble):
    cell = Cell().opened().turn()
    cell.step(300)
    cell.change = BAD[trouble]
    cell.step(500)
    assert cell.arm.trouble is trouble
    count = len(cell.sent)
    cell.step(200)
    assert len(cell.sent) == count
    assert steps_within_limits(cell)


def test_silence_is_named_and_its_end_does_not_move_the_arm():
    cell = Cell().opened().turn()
    cell.step(300)
    cell.reports = False
    cell.step(600)
    assert cell.arm.trouble is Trouble.SILENT and "cell/joint_states" in cell.arm.healthy
    assert "silent" in cell.arm.engage()
    cell.reports, count = True, len(cell.sent)
    cell.step(300)
    assert cell.arm.trouble is Trouble.SILENT and len(cell.sent) == count
    cell.goal = None
    assert cell.arm.engage() == ""
    here = cell.q.copy()
    cell.step(300)
    assert len(cell.sent) > count and np.abs(cell.q - here).max() < 1e-9


def test_the_same_measurement_again_and_again_is_silence():
    cell = Cell().opened()
    frozen = cell.now + cell.clock
    cell.reports = False
    for _ in range(300):
        cell.arm.receive_joints(cell.now, frozen, list(cell.arm.names), cell.q.tolist())
        cell.step()
    assert cell.arm.trouble is Trouble.SILENT


def test_a_protective_stop_ends_commands_at_once_and_the_return_begins_where_the_arm_is():
    cell = Cell(running_topic="running").opened().turn()
    cell.step(300)
    cell.arm.running = cell.follows = False
    cell.v[:] = 0.0
    cell.step(8)
    count = len(cell.sent)
    cell.step(500)
    assert cell.arm.trouble is Trouble.NOT_RUNNING and len(cell.sent) == count
    cell.arm.running = True
    cell.q = cell.q + 0.3  # moved by hand meanwhile, and that is a jump to nobody: it took its time
    for _ in range(300):
        cell.step()
    assert len(cell.sent) == count
    cell.goal, cell.follows = None, True
    assert cell.arm.engage() == ""
    cell.step(8)
    assert np.abs(cell.sent[count][1] - cell.q).max() < 1e-9


def test_an_arm_that_does_not_follow_is_named():
    cell = Cell(following_error=0.05).opened().turn()
    cell.step(100)
    cell.follows = False
    cell.v[:] = 0.0
    cell.step(900)
    assert cell.arm.trouble is Trouble.NOT_FOLLOWING and "joint1" in cell.arm.healthy


def test_without_a_controller_nothing_is_sent():
    cell = Cell().opened()
    cell.arm.listening = False
    cell.step(8)
    assert cell.arm.trouble is Trouble.NO_CONTROLLER and "forward_position_controller" in cell.arm.healthy


def test_a_moving_arm_is_not_engaged():
    cell = Cell()
    cell.step(10)
    cell.follows, cell.v[:] = False, 0.2
    cell.step(10)
    assert "the arm moves" in cell.arm.engage() and cell.arm.trouble is Trouble.MOVING


def test_a_hardware_interface_that_stalls_brings_the_arm_to_rest():
    cell = Cell().opened().turn()
    cell.step(300)
    for _ in range(200):  # only the driver goes on
        cell.now += 0.004
        cell.command()
        cell.report()
    assert np.abs(cell.sent[-1][2]).max() == 0.0 and steps_within_limits(cell)
    cell.goal = None
    cell.step(10)
    assert cell.arm.trouble is Trouble.STALLED


def test_after_the_end_a_velocity_controller_is_told_zero_for_a_while():
    cell = Cell(command="velocity", running_topic="running").opened().turn()
    cell.step(300)
    cell.arm.running = False
    cell.step(8)
    count = len(cell.sent)
    cell.step(1000)
    ending = cell.sent[count:]
    assert 100 < len(ending) < 140
    assert all(np.isnan(position).all() and not velocity.any() for _, position, velocity in ending)


def test_the_hardware_refuses_a_reset_until_the_trouble_is_over_and_then_holds_where_the_arm_is():
    cell = Cell(running_topic="running").opened()
    hardware = Hardware(cell.robot, 0.001, cell.arm)
    hardware.open(cell.now)
    cell.arm.running = False
    cell.now += 0.001
    hardware.step(cell.now)
    assert "does not run" in hardware.status().reason
    with pytest.raises(ValueError, match="not allowed yet: the arm does not run"):
        hardware.reset()
    cell.arm.running = True
    cell.q = cell.q + 0.015
    for _ in range(300):
        cell.now += 0.001
        cell.report()
        hardware.step(cell.now)
    hardware.reset()
    assert hardware.status().state == 1
    cell.now += 0.001
    cell.report()
    hardware.step(cell.now)
    assert np.abs(hardware._reference.q - cell.q).max() < 1e-9


class Life(RuleBasedStateMachine):
    """Any order of troubles, their ends and engagements."""

    def __init__(self):
        super().__init__()
        self.cell = Cell(running_topic="running").opened()
        self.seen = len(self.cell.sent)

    @rule(periods=st.integers(1, 300))
    def go_on(self, periods):
        self.cell.step(periods)

    @rule(speed=st.floats(-0.4, 0.4))
    @precondition(lambda self: np.abs(self.cell.q - self.cell.robot.home).max() < 0.3)
    def turn(self, speed):
        if not self.cell.arm.healthy:
            self.cell.turn(speed)

    @rule(trouble=st.sampled_from(sorted(BAD, key=lambda one: one.name)))
    def bad(self, trouble):
        self.cell.change = BAD[trouble]

    @rule()
    def stop(self):
        self.cell.arm.running = self.cell.follows = False
        self.cell.v[:] = 0.0

    @rule()
    def fall_silent(self):
        self.cell.reports = False

    @rule()
    def all_is_well_again(self):
        self.cell.change, self.cell.reports = lambda row: row, True
        self.cell.arm.running = self.cell.follows = True
        self.cell.step(20)

    @rule()
    def engage(self):
        if self.cell.arm.healthy:
            self.cell.goal = None
            if self.cell.arm.engage() == "":
                here, count = self.cell.arm.position.copy(), len(self.cell.sent)
                self.cell.step(4)
                first = self.cell.sent[count][1]
                assert np.abs(first - here).max() < 0.011  # a position beyond a limit is taken at the limit

    @invariant()
    def nothing_is_sent_long_after_a_trouble(self):
        if self.cell.arm.healthy:
            self.cell.step(4)
        if self.cell.arm.healthy and self.cell.arm.trouble in (Trouble.NOT_RUNNING, Trouble.JUMP, Trouble.UNITS):
            count = len(self.cell.sent)
            self.cell.step(40)
            assert len(self.cell.sent) == count

    @invariant()
    def commands_keep_the_limits(self):
        assert steps_within_limits(self.cell)


TestLife = Life.TestCase
