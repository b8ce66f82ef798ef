"""Fills the cache of compiled functions, so that no node pays for it: `python -m telerobot_nodes.warm` in set-up."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor

from telerobot_nodes.compiled import cache_folder
from telerobot_nodes.core.reach import Reach
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace import warm as planner_warm
from telerobot_nodes.cspace.planner_copy import PlannerCopy
from telerobot_nodes.hardware.arm import Hardware
from telerobot_nodes.motion.warm import warm_up
from telerobot_nodes.plan.executor import PlanExecutor

KEPT = 3  # caches of earlier sources that stay


def control() -> None:
    """What the control loop runs."""
    warm_up(load_robot("arm"), 0.005)


def plan_and_arm() -> None:
    """What plan and simulated arm run."""
    robot = load_robot("arm")
    PlanExecutor(robot)
    arm = Hardware(robot)
    arm.open(0.0)
    arm.step(0.01)
    arm.close()


def planner() -> None:
    """What the planner runs."""
    PlannerCopy({"arm": load_robot("arm")}).load()
    planner_warm.warm()


PARTS = (planner, control, plan_and_arm)  # the longest first


def warm() -> None:
    """Compile what nodes would compile at their first start, parts beside each other; drop caches of old sources."""
    Reach(load_robot("arm"))  # what the parts share
    processes = min(len(PARTS), len(os.sched_getaffinity(0)))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for part in [pool.submit(part) for part in PARTS]:
            part.result()
    others = sorted(cache_folder().parent.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in others[: -KEPT - 1]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    warm()
