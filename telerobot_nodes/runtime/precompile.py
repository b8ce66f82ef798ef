"""Fills the cache of compiled functions ahead of the first start.

`python -m telerobot_nodes.runtime.precompile demo`: what the nodes of the demo need before they are ready;
`python -m telerobot_nodes.runtime.precompile all`: the planner too, which otherwise compiles in the background.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable

from telerobot_nodes._numba_cache import cache_folder, compiling
from telerobot_nodes.core.robot import Reach, load_robot
from telerobot_nodes.cspace.service import precompile as planner
from telerobot_nodes.hardware import Hardware
from telerobot_nodes.motion.loop import warm_up
from telerobot_nodes.plan.executor import PlanExecutor

KEPT = 3  # caches of earlier sources that stay


def reach() -> None:
    """What plan, control and planner share."""
    Reach(load_robot("arm"))


def control() -> None:
    """Compile the functions of the control loop."""
    warm_up(load_robot("arm"), 0.005)


def plan_and_arm() -> None:
    """Compile the functions of plan and simulated arm."""
    robot = load_robot("arm")
    PlanExecutor(robot)
    arm = Hardware(robot)
    arm.open(0.0)
    arm.step(0.01)
    arm.close()


PARTS: tuple[tuple[str, Callable[[], None], int], ...] = (  # name, what compiles it, its share [%] of the time
    ("kinematics", reach, 30),
    ("control loop", control, 60),
    ("plan and arm", plan_and_arm, 10),
)


def compile_demo() -> None:
    """Compile what the demo needs, and report how far it is."""
    with compiling("demo") as needed:
        done = 0
        for name, compile_part, share in PARTS if needed else ():
            print(f"[{done}/100] {name}", flush=True)
            compile_part()
            done += share


def drop_old() -> None:
    """Remove caches of old sources."""
    others = sorted(cache_folder().parent.glob("*"), key=lambda folder: folder.stat().st_mtime)
    for folder in others[: -KEPT - 1]:
        shutil.rmtree(folder, ignore_errors=True)


def main(what: str) -> None:
    """Compile the demo, or all."""
    compile_demo()
    if what == "all":
        planner.main()
    drop_old()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
