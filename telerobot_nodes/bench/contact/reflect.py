"""Benchmark of force back to the hand: a simulated hand presses on a plate over 0 to 2 s of round trip.

Three ways: nothing comes back; the force comes back as it arrives; it comes back through the passive port. The robot's
side runs the primitive `force_reflecting_teleoperation` with the force that the person wants as setpoint.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.contact.reflect_rig import PERIOD, ReflectRig, Wire
from telerobot_nodes.bench.contact.simulated_hand import Person
from telerobot_nodes.hardware import Realism
from telerobot_nodes.plotting import draw_reflect, draw_ring

ROUND_TRIPS = (0.0, 0.25, 0.5, 1.0, 2.0)  # [s]
WAYS = {"none": (False, True), "as it arrives": (True, False), "passive": (True, True)}  # reflects, passive
STIFFNESS = 1e4  # [N/m] of the plate
HEIGHT = 0.003  # [m] of the tip over it
SECONDS = 25.0
TOUCH = 0.5  # [N] from which the tip presses
GAIN = 1e-3  # [m/s/N]
SHARE = 0.4  # of gain times force: fastest motion of the tool by the hand along the direction of pressing


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `seed` (1) of sensor and link, `seconds` (25) of pressing, `stiffness` (1e4) [N/m], `jitter` (0) share of
    the delay, `loss` (0); PNGs to draw: `image` of these figures, `drawing` of the law's frames.
    """
    options = options or {}
    rows, traces = [], {}
    for trip in ROUND_TRIPS:
        for way in WAYS:
            rig = press(trip, way, options)
            rows.append(_row(trip, way, rig))
            traces[trip, way] = rig.force, rig.felt
    person = Person()
    figures = {"pressing": rows, "person": dataclasses.asdict(person), "gain": GAIN, "share": SHARE, "height": HEIGHT}
    if "image" in options:
        draw_reflect(traces, PERIOD, person.force, Path(str(options["image"])))
    if "drawing" in options:
        draw_ring(Path(str(options["drawing"])))
    return report.result(report.conditions(int(options.get("seed", 1))), figures, _goals(rows))


def press(trip: float, way: str, options: Mapping[str, Any]) -> ReflectRig:
    """Let the person press for a time over `trip` [s] of round trip; returns the rig with its traces."""
    reflects, passive = WAYS[way]
    jitter = float(options.get("jitter", 0.0)) * 0.5 * trip
    wire = Wire(0.5 * trip, jitter, float(options.get("loss", 0.0)), reflects, passive)
    realism = Realism(realism_seed=int(options.get("seed", 1)))
    rig = ReflectRig(float(options.get("stiffness", STIFFNESS)), wire, Person(), realism)
    rig.go_over(HEIGHT)
    force = rig.hand.person.force
    law = {
        "max_tele_vel": [0.1, 0.1, SHARE * GAIN * force, 0.5, 0.5, 0.5],
        "tele_mode": "world",
        "sel_vect_fc": [0, 0, 1, 0, 0, 0],
        "force_setpoints": [0, 0, force, 0, 0, 0],
        "force_gains": [GAIN] * 6,
        "end_time": 1000.0,
    }
    rig.begin("force_reflecting_teleoperation", law)
    rig.press(float(options.get("seconds", SECONDS)))
    return rig


def _row(trip: float, way: str, rig: ReflectRig) -> dict[str, Any]:
    """Figures of one run; forces are the physics' own."""
    force, work = np.array(rig.force), np.array(rig.work)
    touched = int(np.argmax(force > TOUCH))
    pressing = force[touched:]
    last = round(2.0 / PERIOD)
    return {
        "round_trip": trip,
        "way": way,
        "peak": float(force.max()),
        "lost": int(np.count_nonzero(np.diff((pressing > 0.0).astype(int)) < 0)) if force.max() > TOUCH else -1,
        "last_force": float(force[-last:].mean()),
        "last_felt": float(np.mean(rig.felt[-last:])),
        "largest_felt": float(np.max(np.abs(rig.felt))),
        "hand_depth": rig.hand_depth[-1],
        "hand_swing": float(np.ptp(rig.hand_depth[-5 * last :])),
        "least_work": float(min(work.min(), 0.0)),
        "observer": float(rig.reflection.energy.sum()),
        "seconds": len(force) * PERIOD,
        "end": rig.reason,
    }


def _goals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    goals = []
    for row in (row for row in rows if row["way"] == "passive"):
        what, wanted = f"round trip {row['round_trip']:g} s", Person().force
        lost = row["lost"] if row["lost"] >= 0 else np.nan
        goals += [
            report.goal(f"{what}: least work of the hand on the device", row["least_work"], "J", ">=", -0.05),
            report.goal(f"{what}: contact lost", lost, "times", "==", 0),
            report.goal(f"{what}: peak over the force set", row["peak"] / wanted, "-", "<=", 1.5),
            report.goal(f"{what}: force at the end", abs(row["last_force"] - wanted), "N", "<=", 1.0),
        ]
    return goals
