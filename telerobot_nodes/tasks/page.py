"""The docs' table of tasks, from their files: `python -m telerobot_nodes.tasks.page > docs/tasks.md`."""

from __future__ import annotations

import math

from telerobot_nodes.tasks.task import Measure, Task
from telerobot_nodes.tasks.task_file import load_task, task_names

_HEAD = """# Tasks

Made by `make docs` from `config/tasks/*.yaml`. A task is a parameter file: scene, start, primitives of the executive
([their parameters](gcmsf_parameters.md)) and measures of success. `telerobot task NAME` runs one in MuJoCo contact at
500 Hz over a 1 kHz servo, with sensor noise and offset, payload, servo lag and friction on; `telerobot task --all
--repeat 100 --json FILE` gives success rates. Every run moves the truth by 2 mm and 2 degrees in a random direction
while the parameters stay. The judge is the physics: joint angles, body poses and contact forces of MuJoCo. How often
each task succeeds, and by how much: [performance.md](performance.md#contact-tasks).

"""
_TAIL = """
## Pictures

![The crank turned once](images/task_crank.png)

![Polishing: force and motion](images/task_polishing.png)

Made by `telerobot task crank --picture docs/images/task_crank.png` and `telerobot task polishing --plot
docs/images/task_polishing.png`. A measure is drawn as it is judged: smoothed, while it counts.

## What the contact model does not do

Contacts of MuJoCo are convex: a body that slides with friction is lifted in proportion to friction, the contact's
damping and speed, and to friction and the acceleration along the surface. Two things keep the force on a sliding tool
steady. The polishing pad is soft (`soft:` in its shape) with little damping. And a device's increments, which come in
bursts (100 Hz here), are given out by the law through four equal lags of 8 ms: two of 12.5 ms left 1 m/s² of the
bursts at 60 mm/s, and the pad shook by 1 N at 100 Hz.

Flat faces on each other are stiff in tilt: with 0.3 rad/s per N m in `force_gains` the law itself makes them chatter,
with 0.1 (levelling) not. A pin that slides down its hole chatters by some newtons, and as much with a third of the
gains: that is the hard contact. It goes in all the same.
"""


def markdown() -> str:
    """The whole page."""
    return _HEAD + "\n".join(_section(load_task(name)) for name in task_names()) + _TAIL


def _section(task: Task) -> str:
    steps = " → ".join(
        f"{s.label} (`{s.primitive}`{f' x {s.repeat}' if s.repeat > 1 else ''})" for s in task.primitives
    )
    lines = [f"## {task.name}", "", task.doc.strip(), "", f"{steps}.", "", "Success:", ""]
    return "\n".join(lines + [f"- {_measure(m)}" for m in task.success]) + "\n"


def _measure(m: Measure) -> str:
    what = f"joint `{m.joint}`" if m.of == "joint" else f"{m.of} of `{m.body}`"
    axes = f" along {' '.join(m.axes)} of {m.frame}" if m.of in ("position", "force", "torque") else ""
    target = "" if m.target is None else f", distance from {m.target:g}"
    during = f" during {', '.join(m.during)}" if m.during else ""
    smooth = f", means of {m.smooth:g} s" if m.smooth else ""
    degrees = f" ({math.degrees(m.value):.0f} degrees)" if m.unit == "rad" else ""
    return f"{m.name}: {what}{axes}{target}{smooth}, {m.reduce}{during} {m.op} {m.value:.4g} {m.unit}{degrees}"


if __name__ == "__main__":
    print(markdown(), end="")
