"""The task rig: primitives in physics, with displaced bodies, a scripted hand, and a judge.

The executive gets measured joints, opening and the wrist sensor, with the noise and lag of `Realism`; the judge uses
the state of the physics.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import Kinematics, RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import ARM, ARM_BITS, SCENE_BITS, MujocoArm, furnish
from telerobot_nodes.motion.primitives import PrimitiveRequest
from telerobot_nodes.tasks.hand import ScriptedHand
from telerobot_nodes.tasks.measures import Judge, Verdict
from telerobot_nodes.tasks.primitive_rig import SERVO_PERIOD, PrimitiveRig
from telerobot_nodes.tasks.task import AXES, Scene, Step, Task


@dataclass(frozen=True)
class Ended:
    """How one primitive of a task ended."""

    label: str
    primitive: str
    reason: str  # Termination, or "REFUSED: field ..."
    elapsed: float  # [s]
    readings: dict[str, float]


@dataclass(frozen=True)
class TaskResult:
    """One run: `verdicts` of the judge, and the end of each primitive."""

    task: str
    seed: int
    success: bool
    verdicts: tuple[Verdict, ...]
    ended: tuple[Ended, ...]
    simulated: float  # [s]
    wall: float  # [s]


class TaskRig(PrimitiveRig):
    """One run of one task. `watch(rig)` is called after every control period; read `executive`, `arm`, `now`."""

    def __init__(self, task: Task, seed: int = 0, watch: Callable[[TaskRig], None] | None = None) -> None:
        self.task, self.seed = task, seed
        self.random = np.random.default_rng(seed)
        robot = load_robot(task.robot)
        period = round(1.0 / (task.rate * SERVO_PERIOD)) * SERVO_PERIOD
        realism = dataclasses.replace(task.realism, realism_seed=int(self.random.integers(2**31)))
        arm = MujocoArm(robot, SERVO_PERIOD, task.scene.board, realism, lambda spec: _furnish(spec, task.scene, robot))
        super().__init__(robot, period, arm, start_joints(robot, task), task.start.opening)
        self.judge = Judge(self.arm.model, self.arm.data, task.success)
        self.label = ""
        self._hand = ScriptedHand(task.hand, self.random.uniform(0.0, 2.0 * np.pi)) if task.hand else None
        self._hands_on = task.hand.during if task.hand else ()
        self._watch = watch
        self._misplace()
        self.place()

    def run(self) -> TaskResult:
        """Run the whole task. Errors of its file are raised; rejections by the executive are part of the result."""
        began = time.perf_counter()
        self.judge.begin()
        ended: list[Ended] = []
        number = 0
        for step in self.task.primitives:
            goes_on = True
            for _ in range(step.repeat):
                number += 1
                request = PrimitiveRequest(number, step.primitive, self.task.values(step), step.accept)
                end, goes_on = self._primitive(step, request)
                ended.append(end)
                if not goes_on:
                    break
            if not goes_on:
                break
        verdicts = self.judge.verdicts(SERVO_PERIOD)
        wall = time.perf_counter() - began
        success = all(verdict.met for verdict in verdicts)
        return TaskResult(self.task.name, self.seed, success, verdicts, tuple(ended), self.now, wall)

    def _primitive(self, step: Step, request: PrimitiveRequest) -> tuple[Ended, bool]:
        self.label = step.label
        end = self.execute(request, self.task.time_limit)
        reason = f"REFUSED: {end.refusal}" if end.refusal else end.reason.name
        ended = Ended(step.label, step.primitive, reason, end.elapsed, dict(end.readings))
        return ended, not end.refusal and request.accepts(end.reason)

    def before_step(self) -> None:
        """Let the hand move the tool."""
        if self._hand is not None and self.label in self._hands_on and self.executive.running:
            moved = self._hand.increment(self.now)
            if moved is not None:
                self.executive.teleoperate(moved)

    def after_physics(self) -> None:
        """Sample the measures of success."""
        self.judge.sample(self.label)

    def after_step(self) -> None:
        """Call the watcher."""
        if self._watch is not None:
            self._watch(self)

    def _misplace(self) -> None:
        """Displace the bodies of the pose error in a random direction, by its distance and angle."""
        error, model = self.task.error, self.arm.model
        offset = _direction(self.random, error.along) * error.distance
        axis = _direction(self.random, error.turn) * error.angle
        about = np.array(error.about)
        T = pin.SE3(np.eye(3), about + offset) * pin.SE3(pin.exp3(axis), np.zeros(3)) * pin.SE3(np.eye(3), -about)
        for name in error.bodies:
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            if body < 0 or int(model.body_parentid[body]) != 0:
                raise InvalidValueError("error.bodies", name, "allowed: bodies that stand in the world")
            w, x, y, z = model.body_quat[body]
            moved = T * pin.SE3(pin.Quaternion(w, x, y, z).toRotationMatrix(), model.body_pos[body].copy())
            x, y, z, w = pin.Quaternion(moved.rotation).coeffs()
            model.body_pos[body], model.body_quat[body] = moved.translation, (w, x, y, z)
            self._move_free(body, moved)

    def _move_free(self, body: int, T: pin.SE3) -> None:
        """Let a free body start at `T`."""
        model = self.arm.model
        joint = int(model.body_jntadr[body])
        if joint >= 0 and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            address = int(model.jnt_qposadr[joint])
            x, y, z, w = pin.Quaternion(T.rotation).coeffs()
            model.qpos0[address : address + 7] = (*T.translation, w, x, y, z)


def _furnish(spec: mujoco.MjSpec, scene: Scene, robot: RobotModel) -> None:
    for name in scene.without:
        body = spec.body(name)
        if body is None:
            raise InvalidValueError("scene.without", name, "allowed: a body of the board")
        spec.delete(body)
    furnish(spec, scene.bodies, scene.couplings, (ARM_BITS, SCENE_BITS), ARM + robot.tool_frame)


def start_joints(robot: RobotModel, task: Task) -> FloatArray:
    """Joints (dof,) [rad] of the task's start. Raises OutOfReachError."""
    near = np.array(task.start.near) if task.start.near else np.array(robot.home)
    near = robot.limits.check_position(near, "start.near")
    return Kinematics(robot).solve(se3_from_pose(task.start.pose, "start.pose"), near)


def _direction(random: np.random.Generator, axes: Sequence[str]) -> FloatArray:
    """A random unit vector (3,) in the space of some axes, uniformly distributed."""
    v = random.standard_normal(3) * [axis in axes for axis in AXES]
    return np.asarray(v / np.linalg.norm(v))
