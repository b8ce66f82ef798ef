"""Pictures of contact for the docs: `python -m telerobot_nodes.bench.touch_plot FIGURES.json|pin PICTURE.png`.

The first from a result of `bench touch`; the second is one run of the task `pin_insertion`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import touch
from telerobot_nodes.bench.contact_rig import CONTROL_PERIOD
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.hardware.realism import Realism
from telerobot_nodes.motion.law_records import SENSE_WRENCH
from telerobot_nodes.tasks.rig import TaskRig
from telerobot_nodes.tasks.task_file import load_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# colours that people with any colour vision tell apart (Okabe and Ito, 2008)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "axes.titlelocation": "left",
}


def draw_touch(figures: Mapping[str, Any], file: Path) -> None:
    """Peak force and overtravel against approach speed; a press and a slide; damping of a shaken plate."""
    figure, (peak, travel, press, damping) = _figure(2, 2)
    for colour, stiffness in zip(COLOURS, touch.STIFFNESSES, strict=False):
        rows = [row for row in figures["touch"] if row["stiffness"] == stiffness]
        speed = [1e3 * row["speed"] for row in rows]
        label = f"{stiffness:g} N/m"
        peak.loglog(speed, [row["peak_force"] for row in rows], "o-", color=colour, label=label)
        travel.loglog(speed, [1e3 * row["overtravel_commanded"] for row in rows], "o-", color=colour, label=label)
    peak.set(title="Move to touch at 5 N: peak force", xlabel="approach [mm/s]", ylabel="[N]")
    travel.set(title="The same: commanded into the plate", xlabel="approach [mm/s]", ylabel="[mm]")
    for colour, friction in zip(COLOURS, touch.FRICTIONS, strict=False):
        force, begin = touch.course(touch.STIFF, friction, Realism())
        time = (np.arange(force.size) - begin) * CONTROL_PERIOD
        press.plot(time, force, color=colour, lw=0.9, label=f"friction {friction:g}")
    press.set(title="10 N on 1e5 N/m; sliding at 50 mm/s from 0 s", xlabel="[s]", ylabel="[N]", ylim=(0, 20))
    for colour, gain in zip(COLOURS, touch.GAINS, strict=False):
        rows = [row for row in figures["shaken_plate"] if row["gain"] == gain]
        x, y = [row["frequency"] for row in rows], [row["damping"] for row in rows]
        damping.loglog(x, y, "o-", color=colour, label=f"gain {gain:g} m/s/N")
    damping.set(title="Plate shaken by 20 um: damping it feels", xlabel="[Hz]", ylabel="[N s/m]")
    for axes in (peak, travel, press, damping):
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=90)


def draw_pin(file: Path, seed: int = 1) -> None:
    """Force and motion of one insertion: what the sensor felt, where the pin was in the hole."""
    rows: list[FloatArray] = []

    def watch(rig: TaskRig) -> None:
        data = rig.arm.data
        block, pin = data.body("block"), data.body("pin")
        R = block.xmat.reshape(3, 3)
        place = R.T @ (pin.xpos - block.xpos)
        tilt = np.arccos(np.clip(-R[:, 2] @ pin.xmat.reshape(3, 3)[:, 2], -1.0, 1.0))
        felt = rig.executive.primitive.fusion.state.six[SENSE_WRENCH]
        rows.append(np.concatenate(([rig.now], place, [tilt], felt)))

    TaskRig(load_task("pin_insertion"), seed, watch).run()
    table = np.array(rows)
    figure, (force, torque, depth, side) = _figure(2, 2)
    time = table[:, 0]
    for axes, first, unit in ((force, 5, "[N]"), (torque, 8, "[N m]")):
        for k in range(3):
            axes.plot(time, table[:, first + k], color=COLOURS[k], lw=0.8, label="xyz"[k])
        axes.set(ylabel=unit, xlabel="[s]")
    force.set_title("Force on the block, tool axes (sensor)")
    torque.set_title("Torque at the nose (sensor)")
    depth.plot(time, 1e3 * table[:, 3], color=COLOURS[0], label="tip over the mouth [mm]")
    depth.set(title="Depth (physics)", xlabel="[s]", ylabel="[mm]")
    for k in range(2):
        side.plot(time, 1e3 * table[:, 1 + k], color=COLOURS[k], lw=0.9, label=f"tip beside the axis, {'xy'[k]} [mm]")
    side.plot(time, np.degrees(table[:, 4]), color=COLOURS[2], lw=0.9, label="tilt [degrees]")
    side.set(title="Offset and tilt in the hole (physics)", xlabel="[s]")
    for axes in (force, torque, depth, side):
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=90)


def _figure(rows: int, columns: int) -> tuple[Figure, tuple[Axes, ...]]:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(10, 7), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, tuple(figure.subplots(rows, columns).ravel())


if __name__ == "__main__":
    source, target = sys.argv[1], Path(sys.argv[2])
    if source == "pin":
        draw_pin(target)
    else:
        draw_touch(json.loads(Path(source).read_text())["figures"], target)
