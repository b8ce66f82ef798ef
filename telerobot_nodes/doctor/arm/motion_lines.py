"""What an arm shows when each joint moves a little: direction, scale, delay, and joints that are mixed up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.doctor.arm.lines import Line, Result, failed, warning
from telerobot_nodes.doctor.arm.session import Record, SmallMotion

AMOUNT = 0.05  # [rad]
SPEED = 0.1  # [-] of the velocity limit, at most
SLOWEST_WAY = 10.0  # [s]
LATEST = 0.3  # [s] delay that is looked for
DELAYED = 0.1  # [s] what the driver explains by latency; more looks like an arm that does not follow
SCALE = 0.1  # [-] error of the scale
STANDS = 0.2  # [-] of the motion
OTHERS = 0.2  # [-] of the motion that another joint may make
DEGREES = float(np.rad2deg(1.0))


@dataclass(frozen=True)
class Answer:
    """How the joints answered a motion of one of them."""

    scale: float  # [-] measured over wanted; negative: the other direction
    delay: float  # [s]
    others: FloatArray  # (dof,) [-] largest motion of each other joint, over the motion


def planned(robot: RobotModel, q: FloatArray, joint: int, begin: float) -> SmallMotion:
    """The motion of one joint from `q` (dof,) [rad], away from its nearer limit."""
    limits = robot.limits
    amount = AMOUNT if limits.upper[joint] - q[joint] >= q[joint] - limits.lower[joint] else -AMOUNT
    way = 1.875 * AMOUNT / (SPEED * limits.velocity[joint])
    push = np.sqrt(5.8 * AMOUNT / (SPEED * limits.acceleration[joint]))
    return SmallMotion(begin, amount, float(min(max(way, push, 0.8), SLOWEST_WAY)))


def answer(record: Record, motion: SmallMotion, joint: int) -> Answer:
    """Find scale and delay that explain the measured motion best, by least squares."""
    q, times = np.array(record.position) - record.position[0], record.times
    best = (np.inf, 0.0, 0.0)
    for delay in np.arange(0.0, LATEST, 0.001):
        wanted = motion.offsets(times - delay)
        scale = float(wanted @ q[:, joint] / max(float(wanted @ wanted), 1e-12))
        error = float(np.sum((q[:, joint] - scale * wanted) ** 2))
        if error < best[0]:
            best = error, scale, float(delay)
    others = np.abs(q).max(axis=0) / AMOUNT
    others[joint] = 0.0
    return Answer(best[1], best[2], others)


def motion_line(robot: RobotModel, joint: int, motion: SmallMotion, found: Answer) -> Line:
    """Judge the answer of one joint."""
    name, check = robot.joint_names[joint], f"motion {robot.joint_names[joint]}"
    text = f"{motion.amount:+.3g} rad and back: {found.scale:.2f} of it, {1e3 * found.delay:.0f} ms later"
    other = int(found.others.argmax())
    if found.others[other] > OTHERS:
        text += f"; {robot.joint_names[other]} moved"
        return failed(check, text, "names or order are mixed up: see `joints` and the controller's own `joints`")
    wrong = _wrong(name, found.scale)
    if wrong:
        return failed(check, text, wrong)
    if found.delay > DELAYED:
        return warning(check, text, f"allowed: {1e3 * DELAYED:g} ms; contact needs less")
    return Line(check, text)


def _wrong(name: str, scale: float) -> str:
    """What a scale means that is not 1, or ""."""
    if abs(scale - DEGREES) < SCALE * DEGREES or abs(scale * DEGREES - 1.0) < SCALE:
        return "degrees: the driver needs radians both ways"
    if abs(scale) < STANDS:
        return f"{name} does not move: controller, brake, or the names"
    if scale < 0.0:
        return f"{name} turns the other way: the URDF's axis is not the driver's"
    return f"{name} is scaled: gear ratio, units, or speed scaling of the arm" if abs(scale - 1.0) > SCALE else ""


def intended(robot: RobotModel, q: FloatArray, joint: int) -> Line:
    """What would be moved."""
    motion = planned(robot, q, joint, 0.0)
    found = f"would move by {motion.amount:+.3g} rad and back within {motion.end:.1f} s"
    return Line(f"motion {robot.joint_names[joint]}", found, Result.NOT_DONE)
