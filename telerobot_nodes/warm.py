"""Fills the cache of compiled functions, so that no node pays for it: `python -m telerobot_nodes.warm` in set-up."""

from __future__ import annotations

import shutil

from telerobot_nodes.compiled import cache_folder
from telerobot_nodes.core.reach import Reach
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.planner_copy import PlannerCopy
from telerobot_nodes.hardware.arm import Hardware
from telerobot_nodes.motion.warm import warm_up
from telerobot_nodes.plan.executor import PlanExecutor

KEPT = 3  # caches of earlier sources that stay


def warm() -> None:
    """Compile what nodes would compile at their first start, all at once, and drop caches of old sources."""
    robot = load_robot("arm")
    Reach(robot)
    warm_up(robot, 0.005)
    PlanExecutor(robot)
    arm = Hardware(robot)
    arm.open(0.0)
    arm.step(0.01)
    arm.close()
    PlannerCopy({"arm": robot}).load()
    others = sorted(cache_folder().parent.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in others[: -KEPT - 1]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    warm()
