"""Forward simulation and the estimate of the robot's present state [US5046022, US5231693]."""

from __future__ import annotations

from telerobot_nodes.simulation.estimate import PresentEstimator, RobotReport
from telerobot_nodes.simulation.forward import ArmState, ForwardSimulator, PathLine
from telerobot_nodes.simulation.motion import SimulatedMotion

__all__ = [
    "ArmState",
    "ForwardSimulator",
    "PathLine",
    "PresentEstimator",
    "RobotReport",
    "SimulatedMotion",
]
