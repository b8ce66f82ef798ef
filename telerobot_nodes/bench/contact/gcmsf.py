"""Benchmark of the compliant motion law: one step with every source on, compared with other controllers.

Beside it in the same run: an admittance step written in plain numpy over pinocchio (one source, one frame), and
Pink's inverse kinematics step where it is installed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import report
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Fusion, InputJoint, InputSix
from telerobot_nodes.motion.parameters import GcmsfParameters, parameters_from
from telerobot_nodes.motion.primitives import Primitive

ARMS = {6: "arm", 7: "panda"}
PERIOD = 0.002  # [s]
GOAL = 50.0  # [us]


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `steps` (20000) timed for each, `seed` (1) of the wrenches."""
    options = options or {}
    steps, seed = int(options.get("steps", 20_000)), int(options.get("seed", 1))
    figures: dict[str, Any] = {}
    for dof, name in ARMS.items():
        robot = load_robot(name)
        wrenches = np.random.default_rng(seed).normal(scale=(3, 3, 3, 0.2, 0.2, 0.2), size=(steps, 6))
        figures[f"{dof}_dof"] = {
            "law_all_sources": _time(_law(robot, wrenches), steps),
            "primitive_all_sources": _time(_primitive(robot, wrenches), steps),
            "numpy_admittance": _time(_admittance(robot, wrenches), steps),
        }
        pink = _pink(robot)
        if pink is not None:
            figures[f"{dof}_dof"]["pink_ik"] = _time(pink, min(steps, 3000))
    figures["pink"] = "timed" if importlib.util.find_spec("pink") else "not installed, not timed"
    seven = figures["7_dof"]
    law = seven["law_all_sources"]["median_us"]
    admittance = seven["numpy_admittance"]["median_us"]
    goals = [
        report.goal("full law, all sources, 7 DOF, median", law, "us", "<=", GOAL),
        report.goal("full law against an admittance step in numpy", law / admittance, "times", "<=", 1.0),
    ]
    if "pink_ik" in seven:
        goals.append(report.goal("full law against Pink's IK", law / seven["pink_ik"]["median_us"], "times", "<=", 1.0))
    return report.result(report.conditions(seed), figures, goals)


def all_sources(dof: int) -> GcmsfParameters:
    """Return parameters in which every source of motion is active."""
    return parameters_from(
        {
            "mass_prop": [1.0, 0.0, 0.0, 0.05],
            "tr_nom": [0.0, 0.0, 0.05, 0, 0, 0, 1],
            "sel_vect_fc": [0, 0, 1, 0, 0, 0],
            "force_setpoints": [0, 0, 5, 0, 0, 0],
            "comply_vect": [1, 1, 0, 1, 1, 1],
            "max_force_thres": 1e4,
            "max_torque_thres": 1e4,
            "sel_vect_tp": [1] * 6,
            "tele_mode": "camera",
            "dither_mag": [1e-4] * 6,
            "sel_vect_sp": [1] * 6,
            "sel_vect_lim": [1] * dof,
            "sel_vect_sing": True,
            "js_gain": [1e-5, 1e-5],
            "js_theta": [3.0, 3.0],
            "end_time": 3600.0,
        }
    )


def _time(step: Callable[[int], None], steps: int) -> dict[str, float]:
    taken = np.empty(steps)
    for i in range(steps):
        began = time.perf_counter()
        step(i)
        taken[i] = time.perf_counter() - began
    return report.quantiles(taken[min(100, steps // 2) :])


def _law(robot: RobotModel, wrenches: FloatArray) -> Callable[[int], None]:
    fusion = Fusion(robot, PERIOD, all_sources(robot.dof))
    inputs = fusion.inputs
    hand = np.array([1e-5, -1e-5, 1e-5, 1e-5, 1e-5, -1e-5])
    base = robot.home.copy()

    def step(i: int) -> None:
        inputs.joint[InputJoint.Q_NOMINAL] = base
        inputs.joint[InputJoint.Q_MEASURED] = fusion.q
        inputs.six[InputSix.WRENCH] = wrenches[i]
        inputs.six[InputSix.TELE] = hand if i % 2000 < 1000 else -hand
        fusion.advance(i * PERIOD)

    return step


def _primitive(robot: RobotModel, wrenches: FloatArray) -> Callable[[int], None]:
    """Measure a whole control period: also trajectory, ending conditions, joint limits."""
    primitive = Primitive(robot, PERIOD)
    primitive.start(0.0, robot.home, all_sources(robot.dof))
    hand = np.array([1e-5, -1e-5, 1e-5, 1e-5, 1e-5, -1e-5])

    def step(i: int) -> None:
        now = i * PERIOD
        primitive.measure(primitive.setpoint.q)
        primitive.set_wrench(now, wrenches[i])
        primitive.teleoperate(hand if i % 2000 < 1000 else -hand)
        if not primitive.step(now):
            raise InvalidValueError("primitive", primitive.reason.name, "allowed: running, to be timed")

    return step


def _admittance(robot: RobotModel, wrenches: FloatArray) -> Callable[[int], None]:
    """Mass-damper-spring in the tool frame, damped inverse with null space, velocity and position limits."""
    model, data, frame = robot.model, robot.new_data(), robot.tool_frame_id
    q, T_goal = robot.home.copy(), robot.forward(robot.home)
    mass, damping, stiffness = np.full(6, 5.0), np.full(6, 200.0), np.full(6, 300.0)
    twist, limits, one = np.zeros(6), robot.limits, np.eye(6)

    def step(i: int) -> None:
        nonlocal q, twist
        pin.computeJointJacobians(model, data, q)
        T = pin.updateFramePlacement(model, data, frame)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
        error = pin.log6(T.actInv(T_goal)).vector
        twist = twist + PERIOD * (-wrenches[i] - damping * twist + stiffness * error) / mass
        weight = np.linalg.solve(J @ J.T + 1e-4 * one, np.column_stack((twist, J @ (robot.home - q))))
        rate = J.T @ (weight[:, 0] - 0.1 * weight[:, 1]) + 0.1 * (robot.home - q)
        rate = np.clip(rate, -limits.velocity, limits.velocity)
        q = np.clip(q + PERIOD * rate, limits.lower, limits.upper)

    return step


def _pink(robot: RobotModel) -> Callable[[int], None] | None:
    """Measure one `solve_ik` of Pink with a frame and a posture task; None if Pink is not installed."""
    if importlib.util.find_spec("pink") is None or importlib.util.find_spec("qpsolvers") is None:
        return None
    import pink  # type: ignore[import-not-found]
    import qpsolvers  # type: ignore[import-not-found]

    solver = "quadprog" if "quadprog" in qpsolvers.available_solvers else qpsolvers.available_solvers[0]
    configuration = pink.Configuration(robot.model, robot.new_data(), robot.home.copy())
    task = pink.FrameTask(robot.tool_frame, position_cost=1.0, orientation_cost=1.0)
    task.set_target_from_configuration(configuration)
    posture = pink.PostureTask(cost=1e-3)
    posture.set_target(robot.home)

    def step(i: int) -> None:
        velocity = pink.solve_ik(configuration, [task, posture], PERIOD, solver=solver)
        configuration.integrate_inplace(velocity, PERIOD)

    return step
