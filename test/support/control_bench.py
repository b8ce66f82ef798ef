"""A control step with an arm that is where it was told to be one period ago."""

import numpy as np

from telerobot_nodes.motion.loop import ControlStep

PERIOD = 0.004


class Bench:
    """A control step with an arm that is where it was told to be one period ago."""

    def __init__(self, robot, q, period=PERIOD, config=None):
        self.robot = robot
        self.control = ControlStep(robot, period, config)
        self.period = period
        self.now = 10.0
        self.arm = np.array(q, dtype=float)
        self.frozen = False  # the arm does not move
        self.silent = False  # nothing is measured
        self.rows = []
        self.run(0.02)

    def step(self):
        self.now += self.period
        if not self.silent:
            self.control.measure(self.now, self.arm, np.zeros(self.robot.dof))
        output = self.control.step(self.now)
        if not self.frozen:
            self.arm = output.q.copy()
        self.rows.append(np.concatenate(([self.now], output.q, output.qd, output.qdd)))
        return output

    def run(self, duration):
        for _ in range(round(duration / self.period)):
            output = self.step()
        return output

    def check_limits(self):
        rows = np.array(self.rows)
        n, limits = self.robot.dof, self.robot.limits
        q, qd, qdd = rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n], rows[:, 1 + 2 * n :]
        assert (q >= limits.lower - 1e-12).all()
        assert (q <= limits.upper + 1e-12).all()
        assert (np.abs(qd) <= limits.velocity * (1 + 1e-5)).all()
        assert (np.abs(qdd) <= limits.acceleration * (1 + 1e-5)).all()
        np.testing.assert_allclose(np.diff(q, axis=0) / self.period, qd[1:], atol=1e-6)


def far_from_path(q, window):
    """Largest joint distance from the straight joint path of the window, and how far along it is, 0 .. 1."""
    begin, end = window.position[0], window.position[-1]
    along = np.dot(q - begin, end - begin) / np.dot(end - begin, end - begin)
    return np.abs(begin + along * (end - begin) - q).max(), along
