"""Compile the compiled parts once and leave them in the cache: `python -m telerobot_nodes.core.warm`.

A fresh installation needs about 15 s of compilation; set-up runs this so that no node pays for it in its loop.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.frames import pose_from_se3
from telerobot_nodes.core.interpolation import quintic
from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.core.limits import SetpointLimiter
from telerobot_nodes.core.robot import load_robot


def warm() -> None:
    """Call every compiled entry once with the types the loops use."""
    robot = load_robot("arm")
    kinematics = Kinematics(robot)
    T = robot.forward(robot.home)
    kinematics.step(robot.home, T)
    kinematics.solve_path(pose_from_se3(T), robot.home)
    SetpointLimiter(robot.limits, 0.001).apply(np.zeros(robot.dof))
    zero = np.zeros(robot.dof)
    quintic(zero, zero, zero, zero, zero, zero, 1.0, 0.5)


if __name__ == "__main__":
    warm()
