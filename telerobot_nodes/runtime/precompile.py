"""Fills the cache of compiled functions ahead of the first start.

`python -m telerobot_nodes.runtime.precompile demo`: what the nodes of the demo need before they are ready;
`python -m telerobot_nodes.runtime.precompile all`: the planner too, which otherwise compiles in the background.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable

from telerobot_nodes._numba_cache import cache_folder, compiling, package_digest
from telerobot_nodes.core.robot import Reach, load_robot
from telerobot_nodes.cspace.service import precompile as planner
from telerobot_nodes.hardware import Hardware
from telerobot_nodes.motion.loop import warm_up
from telerobot_nodes.plan.executor import PlanExecutor

WHOLE = 300  # [%] of the demo's time: the demo and the planner
KEPT = 3  # caches of earlier sources that stay
FORGOTTEN = 30 * 86400.0  # [s] without a change after which the cache of another copy of the package goes


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


def compile_demo(whole: int = 100) -> None:
    """Compile what the demo needs, and report how far it is; `whole` [%]: all that is compiled, the demo being 100."""
    with compiling("demo") as needed:
        done = 0
        for name, compile_part, share in PARTS if needed else ():
            print(f"[{done}/{whole}] {name}", flush=True)
            compile_part()
            done += share


def drop_old() -> None:
    """Remove caches of old sources of this package; those of another copy only when they were not used for long."""
    folders = {folder: folder.stat().st_mtime for folder in cache_folder().parent.glob("*")}
    own = sorted((one for one in folders if one.name.startswith(f"{package_digest()}-")), key=folders.__getitem__)
    forgotten = [folder for folder, used in folders.items() if used < time.time() - FORGOTTEN and folder not in own]
    for folder in (*own[: -KEPT - 1], *forgotten):
        shutil.rmtree(folder, ignore_errors=True)


def main(what: str) -> None:
    """Compile the demo, or all."""
    if what == "all":
        compile_demo(WHOLE)
        print(f"[100/{WHOLE}] planner", flush=True)
        planner.main()
    else:
        compile_demo()
    drop_old()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
