"""The motion of the plan's windows: the follower, sampled on the path's own clock, with sensor motion on top."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import NominalTool, ToolMotion
from telerobot_nodes.motion.tracking import PathClock, WindowFollower


class StreamMotion:
    """Windows of one arm, sampled every `period` [s]. Its constructor compiles what a sample needs."""

    def __init__(self, robot: RobotModel, period: float, tool: ToolMotion | None = None) -> None:
        self.follower = WindowFollower(robot.dof, robot.limits)
        self.tool = NominalTool(robot) if tool is None else tool
        self._clock = PathClock(robot.limits.acceleration, period)
        self._compile(robot, period)

    @property
    def path_velocity(self) -> FloatArray:
        """Velocity (dof,) [rad/s] on the path, without sensor motion."""
        return self._clock.rate * self.follower.v

    def run(self, now: float) -> None:
        """Let path time be `now` [s]."""
        self._clock.run(now)

    def step(self, now: float, braking: bool, frozen: bool, goal: FloatArray) -> bool:
        """Write the wanted joints of `now` [s] into `goal` (dof,) [rad]; True at rest at the end or after braking.

        `frozen`: sensors add no motion.
        """
        follower, clock = self.follower, self._clock
        if braking:
            clock.brake(follower.v, follower.a)
        else:
            clock.run(now)
        at_rest = follower.sample(clock.time)
        self.tool.step(now, follower.q, goal, frozen)
        return at_rest or clock.rate == 0.0

    def hold(self, q: FloatArray) -> None:
        """Rest at `q` (dof,) [rad] and forget the windows and the sensor motion."""
        self.follower.hold(q, self.follower.plan_time)
        self.tool.reset(q)

    def hold_at(self, now: float, q: FloatArray) -> None:
        """Like `hold`, and sample the rest at `now` [s] at once."""
        self.hold(q)
        self.follower.sample(now)

    def come_to_rest(self, now: float, q: FloatArray, braking: bool) -> None:
        """The setpoint rests at `q` (dof,) [rad]; after a monitor's stop, sensor motion becomes part of the path."""
        if self.tool.monitor:
            self.hold_at(now, q)
        elif braking:
            self.follower.hold(self.follower.q, self.follower.plan_time)
        if braking:
            self._clock.run(now)

    def _compile(self, robot: RobotModel, period: float) -> None:
        middle = 0.5 * (robot.limits.lower + robot.limits.upper)
        position = np.stack((middle, middle))
        still = np.zeros_like(position)
        window = MotionWindow(1, 0.0, 0.0, period, position, still, still, np.zeros(2), np.zeros(0))
        WindowFollower(robot.dof, robot.limits).offer(0.0, window)
        self.tool.reset(middle)
        self.tool.step(0.0, middle, np.zeros(robot.dof), False)
