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
while the parameters stay. The judge is the physics: joint angles, body poses and contact forces of MuJoCo.

"""
_TAIL = """
## Pictures

![The crank turned once](images/task_crank.png)

![Polishing: force and motion](images/task_polishing.png)

Made by `telerobot task crank --picture docs/images/task_crank.png` and `telerobot task polishing --plot
docs/images/task_polishing.png`.

## What the contact model does not do

Contacts of MuJoCo are convex: a body that slides with friction is lifted in proportion to friction, speed and the
contact's damping. With hard contacts a force-controlled tool that slides hops. The polishing pad is soft (`soft:` in
its shape) with little damping, which keeps this below 0.3 N on average at 60 mm/s.
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
