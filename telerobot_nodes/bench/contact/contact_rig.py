"""The executive against a plate of known stiffness, in physics, with the delays of the graph: measurements every 5 ms.

The plate's contact is a spring and a damper; the plate can be shaken, and the work the arm takes up is summed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import Hand, RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware import ARM, Hardware, MujocoArm, Realism, Setpoint
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest

_BOX, _SPHERE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_SPHERE
_SLIDE = mujoco.mjtJoint.mjJNT_SLIDE
CONTROL_PERIOD = 0.002  # [s] of the law, the loop's default
TICK = 0.005  # [s] between measurements, as `hardware_interface` publishes them
PLACE = np.array([0.60, 0.08, 0.24])  # [m] middle of the plate's face, WORLD
IMPEDANCE = 0.02  # [-] MuJoCo's d of the contact
LOSS, EFFECTIVE_MASS = 0.1, 10.0  # [-], [kg] of the contact's damping
# MuJoCo presses a contact harder the faster it slides, by friction times the damping of the friction: next to none
# here, and the friction's impedance (impratio) raised instead, so that what sticks does not creep
FRICTION_DAMPING, FRICTION_SHARPNESS = 1.0, 100.0  # [1/s], [-]
TIP_RADIUS = 0.006  # [m]
DEEPEST = 20.0  # [N] on a soft plate: the tip's radius is the depth at this force, for a sphere must not sink in whole
TIP_BEYOND = 0.02  # [m] the tip reaches beyond the tool frame
TOOL_IN_GRIPPER = 0.11  # [m]
GRIP = 0.02  # [m] opening of the fingers
PLATE_MASS = 1e5  # [kg] nothing moves it


class PlateArm(MujocoArm):
    """Physics of the arm above a plate whose height is `amplitude` sin(2 pi `frequency` t)."""

    def __init__(self, robot: RobotModel, stiffness: float, realism: Realism) -> None:
        super().__init__(
            robot, task_board=False, realism=realism, furnish=lambda spec: _add_plate(spec, realism, stiffness)
        )
        _set_stiffness(self.model, stiffness)
        self.amplitude, self.frequency = 0.0, 1.0  # [m], [Hz]
        self.work = 0.0  # [J] the contact did on the arm along the normal
        self._phase = 0.0
        self._plate, self._tip = self.model.joint("plate_joint"), self.model.body("tip").id
        self._velocity = np.zeros(6)

    @property
    def contact_force(self) -> float:
        """Normal force on the plate [N] in the latest step."""
        wrench, total = np.zeros(6), 0.0
        for i in range(self.data.ncon):
            mujoco.mj_contactForce(self.model, self.data, i, wrench)
            total += float(wrench[0])
        return total

    def step(self, now: float) -> None:
        """Advance the physics by one period, with the plate at its height."""
        rate = 2.0 * np.pi * self.frequency
        height, speed = self.amplitude * np.sin(self._phase), self.amplitude * rate * np.cos(self._phase)
        self.data.qpos[self._plate.qposadr[0]], self.data.qvel[self._plate.dofadr[0]] = height, speed
        super().step(now)
        period = self.model.opt.timestep
        self._phase += rate * period
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, self._tip, self._velocity, 0)
        self.work += self.contact_force * float(self._velocity[5]) * period


class ContactRig:
    """One arm above a plate; `force` is the true normal force [N] at each control step."""

    def __init__(
        self, stiffness: float, realism: Realism | None = None, friction: float = 0.5, hand: Hand | None = None
    ) -> None:
        self.robot = dataclasses.replace(load_robot("arm"), hand=hand)
        self.arm = PlateArm(self.robot, stiffness, dataclasses.replace(realism or Realism(), friction=friction))
        self.hardware = Hardware(self.robot, arm=self.arm)
        self.now, self._next_tick, self._number = 10.0, 10.0, 0
        self.hardware.open(self.now)
        self.executive = Executive(self.robot, CONTROL_PERIOD)
        self.force: list[float] = []
        self.q = np.array(self.robot.home)

    def go_over(self, height: float) -> None:
        """Put the tip at `height` [m] above the plate, at rest, and tare the sensor."""
        above = PLACE + np.array([0.0, 0.0, height + TIP_BEYOND])
        T = pin.SE3(self.robot.forward(self.robot.home).rotation, above)
        free = {"max_force_thres": 0.0, "max_torque_thres": 0.0, "end_time": 0.5}
        self.run("gcm", {"tr_tn_dest": pin.SE3ToXYZQUAT(T).tolist(), "time_vel_val": 0.2, **free})
        self.hardware.tare()
        self._measure()
        self.executive.tare()

    def start(self, primitive: str, values: Mapping[str, Any]) -> None:
        """Begin a primitive at the present pose; stop a running one first."""
        while self.executive.running:
            self.executive.stop()
            self.step()
        self.force.clear()
        self.executive.begin(self.now, self.q, self.executive.prepare(PrimitiveRequest(1, primitive, values), self.q))

    def run(self, primitive: str, values: Mapping[str, Any]) -> None:
        """Run a primitive from start to end."""
        self.start(primitive, values)
        while self.step():
            pass

    def press(self, force: float, seconds: float, **values: Any) -> None:
        """Control force along the tool for a time; the operator may move across."""
        law = {"sel_vect_fc": [0, 0, 1, 0, 0, 0], "force_setpoints": [0, 0, force, 0, 0, 0], "end_time": 1000.0}
        self.start(
            "gcm", {**law, "sel_vect_tp": [1, 1, 0, 0, 0, 0], "max_force_thres": 0, "max_torque_thres": 0, **values}
        )
        self.go_on(seconds)

    def go_on(self, seconds: float, hand: FloatArray | None = None) -> None:
        """Step for a time; `hand` (6,) [m/s], [rad/s]: velocity of the operator's device, reached within 0.2 s."""
        for i in range(round(seconds / CONTROL_PERIOD)):
            if hand is not None:
                self.executive.teleoperate(hand * CONTROL_PERIOD * min(i * CONTROL_PERIOD / 0.2, 1.0))
            self.step()

    def step(self) -> bool:
        """Run one control period; returns False at the primitive's end."""
        self.now += CONTROL_PERIOD
        going = self.executive.step(self.now)
        if going:
            self.q = self.executive.setpoint.q.copy()
        self._send()
        while self._next_tick <= self.now + 1e-9:
            self.hardware.step(self._next_tick)
            self._next_tick += TICK
            self._measure()
        self.force.append(self.arm.contact_force)
        return going

    def _send(self) -> None:
        wanted, still = self.executive.setpoint, np.zeros(self.robot.dof)
        self._number += 1
        going = self.executive.running
        motion = (self.q, wanted.qd.copy() if going else still, wanted.qdd.copy() if going else still)
        setpoint: Any = Setpoint(self._number, self.now, *motion, GRIP)
        self.hardware.command(self.now, setpoint)

    def _measure(self) -> None:
        measured = self.hardware.measured()
        self.executive.measure(measured.position)
        self.executive.set_wrench(self.now, measured.wrench_sensor)


