"""Benchmark of contact: move to touch, force control at rest and sliding, and passivity.

The arm's own servo, sensor noise and payload at their defaults; the true force is the physics' own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.contact.contact_rig import CONTROL_PERIOD, PLACE, TIP_BEYOND, ContactRig
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware import Realism
from telerobot_nodes.plotting import draw_pin, draw_touch

SPEEDS = (0.005, 0.01, 0.02, 0.05, 0.1)  # [m/s] of the approach
STIFFNESSES = (1e4, 1e5, 1e6)  # [N/m]
STIFF = 1e5  # [N/m] the plate of the goals
FRICTIONS = (0.1, 0.5, 1.0)
SETPOINT = 10.0  # [N]
SLIDING = np.array([-0.05, 0.0, 0.0, 0.0, 0.0, 0.0])  # [m/s] along the tool's x axis
FREQUENCIES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # [Hz] of the plate shaken
SHAKEN = 2e-5  # [m] amplitude
GAINS = (1e-4, 3e-4, 1e-3)  # [m/s/N] the first is the default


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `seed` (1) of the sensor, `speeds` [m/s] separated by commas; PNGs to draw: `image` of these figures,
    `pin` of one insertion of a pin.
    """
    options = options or {}
    seed = int(options.get("seed", 1))
    realism = Realism(realism_seed=seed)
    speeds = [float(text) for text in str(options.get("speeds", ",".join(map(str, SPEEDS)))).split(",")]
    touches = [touch(k, v, realism) for k in STIFFNESSES for v in speeds]
    holds = [hold(STIFF, friction, realism) for friction in FRICTIONS]
    absorbed = [absorption(gain, hz, realism) for gain in GAINS for hz in FREQUENCIES]
    figures = {"touch": touches, "force": holds, "shaken_plate": absorbed, "realism": dataclasses.asdict(realism)}
    if "image" in options:
        presses = {f"friction {friction:g}": _press(friction) for friction in FRICTIONS}
        draw_touch(figures, presses, Path(str(options["image"])))
    if "pin" in options:
        draw_pin(Path(str(options["pin"])))
    return report.result(report.conditions(seed), figures, _goals(touches, holds, absorbed))


def _goals(
    touches: list[dict[str, Any]], holds: list[dict[str, Any]], absorbed: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    default = [row["power"] for row in absorbed if row["gain"] == GAINS[0]]
    return [
        report.goal("touches reported as such", np.mean([row["touched"] for row in touches]), "-", ">=", 1.0),
        report.goal("10 N on 1e5 N/m: overshoot", max(row["overshoot"] for row in holds), "%", "<=", 20.0),
        report.goal("10 N on 1e5 N/m: contact lost", sum(row["bounced"] for row in holds), "times", "<=", 0.0),
        report.goal("error at rest", max(abs(row["rest_error"]) for row in holds), "N", "<=", 0.5),
        report.goal("error sliding at 50 mm/s", max(row["sliding_error"] for row in holds), "N", "<=", 0.5),
        report.goal("least power a shaken plate gives the arm", min(default), "W", ">=", 0.0),
    ]


def touch(stiffness: float, speed: float, realism: Realism) -> dict[str, Any]:
    """Run one move to touch at 5 N; returns the peak force [N] and the commanded depth into the plate [m]."""
    rig = ContactRig(stiffness, realism)
    rig.go_over(0.003 + 0.5 * speed)
    way = [0.0, 0.0, 0.05 + 0.5 * speed, 0.0, 0.0, 0.0, 1.0]
    rig.start("move_to_touch", {"tr_rel_dest": way, "time_vel_val": speed, "max_force_thres": 5.0})
    deepest = 0.0
    while rig.step():
        tip = rig.robot.forward(rig.q).translation[2] - TIP_BEYOND
        deepest = max(deepest, float(PLACE[2] - tip))
    return {
        "stiffness": stiffness,
        "speed": speed,
        "peak_force": max(rig.force),
        "overtravel_commanded": deepest,
        "overtravel_tip": max(rig.force) / stiffness,
        "reason": rig.executive.reason.name,
        "touched": rig.executive.reason.name == "TOUCHED",
    }


def hold(stiffness: float, friction: float, realism: Realism) -> dict[str, Any]:
    """Press with SETPOINT, then slide; returns figures of the true force [N]."""
    force, begin = course(stiffness, friction, realism)
    touched = int(np.argmax(force > 0.5))
    pressing, sliding = force[touched:begin], force[begin + round(0.5 / CONTROL_PERIOD) :]
    mean = np.convolve(sliding, np.full(50, 0.02), "valid")  # over 0.1 s
    return {
        "stiffness": stiffness,
        "friction": friction,
        "overshoot": 100.0 * (pressing.max() - SETPOINT) / SETPOINT,
        "bounced": int(np.count_nonzero(np.diff((pressing > 0.0).astype(int)) < 0)),
        "rise_time": float(np.argmax(pressing > 0.9 * SETPOINT)) * CONTROL_PERIOD,
        "rest_error": float(pressing[-500:].mean() - SETPOINT),
        "sliding_error": float(np.abs(mean - SETPOINT).max()),
        "sliding_deviation": float(sliding.std()),
        "setting_off_peak": float(force[begin:].max()),
    }


def course(stiffness: float, friction: float, realism: Realism) -> tuple[FloatArray, int]:
    """Press for 3 s from 0.5 mm above, slide for 2 s; returns the force [N] per step and the first sliding step."""
    rig = ContactRig(stiffness, realism, friction)
    rig.go_over(0.0005)
    rig.press(SETPOINT, 3.0)
    begin = len(rig.force)
    rig.go_on(2.0, SLIDING)
    return np.array(rig.force), begin


def _press(friction: float) -> tuple[FloatArray, FloatArray]:
    """Return time since the start of sliding [s] and force [N] of one press."""
    force, begin = course(STIFF, friction, Realism())
    return np.asarray(CONTROL_PERIOD * (np.arange(force.size) - begin), np.float64), force


def absorption(gain: float, frequency: float, realism: Realism) -> dict[str, Any]:
    """Return the power [W] that the pressing arm absorbs from a shaken plate; negative if the law were not passive."""
    rig = ContactRig(STIFF, realism)
    rig.go_over(0.0005)
    rig.press(SETPOINT, 2.0, force_gains=[gain] * 6)
    rig.arm.frequency, rig.arm.amplitude = frequency, SHAKEN
    rig.go_on(max(1.0, 2.0 / frequency))
    before, cycles = rig.arm.work, max(round(2.0 * frequency), 2)
    rig.go_on(cycles / frequency)
    power = (rig.arm.work - before) * frequency / cycles
    speed_squared = 0.5 * (2.0 * np.pi * frequency * SHAKEN) ** 2
    return {"gain": gain, "frequency": frequency, "power": power, "damping": power / speed_squared}
