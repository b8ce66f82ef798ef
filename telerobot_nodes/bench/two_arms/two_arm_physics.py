"""Two simulated arms in one physics, each under its own joint servo; MuJoCo's contacts are counted at every step.

What the servos and the planner do not know is set per run (`Mismatch`): payload, dry and viscous friction, noise of
the measurements, obstacles that stand elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from telerobot_nodes.bench.two_arms.two_arm_scene import OBSTACLE, PAYLOAD, SIDES, SolidLike, build_workcell, mocap_pose
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, in_range
from telerobot_nodes.hardware import JointServo


@dataclass(frozen=True)
class Mismatch:
    """Differences between the physics and the models of it. Raises InvalidValueError."""

    payload: tuple[float, ...] = (0.0, 0.0)  # [kg] in each hand
    dry: tuple[float, ...] = (0.0, 0.0)  # [-] friction torque as part of the effort limits, each arm
    viscous: tuple[float, ...] = (0.0, 0.0)  # [-] torque at the velocity limit as part of the effort limits
    position_noise: float = 0.0  # [rad] standard deviation of measured positions
    velocity_noise: float = 0.0  # [rad/s]
    poses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # true poses of obstacles that were moved

    def __post_init__(self) -> None:
        for name, most in (("payload", 5.0), ("dry", 0.5), ("viscous", 0.5)):
            for value in finite_array(getattr(self, name), name, len(SIDES)):
                in_range(float(value), name, 0.0, most)
        in_range(self.position_noise, "position_noise", 0.0, 0.1, "rad")
        in_range(self.velocity_noise, "velocity_noise", 0.0, 1.0, "rad/s")


@dataclass(frozen=True)
class Touch:
    """Two bodies in contact from `begin` to `end` [s], `depth` [m] at worst."""

    first: str
    second: str
    begin: float
    end: float
    depth: float


class TwoArmPhysics:
    """Both arms in one physics; `robots`: left, right, at their places. One thread.

    `nearest` [m]: smallest distance between an arm and what it must not touch so far, as MuJoCo's narrow phase gives
    it; inf while it never was below
    twice `SEEN`.
    """

    def __init__(
        self,
        robots: Sequence[RobotModel],
        obstacles: Sequence[SolidLike],
        period: float = 0.001,
        bandwidth: float = 25.0,
        seed: int = 0,
    ) -> None:
        self.robots, self.period = list(robots), period
        self.obstacles = list(obstacles)
        self.model = build_workcell(obstacles, period)
        self.data = mujoco.MjData(self.model)
        joints = [[self.model.joint(f"{s}_{n}") for n in r.joint_names] for s, r in zip(SIDES, robots, strict=True)]
        self._q_address = [np.array([j.qposadr[0] for j in row]) for row in joints]
        self._v_address = [np.array([j.dofadr[0] for j in row]) for row in joints]
        self._bandwidth = bandwidth
        self._noise = np.random.default_rng(seed)
        self.reset([np.array(r.home) for r in robots], Mismatch(), seed)

    def reset(self, q: Sequence[FloatArray], mismatch: Mismatch, seed: int = 0) -> None:
        """Restart at rest at `q` with the obstacles and loads of `mismatch`; clears the contacts."""
        self._noise, self._mismatch = np.random.default_rng(seed), mismatch
        mujoco.mj_resetData(self.model, self.data)
        for i, side in enumerate(SIDES):
            self._load(i, side, mismatch)
            self.data.qpos[self._q_address[i]] = q[i]
        for obstacle in self.obstacles:
            self.place(obstacle.name, mismatch.poses.get(obstacle.name, obstacle.pose))
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
        self.servos = [JointServo(robot, self._bandwidth) for robot in self.robots]
        self.effort = [np.zeros(robot.dof) for robot in self.robots]
        self._reference = [(np.array(row), np.zeros(row.size), np.zeros(row.size)) for row in q]
        self._open: dict[tuple[str, str], tuple[float, float, float]] = {}
        self._closed: list[Touch] = []
        self.nearest = np.inf
        mujoco.mj_forward(self.model, self.data)

    def _load(self, i: int, side: str, mismatch: Mismatch) -> None:
        body, limits = self.model.body(side + PAYLOAD).id, self.robots[i].limits
        mass = max(mismatch.payload[i], 1e-6)
        self.model.body_mass[body] = mass
        self.model.body_inertia[body] = 0.4 * mass * 0.03**2
        self.model.dof_frictionloss[self._v_address[i]] = mismatch.dry[i] * limits.effort
        self.model.dof_damping[self._v_address[i]] = mismatch.viscous[i] * limits.effort / limits.velocity

    def place(self, name: str, pose: Sequence[float]) -> None:
        """Move an obstacle."""
        mocap = int(self.model.body(OBSTACLE + name).mocapid[0])
        self.data.mocap_pos[mocap], self.data.mocap_quat[mocap] = mocap_pose(pose)

    @property
    def time(self) -> float:
        """Time since `reset` [s]."""
        return float(self.data.time)

    def measured(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Positions [rad] and velocities [rad/s] of both arms, with the noise of the measurement."""
        m, draw = self._mismatch, self._noise.standard_normal
        q = [self.data.qpos[a] + m.position_noise * draw(a.size) for a in self._q_address]
        v = [self.data.qvel[a] + m.velocity_noise * draw(a.size) for a in self._v_address]
        return q, v

    def true_position(self, i: int) -> FloatArray:
        """Joint positions of one arm [rad], without noise."""
        return np.array(self.data.qpos[self._q_address[i]])

    def command(self, setpoints: Sequence[tuple[FloatArray, FloatArray, FloatArray]]) -> None:
        """Set the position, velocity and acceleration that each servo follows."""
        self._reference = [(a.copy(), b.copy(), c.copy()) for a, b, c in setpoints]

    def step(self, duration: float) -> None:
        """Advance by `duration` [s]; references continue at their velocity."""
        for _ in range(round(duration / self.period)):
            for i, servo in enumerate(self.servos):
                q, v, a = self._reference[i]
                address = self._v_address[i]
                torque = servo.torque(self.data.qpos[self._q_address[i]], self.data.qvel[address], q, v, a)
                self.effort[i][:] = torque
                self.data.qfrc_applied[address] = torque
                q += self.period * v
            mujoco.mj_step(self.model, self.data)
            if self.data.ncon or self._open:
                self._bound_motion()

    def touches(self) -> list[Touch]:
        """Return every contact so far, including present ones."""
        now = self.time
        return self._closed + [Touch(a, b, t, now, d) for (a, b), (t, _, d) in self._open.items()]

    def _bound_motion(self) -> None:
        """Record the contacts of the last step: episodes of touching pairs, and the distance of the others."""
        now, model = self.time, self.model
        contact = self.data.contact
        if self.data.ncon:
            self.nearest = min(self.nearest, float(contact.dist.min()))
        for k in np.flatnonzero(contact.dist < 0.0):
            names = sorted(model.body(int(model.geom_bodyid[g])).name for g in contact.geom[k])
            begin, _, depth = self._open.get((names[0], names[1]), (now, now, 0.0))
            self._open[names[0], names[1]] = (begin, now, max(depth, -float(contact.dist[k])))
        for pair, (begin, last, depth) in list(self._open.items()):
            if last < now:
                del self._open[pair]
                self._closed.append(Touch(*pair, begin, last, depth))
