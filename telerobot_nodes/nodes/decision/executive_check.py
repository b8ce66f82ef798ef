"""The executive's own check of primitives, for the binder: what it passes, the robot does not refuse."""

from __future__ import annotations

from collections.abc import Mapping

import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.motion.primitives import PrimitiveRequest, check_request, values_from
from telerobot_nodes.nodes.decision.executive_goals import goals_of
from telerobot_nodes.rtc.skills import Primitive

_ANSWERED_HERE = frozenset(("sense", "tare", "hand_over"))  # by the arm's proxy; the executive never sees them


class ExecutiveChecks:
    """`world.ExecutiveCheck` of named arms, by the function that their executives check with."""

    def __init__(self, robots: Mapping[str, RobotModel]) -> None:
        self._robots = dict(robots)

    def check_primitive(self, arm: str, primitive: Primitive) -> None:
        """Check every goal that the primitive becomes, as its message arrives. Raises InvalidValueError."""
        if primitive.executive in _ANSWERED_HERE:
            return
        robot = self._robots[arm]
        for goal in goals_of(primitive, robot, pin.SE3.Identity()):
            check_request(robot, PrimitiveRequest(primitive.number, goal.name, values_from(*goal.texts)))
