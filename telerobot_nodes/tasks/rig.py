"""The task rig: executive and physics stepped together, deterministically, as fast as the machine allows.

In each control period the rig reads the sensors, steps the executive, and runs the joint servo and the physics. The
executive gets measured joints, opening and the wrist sensor, with the noise and lag of `Realism`; the judge uses the
state of the physics.
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
from telerobot_nodes.hardware import ARM, ARM_BITS, GRIPPER, SCENE_BITS, MujocoArm, ServoReference, furnish
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import kind_named
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest
from telerobot_nodes.tasks.hand import ScriptedHand
from telerobot_nodes.tasks.measures import Judge, Verdict
from telerobot_nodes.tasks.task import AXES, Step, Task

SERVO_PERIOD = 0.001  # [s]
SETTLE = 0.2  # [s] at rest before the sensor is tared
PREPARING = 0.02  # [s] at rest between two primitives, while the next is prepared


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


class TaskRig:
    """One run of one task. `watch(rig)` is called after every control period; read `executive`, `arm`, `now`."""

    def __init__(self, task: Task, seed: int = 0, watch: Callable[[TaskRig], None] | None = None) -> None:
        self.task, self.seed = task, seed
        self.random = np.random.default_rng(seed)
        self.robot = load_robot(task.robot)
        self.period = round(1.0 / (task.rate * SERVO_PERIOD)) * SERVO_PERIOD
        realism = dataclasses.replace(task.realism, realism_seed=int(self.random.integers(2**31)))
        self.arm = MujocoArm(self.robot, SERVO_PERIOD, task.scene.board, realism, self._furnish)
        self.executive = Executive(self.robot, self.period)
        self.judge = Judge(self.arm.model, self.arm.data, task.success)
        self.now = 0.0
        self.label = ""
        self._hand = ScriptedHand(task.hand, self.random.uniform(0.0, 2.0 * np.pi)) if task.hand else None
        self._hands_on = task.hand.during if task.hand else ()
        self._watch = watch
        self._opening = task.start.opening
        self._q = start_joints(self.robot, task)
        self._actuator = self.arm.model.actuator(GRIPPER).id if self.robot.gripper else -1
        self._most_force = self.arm.model.actuator_forcerange[self._actuator].copy()
        self._place()

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
                request = PrimitiveRequest(number, step.primitive, self._values(step), step.accept)
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

    def _values(self, step: Step) -> dict[str, object]:
        allowed = kind_named(step.primitive).allowed
        return {**{name: value for name, value in self.task.common.items() if name in allowed}, **step.values}

    def _primitive(self, step: Step, request: PrimitiveRequest) -> tuple[Ended, bool]:
        self.label = step.label
        executive = self.executive
        try:
            prepared = executive.prepare(request, self._q.copy(), self.arm.read().gripper)
        except InvalidValueError as error:
            return Ended(step.label, step.primitive, f"REFUSED: {error}", 0.0, {}), False
        self._hold(PREPARING)
        executive.begin(self.now, self._q, prepared)
        while executive.running:
            if self.now > self.task.time_limit:
                executive.stop()
            self._period()
        status = executive.status(self.now)
        reason = Termination(status.reason)
        end = Ended(step.label, step.primitive, reason.name, status.elapsed, dict(status.readings))
        return end, request.accepts(reason)

    def _hold(self, seconds: float) -> None:
        for _ in range(max(round(seconds / self.period), 1)):
            self._period()

    def _period(self) -> None:
        """Run one control period."""
        self.now += self.period
        executive, measured = self.executive, self.arm.read()
        executive.measure(measured.position)
        executive.set_wrench(self.now, measured.wrench_sensor)
        executive.measure_gripper(self.now, measured.gripper)
        if self._hand is not None and self.label in self._hands_on and executive.running:
            moved = self._hand.increment(self.now)
            if moved is not None:
                executive.teleoperate(moved)
        if executive.running:
            executive.step(self.now)
            self._serve(executive.setpoint.q, executive.setpoint.qd, executive.setpoint.qdd)
        else:
            self._serve(self._q, np.zeros(self.robot.dof), np.zeros(self.robot.dof))
        if self._watch is not None:
            self._watch(self)

    def _serve(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        """Run servo and physics for one control period, with the setpoint reached at its end."""
        gripper = self.executive.gripper
        if gripper.width >= 0.0:
            self._opening = gripper.width
        if self._actuator >= 0:
            # the drive moves two fingers, each with half of its force
            most = self._most_force if gripper.force <= 0.0 else 2.0 * gripper.force * np.array([-1.0, 1.0])
            self.arm.model.actuator_forcerange[self._actuator] = np.clip(most, *self._most_force)
        count = round(self.period / SERVO_PERIOD)
        for k in range(count):
            part = (k + 1) / count
            self.arm.command(ServoReference(self._q + part * (q - self._q), qd, qdd, self._opening))
            self.arm.step(self.now)
            self.judge.sample(self.label)
        self._q = q.copy()

    def _furnish(self, spec: mujoco.MjSpec) -> None:
        scene = self.task.scene
        for name in scene.without:
            body = spec.body(name)
            if body is None:
                raise InvalidValueError("scene.without", name, "allowed: a body of the board")
            spec.delete(body)
        furnish(spec, scene.bodies, scene.couplings, (ARM_BITS, SCENE_BITS), ARM + self.robot.tool_frame)

    def _place(self) -> None:
        """Place the arm at the start and the bodies with their pose error, and tare the sensor."""
        self._misplace()
        self.arm.robot = dataclasses.replace(self.robot, home=self._q)
        self.arm.open(0.0)
        felt = []
        for _ in range(max(round(SETTLE / self.period), 2)):
            self._serve(self._q, np.zeros(self.robot.dof), np.zeros(self.robot.dof))
            felt.append(self.arm.read().wrench_sensor)
        self.executive.measure(self.arm.read().position)
        self.executive.set_wrench(0.0, np.mean(felt[len(felt) // 2 :], axis=0))
        self.executive.tare()

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


def start_joints(robot: RobotModel, task: Task) -> FloatArray:
    """Joints (dof,) [rad] of the task's start. Raises OutOfReachError."""
    near = np.array(task.start.near) if task.start.near else np.array(robot.home)
    near = robot.limits.check_position(near, "start.near")
    return Kinematics(robot).solve(se3_from_pose(task.start.pose, "start.pose"), near)


def _direction(random: np.random.Generator, axes: Sequence[str]) -> FloatArray:
    """A random unit vector (3,) in the space of some axes, uniformly distributed."""
    v = random.standard_normal(3) * [axis in axes for axis in AXES]
    return np.asarray(v / np.linalg.norm(v))
