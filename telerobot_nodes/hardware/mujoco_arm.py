"""Driver of a simulated arm: MuJoCo physics under the joint servo, one physics step per servo period."""

from __future__ import annotations

import mujoco
import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware.interface import Measured, ServoReference
from telerobot_nodes.hardware.kept_pose import ArmPose
from telerobot_nodes.hardware.realism import Realism, WristSensor
from telerobot_nodes.hardware.scene import ARM, FINGER_FORCE, FORCE, TORQUE, Furnish, build_scene
from telerobot_nodes.hardware.servo import JointServo


class MujocoArm:
    """`ArmHardware` in physics: starts at rest at `start`, by default home with open fingers. Use from one thread.

    `furnish` may add to the scene (`build_scene`). `model` and `data` are the physics, for the judge of a task.
    """

    def __init__(
        self,
        robot: RobotModel,
        period: float = 0.001,
        task_board: bool = True,
        realism: Realism | None = None,
        furnish: Furnish | None = None,
        start: ArmPose | None = None,
    ) -> None:
        self.robot = robot
        self.realism = realism or Realism()
        self.model = build_scene(robot, period, task_board, self.realism, furnish)
        self.data = mujoco.MjData(self.model)
        self.servo = JointServo(robot, self.realism.servo_bandwidth)
        self._sensor = WristSensor(self.realism, period)
        self._torque_share = period / (period + self.realism.servo_lag)
        joints = [self.model.joint(ARM + name) for name in robot.joint_names]
        self._q_address = np.array([joint.qposadr[0] for joint in joints])
        self._v_address = np.array([joint.dofadr[0] for joint in joints])
        self._fingers = self._finger_addresses()
        self._finger_range = self.model.actuator_forcerange[0] if self._fingers.size else np.zeros(2)  # [N], a view
        names = {body: self.model.body(body).name for body in range(1, self.model.nbody)}
        self._bodies = {body: name for body, name in names.items() if name and not name.startswith(ARM)}
        self._force = int(self.model.sensor(FORCE).adr[0])
        self._torque = int(self.model.sensor(TORQUE).adr[0])
        self._qpos, self._qvel, self._sensed = self.data.qpos, self.data.qvel, self.data.sensordata  # views
        self._true = np.zeros(6)
        self._given_start = start
        self._q = self._start.position.copy()
        self._qd = np.zeros(robot.dof)
        self._effort = np.zeros(robot.dof)
        self._felt = np.zeros(6)
        self._reference = self._resting()
        self._time = 0.0

    @property
    def healthy(self) -> str:
        """Empty while the state of the physics is finite."""
        return "" if np.isfinite(self.data.qpos).all() else "physics diverged: joint positions are not finite"

    @property
    def position(self) -> FloatArray:
        """Joint positions (dof,) [rad] after the latest step; a view."""
        return self._q

    def open(self, now: float) -> None:
        """Place the arm at its start, at rest."""
        mujoco.mj_resetData(self.model, self.data)
        self._q[:] = self._start.position
        self._qd[:] = 0.0
        self.data.qpos[self._q_address] = self._q
        if self.robot.gripper is not None:
            self.data.qpos[self._fingers] = 0.5 * self._start.gripper
        self._reference = self._resting()
        self._time = now
        still = self._reference
        self._drive_fingers(still)
        # gravity is compensated from the start, otherwise the wrist sensor would read a falling gripper
        self._effort[:] = self.servo.torque(self._q, self._qd, still.position, still.velocity, still.acceleration)
        self.data.qfrc_applied[self._v_address] = self._effort
        mujoco.mj_forward(self.model, self.data)
        self._felt = self._sensor.reading(self._wrench())

    def read(self) -> Measured:
        """Joints, torques, wrench and gripper after the latest step."""
        return Measured(
            self._time, self._q.copy(), self._qd.copy(), self._effort.copy(), self._felt.copy(), self._opening()
        )

    def command(self, reference: ServoReference) -> None:
        """Set the reference of the next step."""
        self._reference = reference

    def step(self, now: float) -> None:
        """Advance physics by one period, which ends at `now` [s]."""
        data, wanted = self.data, self._reference
        torque = self.servo.torque(self._q, self._qd, wanted.position, wanted.velocity, wanted.acceleration)
        self._effort += self._torque_share * (torque - self._effort)
        data.qfrc_applied[self._v_address] = self._effort
        self._drive_fingers(wanted)
        mujoco.mj_step(self.model, data)
        self._qpos.take(self._q_address, out=self._q, mode="clip")  # writes without a buffer
        self._qvel.take(self._v_address, out=self._qd, mode="clip")
        self._felt = self._sensor.reading(self._wrench())
        self._time = now

    def loose(self) -> dict[str, FloatArray]:
        """Poses (7,) in WORLD of the free objects of the scene, by name."""
        found = {}
        for joint in range(self.model.njnt):
            if self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
                at = self.model.jnt_qposadr[joint]
                x, y, z, w, *v = self.data.qpos[at : at + 7]
                found[self.model.body(self.model.jnt_bodyid[joint]).name] = np.array((x, y, z, *v, w))
        return found

    def engage(self) -> str:
        """Do nothing: the simulated arm takes references while its physics is finite."""
        return self.healthy

    def scene(self) -> dict[str, tuple[float, float]]:
        """Of each body: position of its hinge or slide [rad], [m] (0: none), and force of the arm on it [N]."""
        model = self.model
        force, pressed = np.zeros(6), dict.fromkeys(self._bodies, 0.0)
        found = {}
        for i in range(self.data.ncon):
            mujoco.mj_contactForce(model, self.data, i, force)
            bodies = [int(model.geom_bodyid[geom]) for geom in self.data.contact.geom[i]]
            of_scene = [body for body in bodies if body in self._bodies]
            if len(of_scene) == 1:  # the other one is the arm's
                pressed[of_scene[0]] += float(np.linalg.norm(force[:3]))
        for body, name in self._bodies.items():
            joint = int(model.body_jntadr[body])
            moves = joint >= 0 and model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE
            at = float(self.data.qpos[model.jnt_qposadr[joint]]) if moves else 0.0
            found[name] = (at, pressed[body])
        return found

    def close(self) -> None:
        """Do nothing."""

    @property
    def _start(self) -> ArmPose:
        if self._given_start is not None:
            return self._given_start
        return ArmPose(np.array(self.robot.home), self.robot.gripper.max_opening if self.robot.gripper else 0.0)

    def _resting(self) -> ServoReference:
        zero = np.zeros(self.robot.dof)
        return ServoReference(self._start.position.copy(), zero, zero, self._start.gripper)

    def _finger_addresses(self) -> FloatArray:
        gripper = self.robot.gripper
        names = gripper.joints if gripper else ()
        return np.array([self.model.joint(ARM + name).qposadr[0] for name in names], dtype=int)

    def _drive_fingers(self, wanted: ServoReference) -> None:
        if not self._fingers.size:
            return
        self.data.ctrl[0] = 0.5 * wanted.gripper
        drive = 2.0 * wanted.gripper_force  # moves two fingers, each with half of its force
        most = min(drive, FINGER_FORCE) if drive > 0.0 else FINGER_FORCE
        self._finger_range[0], self._finger_range[1] = -most, most

    def _opening(self) -> float:
        return float(self.data.qpos[self._fingers].sum()) if self._fingers.size else 0.0

    def _wrench(self) -> FloatArray:
        """The true wrench (6,) at the sensor; the array is the arm's own."""
        self._true[:3] = self._sensed[self._force : self._force + 3]
        self._true[3:] = self._sensed[self._torque : self._torque + 3]
        return self._true
