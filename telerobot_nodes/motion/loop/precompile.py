"""Warm-up of a control loop: compiles and loads everything it may need before it moves an arm."""

from __future__ import annotations

import pickle

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.motion.loop.control_step import ControlStep
from telerobot_nodes.motion.loop.orders import Begin
from telerobot_nodes.motion.primitives import PrimitiveRequest

_SMALL = 0.01  # [m], [rad] size of the motions
_STEPS = 40


def warm_up(robot: RobotModel, period: float) -> None:
    """Run a little of each kind of primitive on a temporary control step."""
    control = ControlStep(robot, period)
    now, q = 1.0, robot.home.copy()
    control.measure(now, q, np.zeros(robot.dof))
    control.step(now)
    up = [0.0, 0.0, _SMALL, 0.0, 0.0, 0.0, 1.0]
    felt = {"comply_vect": [True] * 6, "max_force_thres": 50.0}
    tries = (
        ("gcm", {**felt, "tr_rel_dest": up, "guard_plane": [0.0, 0.0, -90.0, 0.0, 0.0, 1.0]}),
        ("joint_guarded", {"joint_dest": (q + _SMALL).tolist()}),
        ("joint_path", {"via_points": np.concatenate((q + _SMALL, q)).tolist()}),
        ("move_to_touch", {"tr_rel_dest": up}),
    )
    for number, (name, values) in enumerate(tries, start=1):
        prepared = control.primitives.executive.prepare(PrimitiveRequest(number, name, values), control.output.q)
        order: Begin = pickle.loads(pickle.dumps(Begin(number, prepared)))
        control.begin(now, number, order.prepared)
        for i in range(_STEPS):
            now += period
            control.measure(now, control.output.q, control.output.qd)
            control.set_wrench(now, np.full(6, 1e-3 * (i % 2)))
            control.step(now)
        control.stop("warm-up")
        while control.primitives.running or np.abs(control.output.qd).max() > 0.0:
            now += period
            control.measure(now, control.output.q, control.output.qd)
            control.step(now)
