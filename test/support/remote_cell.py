"""A `RemoteArm` on a clock of the test's own, with a driver that can do everything wrong."""

from __future__ import annotations

import dataclasses

import numpy as np

from telerobot_nodes.core.robot import Driver, load_robot
from telerobot_nodes.hardware import ServoReference
from telerobot_nodes.hardware.ros2_control import RemoteArm, read_options

FOREIGN = ("aaa_rail", "zzz_camera")


def arm_robot(**options):
    """The own arm without a gripper, behind a driver with these options."""
    driver = Driver("ros2_control", {"namespace": "/cell", **options})
    return dataclasses.replace(load_robot("arm"), gripper=None, driver=driver)


class Cell:
    """A `RemoteArm` with a driver on another clock, in steps of 1 ms; the arm is where the commands send it."""

    def __init__(self, **options):
        self.robot = arm_robot(**options)
        self.arm = RemoteArm(self.robot, 0.001, read_options(self.robot))
        self.now, self.clock = 100.0, 5e6
        self.q, self.v = np.array(self.robot.home), np.zeros(self.robot.dof)
        self.names = sorted((*self.arm.names, *FOREIGN))
        self.sent = []
        self.reports = self.follows = True
        self.change = lambda row: row  # of what the driver reports, by name
        self.goal = None  # reference position at `now`; None: none is given

    def report(self):
        row = self.change({**dict(zip(self.arm.names, self.q, strict=True)), **dict.fromkeys(FOREIGN, 99.0)})
        speeds = dict(zip(self.arm.names, self.v, strict=True))
        names = sorted(row)
        self.arm.receive_joints(
            self.now, self.now + self.clock, names, [row[n] for n in names], [speeds.get(n, 0.0) for n in names]
        )

    def step(self, periods=1):
        for _ in range(periods):
            self.now += 0.001
            if round(self.now * 1000) % 2 == 0 and self.reports:
                self.report()
            if self.goal is not None:
                zero = np.zeros(self.robot.dof)
                q, v = self.goal(self.now - 0.001)
                self.arm.command(ServoReference(q, v, zero, 0.0))
            self.arm.step(self.now)
            if round(self.now * 1000) % 4 == 0:
                self.command()

    def command(self):
        command = self.arm.commander.next(self.now)
        if command is not None:
            self.sent.append((self.now, command.position, command.velocity))
            if self.follows and np.isfinite(command.position).all():
                self.q, self.v = command.position.copy(), command.velocity.copy()
        elif self.follows:
            self.v = np.zeros(self.robot.dof)

    def opened(self):
        self.step(10)
        assert self.arm.engage() == ""
        return self

    def turn(self, speed=0.3):
        """References that turn the first joint."""
        begin, home, unit = self.now, self.q.copy(), np.eye(self.robot.dof)[0]
        self.goal = lambda t: (home + unit * speed * max(t - begin, 0.0), unit * speed)
        return self
