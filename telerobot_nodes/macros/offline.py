"""A macro on an arm in physics, without a graph: the robot's own executive, as fast as the machine allows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, in_range, pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import ARM, MujocoArm
from telerobot_nodes.macros.binding import BoundStep
from telerobot_nodes.macros.bound_values import Context
from telerobot_nodes.macros.play import NOT_SERVED, REFUSED, Ended
from telerobot_nodes.motion.primitives import PrimitiveRequest
from telerobot_nodes.tasks import SERVO_PERIOD, PrimitiveRig

PERIOD = 0.002  # [s] of the control loop
LONGEST_DELAY = 3600.0  # [s] to the robot
LONGEST = 600.0  # [s] of simulated time for one step


class OfflineRobot:
    """An arm before the task board that takes the steps of a macro."""

    def __init__(
        self, robot: RobotModel, q: FloatArray | None = None, board: bool = True, one_way: float = 0.0
    ) -> None:
        """`q` (dof,) [rad]: where it starts; None: home. `one_way`: delay [s] of each step and of its end.

        Raises InvalidValueError for a delay that is none.
        """
        in_range(one_way, "delay", 0.0, LONGEST_DELAY, "s, one way")
        self.camera_pose: tuple[float, ...] = ()  # (7,) in WORLD, for expressions; empty: there is none
        opening = robot.gripper.max_opening if robot.gripper else 0.0
        arm = MujocoArm(robot, SERVO_PERIOD, board)
        self.rig = PrimitiveRig(robot, PERIOD, arm, robot.home if q is None else q, opening)
        self.rig.place()
        self._numbers = count(1)
        self._one_way = one_way

    def follow(self, show: Callable[[float, FloatArray], None], period: float) -> None:
        """Show time [s] and measured joints (dof,) [rad] every `period` [s] of simulated time."""
        rig, every, steps = self.rig, max(round(period / PERIOD), 1), count()

        def after_step() -> None:
            if next(steps) % every == 0:
                show(rig.now, rig.arm.read().position.copy())

        rig.after_step = after_step  # type: ignore[method-assign]

    def context(self) -> Context:
        """Tool, joints and bodies as they are now."""
        rig, model, data = self.rig, self.rig.arm.model, self.rig.arm.data
        q = rig.arm.read().position.copy()
        objects = {}
        for body in range(1, model.nbody):
            name = model.body(body).name
            if name and not name.startswith(ARM):
                w, x, y, z = data.xquat[body]
                objects[name] = {"pose": (*data.xpos[body].tolist(), x, y, z, w)}
        return Context(pose_from_se3(rig.robot.forward(q)), q, objects, self.camera_pose)

    def send(self, step: BoundStep) -> Ended:
        """Run one step to its end. Texts need a decision unit, which is not here."""
        if step.text:
            return Ended(NOT_SERVED, "a text needs a running graph")
        self._travel()
        try:
            request = PrimitiveRequest(next(self._numbers), step.step.primitive, step.values)
        except InvalidValueError as error:
            return Ended(REFUSED, str(error))
        end = self.rig.execute(request, self.rig.now + LONGEST)
        self._travel()
        if end.refusal:
            return Ended(REFUSED, end.refusal)
        return Ended(end.reason.name.lower(), "", end.elapsed)

    def _travel(self) -> None:
        """Keep still while a message crosses the link."""
        if self._one_way > 0.0:
            self.rig.hold(self._one_way)
