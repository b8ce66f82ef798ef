"""Pictures of contact: the figures of the benchmarks `touch` and `reflect`, and one insertion of a pin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import StateSix
from telerobot_nodes.plotting.figure import BLUE, CYCLE, GREY, VERMILION, picture, thin
from telerobot_nodes.tasks import TaskRig, load_task

SIZE = (10.0, 7.0)  # [in]

Traces = Mapping[tuple[float, str], tuple[Sequence[float], Sequence[float]]]


def draw_touch(figures: Mapping[str, Any], presses: Mapping[str, tuple[FloatArray, FloatArray]], file: Path) -> None:
    """Write peak force and overtravel over approach speed, `presses`, and the damping of a shaken plate.

    `presses`: label -> time (n,) [s] and force (n,) [N] of pressing and sliding.
    """
    with picture(file, SIZE, dpi=90) as figure:
        peak, travel, press, damping = panels = figure.subplots(2, 2).ravel()
        for stiffness, rows in _by(figures["touch"], "stiffness"):
            speed = [1e3 * row["speed"] for row in rows]
            label = f"{stiffness:g} N/m"
            peak.loglog(speed, [row["peak_force"] for row in rows], "o-", label=label)
            travel.loglog(speed, [1e3 * row["overtravel_commanded"] for row in rows], "o-", label=label)
        peak.set(title="Move to touch at 5 N: peak force", xlabel="approach [mm/s]", ylabel="[N]")
        travel.set(title="The same: commanded into the plate", xlabel="approach [mm/s]", ylabel="[mm]")
        for label, (time, force) in presses.items():
            press.plot(time, force, lw=0.9, label=label)
        press.set(title="10 N on 1e5 N/m; sliding at 50 mm/s from 0 s", xlabel="[s]", ylabel="[N]", ylim=(0, 20))
        for gain, rows in _by(figures["shaken_plate"], "gain"):
            x, y = [row["frequency"] for row in rows], [row["damping"] for row in rows]
            damping.loglog(x, y, "o-", label=f"gain {gain:g} m/s/N")
        damping.set(title="Plate shaken by 20 um: its damping by the arm", xlabel="[Hz]", ylabel="[N s/m]")
        for axes in panels:
            axes.legend()


def _by(rows: list[dict[str, Any]], key: str) -> list[tuple[float, list[dict[str, Any]]]]:
    """Rows grouped by the value of `key`, in the order found."""
    return [(value, [row for row in rows if row[key] == value]) for value in dict.fromkeys(row[key] for row in rows)]


def draw_pin(file: Path, seed: int = 1) -> None:
    """Run the task `pin_insertion` and write the measured wrench and the pin's place in the hole."""
    rows: list[FloatArray] = []

    def sample(rig: TaskRig) -> None:
        data = rig.arm.data
        block, pin = data.body("block"), data.body("pin")
        R = block.xmat.reshape(3, 3)
        place = R.T @ (pin.xpos - block.xpos)
        tilt = np.arccos(np.clip(-R[:, 2] @ pin.xmat.reshape(3, 3)[:, 2], -1.0, 1.0))
        wrench = rig.executive.primitive.fusion.state.six[StateSix.SENSE_WRENCH]
        rows.append(np.concatenate(([rig.now], place, [tilt], wrench)))

    TaskRig(load_task("pin_insertion"), seed, sample).run()
    table = np.array(rows)
    time = table[:, 0]
    with picture(file, SIZE, dpi=90) as figure:
        force, torque, depth, side = panels = figure.subplots(2, 2).ravel()
        for axes, first, unit in ((force, 5, "[N]"), (torque, 8, "[N m]")):
            axes.plot(time, table[:, first : first + 3], lw=0.8, label=("x", "y", "z"))
            axes.set(ylabel=unit, xlabel="[s]")
        force.set_title("Force on the block, tool axes (sensor)")
        torque.set_title("Torque at the nose (sensor)")
        depth.plot(time, 1e3 * table[:, 3], label="tip over the mouth [mm]")
        depth.set(title="Depth (physics)", xlabel="[s]", ylabel="[mm]")
        labels = [f"tip beside the axis, {axis} [mm]" for axis in "xy"]
        side.plot(time, 1e3 * table[:, 1:3], lw=0.9, label=labels)
        side.plot(time, np.degrees(table[:, 4]), color=CYCLE[2], lw=0.9, label="tilt [degrees]")
        side.set(title="Offset and tilt in the hole (physics)", xlabel="[s]")
        for axes in panels:
            axes.legend()


def draw_reflect(traces: Traces, period: float, wanted: float, file: Path) -> None:
    """Write one panel for each round trip and way of reflection.

    `traces`: (round trip [s], way) -> force of the tip [N] and force on the hand [N], one value per `period` [s];
    `wanted` [N].
    """
    trips, ways = list(dict.fromkeys(trip for trip, _ in traces)), list(dict.fromkeys(way for _, way in traces))
    with picture(file, (3.4 * len(ways), 1.6 * len(trips)), dpi=90) as figure:
        panels = figure.subplots(len(trips), len(ways), sharex=True, sharey=True, squeeze=False)
        for (trip, way), (force, felt) in traces.items():
            axes = panels[trips.index(trip), ways.index(way)]
            rows = thin(np.column_stack((period * np.arange(len(force)), force, felt)))
            axes.axhline(wanted, color=GREY, lw=0.6)
            axes.plot(rows[:, 0], rows[:, 1], color=BLUE, lw=0.9, label="tip on the plate [N]")
            axes.plot(rows[:, 0], rows[:, 2], color=VERMILION, lw=0.9, label="device on the hand [N]")
            axes.set(title=f"{way}, {trip:g} s", ylim=(-0.5 * wanted, 3.2 * wanted))
        panels[0, 0].legend()
        for axes in panels[-1]:
            axes.set(xlabel="[s]")