def _add_plate(spec: mujoco.MjSpec, realism: Realism, stiffness: float) -> None:
    """Add a plate whose height is set, a round tip on the gripper, and the only contact pair of both."""
    spec.option.impratio = FRICTION_SHARPNESS
    plate = spec.worldbody.add_body(name="plate", pos=PLACE - np.array([0.0, 0.0, 0.01]), gravcomp=1.0)
    size = [0.15, 0.15, 0.01]
    plate.add_geom(name="plate", type=_BOX, size=size, mass=PLATE_MASS, contype=0, conaffinity=0)
    plate.add_joint(name="plate_joint", type=_SLIDE, axis=[0, 0, 1])
    radius = max(TIP_RADIUS, DEEPEST / stiffness)
    tip = spec.body(ARM + "gripper").add_body(name="tip", pos=[0.0, 0.0, TOOL_IN_GRIPPER + TIP_BEYOND - radius])
    tip.add_geom(name="tip", type=_SPHERE, size=[radius, 0, 0], mass=0.01, contype=0, conaffinity=0)
    spec.add_pair(
        name="touch",
        geomname1="tip",
        geomname2="plate",
        condim=3,
        friction=[realism.friction, realism.friction, 0.005, 1e-4, 1e-4],
        solreffriction=[-1e-6, -FRICTION_DAMPING],
        solimp=[IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0],
    )


def _set_stiffness(model: mujoco.MjModel, stiffness: float) -> None:
    """Give the contact this stiffness [N/m] and LOSS times the critical damping of EFFECTIVE_MASS.

    MuJoCo's contact is f = (a_ref - a_0) / (A + R) with R = A (1 - d) / d: for a small d f = a_ref / R, a spring.
    """
    inverse_mass = float(model.body_invweight0[model.body("tip").id, 0])
    damping = 2.0 * LOSS * np.sqrt(stiffness * EFFECTIVE_MASS)
    scale = (1.0 - IMPEDANCE) * inverse_mass
    model.pair_solref[:] = -stiffness * scale, -damping * scale
