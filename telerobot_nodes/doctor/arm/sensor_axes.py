"""The wrist sensor's axes and the weight it bears, from the same hand in several poses.

The arm bears a hand: the sensor reads minus its weight, which turns with the sensor. Of all axes that a sensor may be
mounted with (permutations and signs), those of the arm file must explain the readings best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from telerobot_nodes.core.robot import Hand, HandWeight, RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.doctor.arm.lines import Line, Result, failed, warning

CLEAR = 4.0  # [-] of the remaining error: change of force from which the axes are told
UNLIKE = 0.1  # [-] of the change of force: remaining error of other axes than those of the file
OFF = 0.3  # [kg] and
SHARE = 0.3  # [-] of the declared mass by which the hand may weigh otherwise
LETTERS = ("x", "y", "z")


def axes_line(robot: RobotModel, poses: Sequence[tuple[FloatArray, FloatArray]]) -> Line:
    """Judge mean forces (3,) [N] as the driver gives them at joints (dof,) [rad], in several poses."""
    kilogram = HandWeight(replace(robot, hand=Hand(1.0, (0.0, 0.0, 0.0))))
    up = np.array([kilogram.reading(q)[:3].copy() for q, _ in poses])
    force = np.array([wrench for _, wrench in poses])
    fits = {name: _fit(up @ turn.T, force) for name, turn in _mountings().items()}
    best = min(fits, key=lambda name: fits[name][1])
    mass, error = fits[best]
    own_mass, own_error = fits["x y z"]
    change = mass * float(np.linalg.norm(np.ptp(up, axis=0)))
    check = "sensor axes"
    if change < CLEAR * error or len(poses) < 3:
        found = f"not told: the force changes by {change:.2g} N, errors are {error:.2g} N"
        return Line(check, found, Result.NOT_DONE, "hang a known weight of 1 kg on the tool and check again")
    if own_error > max(2.0 * error, UNLIKE * change):
        found = f"the weight of {mass:.2g} kg turns as in axes {best} of `sensor_frame`"
        return failed(check, found, "set `sensor_frame` to the link with the sensor's axes, and `wrench.sign`")
    found = f"as in the arm file; {own_mass:.2g} kg hang on the sensor"
    declared = robot.hand.mass if robot.hand else 0.0
    if abs(own_mass - declared) > max(OFF, SHARE * declared):
        return warning(check, f"{found}, declared are {declared:g} kg", "set `hand` with `mass` and `center`")
    return Line(check, found)


def _fit(up: FloatArray, force: FloatArray) -> tuple[float, float]:
    """Mass [kg], not negative, and remaining error [N] of `force` = bias + mass `up`; rows (n, 3)."""
    a, b = up - up.mean(axis=0), force - force.mean(axis=0)
    mass = max(float(np.sum(a * b)) / max(float(np.sum(a * a)), 1e-12), 0.0)
    return mass, float(np.sqrt(np.mean((b - mass * a) ** 2)))


def _mountings() -> dict[str, FloatArray]:
    """Rotations and reflections of the axes by name; a reflection is a wrong sign."""
    found = {}
    for order, signs in product(permutations(range(3)), product((1, -1), repeat=3)):
        turn = np.zeros((3, 3))
        for row, (column, sign) in enumerate(zip(order, signs, strict=True)):
            turn[row, column] = sign
        name = " ".join(("-" if sign < 0 else "") + LETTERS[column] for column, sign in zip(order, signs, strict=True))
        found[name] = turn
    return found
