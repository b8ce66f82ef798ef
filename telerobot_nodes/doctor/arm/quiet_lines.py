"""What an arm at rest shows: connection, rate, rest, and the wrist sensor's noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.doctor.arm.lines import Line, Result, failed, warning
from telerobot_nodes.doctor.arm.session import Record
from telerobot_nodes.hardware import ArmHardware
from telerobot_nodes.hardware.ros2_control import RemoteArm, Trouble

SLOWEST = 100.0  # [Hz] of measurements
GAP = 0.05  # [s] between two measurements
MARGIN = 0.06  # [rad] to a joint's limit: a small motion needs as much
AT_REST = 0.01  # [rad/s]
NOISE = np.repeat([1.0, 0.1], 3)  # [N], [N m] standard deviation
HEAVY = 60.0  # [N] of the mean force
ENOUGH = 10  # readings
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")
CONNECTION = ("connection", "is the driver started, in the same ROS_DOMAIN_ID, and `namespace` right?")
ADVICE: dict[Trouble, tuple[str, str]] = {  # check and what to do
    Trouble.UNHEARD: CONNECTION,
    Trouble.SILENT: ("rate", "the driver stalls or its stamps stand still: load, network, `silence`"),
    Trouble.MISSING_JOINT: ("names", "map the URDF's names to the driver's with `joints`"),
    Trouble.NOT_FINITE: ("names", "the driver publishes NaN: is every joint's state interface active?"),
    Trouble.UNITS: ("limits", "radians, or tighter limits than where the arm is? See `limits`, `joints`, `order`"),
    Trouble.JUMP: ("rate", "the driver jumps: a calibration while it runs, or two publishers of one topic?"),
    Trouble.BEGAN_AGAIN: ("rate", "the driver restarted while it was watched: see its log"),
    Trouble.NOT_RUNNING: ("connection", "release the arm at its pendant and start its program"),
    Trouble.NO_CONTROLLER: ("connection", "activate the controller, or set `command` and `command_topic`"),
    Trouble.NOT_FOLLOWING: ("following", "is the controller active, and `order` its own parameter `joints`?"),
    Trouble.MOVING: ("rest", "let the arm come to rest, and nobody else command it"),
    Trouble.STALLED: ("following", "this computer was too busy: see `telerobot doctor`"),
    Trouble.WRENCH_FRAME: ("sensor frame", "set `wrench.frame`, and `sensor_frame` to the link with these axes"),
}


def fault_line(arm: ArmHardware, fault: str) -> Line:
    """The line of a fault: its check, and what to do."""
    trouble = arm.trouble if isinstance(arm, RemoteArm) else None
    check, advice = ADVICE.get(trouble, CONNECTION) if trouble else CONNECTION
    return failed(check, fault, advice)


def quiet_lines(robot: RobotModel, record: Record) -> Iterator[Line]:
    """Check what was recorded at rest."""
    if len(record.time) < ENOUGH:
        yield failed("rate", f"{len(record.time)} measurements", CONNECTION[1])
        return
    yield Line("names", "every joint of the arm file is reported")
    yield _rate(record.times)
    yield _place(robot, record.position[-1])
    yield _rest(robot, record)
    if robot.wrist_sensor:
        yield from _sensor(np.array(record.wrench))


def _rate(times: FloatArray) -> Line:
    gaps = np.diff(times)
    rate, longest = 1.0 / float(np.percentile(gaps, 10.0)), float(gaps.max())
    found = f"{rate:.0f} Hz, longest gap {1e3 * longest:.0f} ms"
    if longest > GAP:
        return warning("rate", found, f"allowed: {1e3 * GAP:g} ms; the driver or this computer stalls")
    if rate < SLOWEST:
        return warning("rate", found, f"{SLOWEST:g} Hz or more: contact is felt late; raise the driver's rate")
    return Line("rate", found)


def _place(robot: RobotModel, q: FloatArray) -> Line:
    limits = robot.limits
    margins = np.minimum(q - limits.lower, limits.upper - q)
    i = int(margins.argmin())
    found = f"{robot.joint_names[i]} is nearest to a limit, {margins[i]:.3f} rad away"
    if margins[i] < MARGIN:
        return warning("place", found, f"move it {MARGIN:g} rad into its range before the arm is used")
    return Line("place", found)


def _rest(robot: RobotModel, record: Record) -> Line:
    drift = np.ptp(np.array(record.position), axis=0)
    speed = np.abs(np.mean(np.array(record.velocity), axis=0))
    i = int(speed.argmax())
    found = f"positions vary by {drift.max():.2g} rad; mean velocity {speed[i]:.2g} rad/s"
    if speed[i] > AT_REST:
        return warning("rest", found, f"{robot.joint_names[i]} moves, or its velocity has an offset")
    return Line("rest", found)


def _sensor(wrench: FloatArray) -> Iterator[Line]:
    if not np.isfinite(wrench).all():
        silent = f"{np.mean(~np.isfinite(wrench).all(axis=1)):.0%} of the time without a reading"
        yield failed("sensor noise", silent, "is the sensor's broadcaster active, and `wrench.topic` right?")
        return
    noise, mean = wrench.std(axis=0), wrench.mean(axis=0)
    constant = [name for name, spread in zip(CHANNELS, np.ptp(wrench, axis=0), strict=True) if spread == 0.0]
    size = f"{noise[:3].max():.2g} N, {noise[3:].max():.2g} N m standard deviation"
    if len(constant) == len(CHANNELS):
        found = f"frozen: no digit changed in {len(wrench)} readings, mean {np.linalg.norm(mean[:3]):.3g} N"
        yield failed("sensor noise", found, "a sensor that measures shows noise; motions in contact would be stopped")
    elif constant:
        found = f"{size}; {', '.join(constant)} constant"
        yield warning("sensor noise", found, "a channel that measures shows noise: broken, or not there?")
    elif (noise > NOISE).any():
        yield warning("sensor noise", size, "allowed: 1 N, 0.1 N m; raise `filter_time`, look for what shakes the arm")
    else:
        yield Line("sensor noise", size)
    force = float(np.linalg.norm(mean[:3]))
    advice = "newtons? Declare the `hand`; a reading near the end of the range saturates in contact"
    yield Line("sensor force", f"{force:.3g} N at rest", *((Result.WARNING, advice) if force > HEAVY else ()))
