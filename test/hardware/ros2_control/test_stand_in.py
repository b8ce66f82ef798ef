"""The stand-in's arm without topics: it follows, delays, stops itself, and shows each fault as an arm would."""

import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.robot import Driver, load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.ros2_control import (
    PERIOD,
    Order,
    StandIn,
    StandInFault,
    StandInSettings,
    read_options,
)

QUICK = StandInSettings(latency=0.0, jitter=0.0)


def stand_in(settings=QUICK, **options):
    driver = Driver("ros2_control", {"namespace": "/cell", "wrench": {"frame": "ft"}, **options})
    robot = dataclasses.replace(load_robot("arm"), driver=driver)
    return StandIn(robot, read_options(robot), settings)


class Clock:
    """Steps a stand-in and keeps what it reports."""

    def __init__(self, one):
        self.one, self.now, self.seen = one, 0.0, []

    def go_on(self, seconds):
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.one.step(self.now)
            self.seen += self.one.reports(self.now, self.now)
        return self.seen[-1]

    def joint(self, name="joint1"):
        joints, _ = self.seen[-1]
        return joints.position[joints.names.index(name)]


@pytest.fixture
def clock():
    return Clock(stand_in())


def home_and(change):
    home = np.array(load_robot("arm").home)
    return home + change * np.eye(home.size)[0]


def test_it_follows_positions_and_reports_sorted_names_among_foreign_ones(clock):
    clock.one.receive(0.0, Order(home_and(0.05)))
    joints, wrench = clock.go_on(0.3)
    assert clock.joint() == pytest.approx(home_and(0.05)[0], abs=2e-3)
    assert list(joints.names) == sorted(joints.names) and "zzz_rail" in joints.names
    assert wrench.frame == "ft"


def test_a_controllers_own_order_is_kept():
    names = list(load_robot("arm").joint_names)
    clock = Clock(stand_in(order=names[::-1]))
    clock.one.receive(0.0, Order(home_and(0.05)[::-1]))
    clock.go_on(0.3)
    assert clock.joint() == pytest.approx(home_and(0.05)[0], abs=2e-3)


def test_a_velocity_goes_on_until_the_next_one():
    clock = Clock(stand_in(command="velocity"))
    clock.one.receive(0.0, Order(np.array([0.1, 0, 0, 0, 0, 0])))
    clock.go_on(1.0)
    assert clock.joint() - home_and(0.0)[0] == pytest.approx(0.1, abs=0.005)


def test_latency_counts_both_ways():
    clock = Clock(stand_in(StandInSettings(latency=0.1, jitter=0.0)))
    clock.one.receive(0.0, Order(home_and(0.05)))
    clock.go_on(0.15)
    assert clock.joint() == pytest.approx(home_and(0.0)[0], abs=1e-4)
    clock.go_on(0.3)
    assert clock.joint() == pytest.approx(home_and(0.05)[0], abs=2e-3)


@pytest.mark.parametrize("values", [home_and(0.3), np.full(6, np.nan)])
def test_a_command_that_is_far_or_no_number_is_a_protective_stop_and_moves_nothing(clock, values):
    clock.one.receive(0.0, Order(values))
    clock.go_on(0.01)
    assert clock.one.arm.stopped == "a command is far from the arm"
    clock.go_on(0.2)
    assert clock.one.arm.stopped and clock.joint() == pytest.approx(home_and(0.0)[0], abs=1e-4)
    clock.one.release()
    clock.go_on(0.01)
    assert not clock.one.arm.stopped


def test_a_command_of_another_length_is_ignored(clock):
    clock.one.receive(0.0, Order(np.zeros(2)))
    clock.go_on(0.05)
    assert not clock.one.arm.stopped


def test_after_a_protective_stop_the_arm_holds_where_it_is(clock):
    clock.one.bring(StandInFault.PROTECTIVE_STOP)
    clock.go_on(0.02)
    clock.one.receive(clock.now, Order(home_and(0.1)))
    clock.go_on(0.2)
    assert clock.one.arm.stopped == "protective stop"
    clock.one.release()
    clock.go_on(0.2)
    assert clock.one.arm.stopped == "" and clock.joint() == pytest.approx(home_and(0.0)[0], abs=1e-4)


def test_each_fault_of_the_measurements_shows(clock):
    first, felt = clock.go_on(0.05)
    for fault, shows in {
        StandInFault.DROP_JOINT: lambda j, w: "joint3" not in j.names,
        StandInFault.NOT_FINITE: lambda j, w: np.isnan(j.position).any(),
        StandInFault.DEGREES: lambda j, w: abs(j.position[j.names.index("joint2")]) > 50,
        StandInFault.JUMP: lambda j, w: max(abs(np.subtract(j.position, first.position))) > 0.2,
        StandInFault.OTHER_WRENCH_FRAME: lambda j, w: w.frame != felt.frame,
    }.items():
        clock.one.faults = {fault}
        assert shows(*clock.go_on(0.01)), fault
    clock.one.faults = {StandInFault.FROZEN}
    stamps = {joints.stamp for joints, _ in (clock.go_on(0.01) for _ in range(3))}
    assert len(stamps) == 1
    clock.one.faults = {StandInFault.FROZEN_WRENCH}
    rows = [clock.go_on(0.01)[1].wrench for _ in range(3)]
    assert np.ptp(rows, axis=0).max() == 0.0
    clock.one.faults, count = {StandInFault.SILENT}, len(clock.seen)
    clock.go_on(0.05)
    assert len(clock.seen) == count


def test_a_gripper_that_no_urdf_has_goes_where_it_is_sent():
    driver = Driver("ros2_control", {"namespace": "/cell", "gripper": {"joint": "jaw", "open": 0.0, "closed": 0.8}})
    robot = load_robot("ur5")
    gripper = dataclasses.replace(load_robot("arm").gripper, joints=(), max_opening=0.1)
    robot = dataclasses.replace(robot, gripper=gripper, driver=driver)
    clock = Clock(StandIn(robot, read_options(robot), QUICK))
    clock.one.arm.grip(0.4)
    clock.go_on(0.01)
    assert clock.joint("jaw") == pytest.approx(0.4)


@pytest.mark.parametrize(("field", "value"), [("rate", 0.0), ("latency", -1.0), ("jitter", float("nan"))])
def test_settings_that_cannot_be_are_refused(field, value):
    with pytest.raises(InvalidValueError, match=field):
        StandInSettings(**{field: value})
