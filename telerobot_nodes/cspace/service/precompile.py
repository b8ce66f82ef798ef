"""Compile the planner when it is first needed: once for all processes, beside what must not wait.

Compiling takes about two minutes of processor time in a fresh installation.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from telerobot_nodes._numba_cache import compiling, is_compiled
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.timing import time_path
from telerobot_nodes.cspace.geometry import ForceField, arm_geometry, floor, sphere
from telerobot_nodes.cspace.multi_arm import coordinate, taking_turns
from telerobot_nodes.cspace.search import EdgeValidator, Planner, search_cells
from telerobot_nodes.cspace.service.planning_service import PlanningService

PART = "planner"
NICENESS = 10  # below every node
_COMMAND = "from telerobot_nodes.cspace.service import precompile; precompile.main()"


def main() -> None:
    """Compile what is not compiled yet; another process that does so is waited for."""
    with compiling(PART) as needed:
        if needed:
            print("telerobot: compiling the planner in the background, once, about two minutes", flush=True)
            warm()
            print("telerobot: the planner is compiled", flush=True)


def compile_apart() -> None:
    """Let another process fill the cache, so that this one goes on meanwhile; returns when the cache is filled.

    Raises subprocess.CalledProcessError.
    """
    if not is_compiled(PART):
        command = ["nice", "-n", str(NICENESS), sys.executable, "-c", _COMMAND]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def warm() -> None:
    """Call every compiled entry once with the types the planner uses."""
    PlanningService({"arm": load_robot("arm")}).warm()
    geometry = arm_geometry(load_robot("arm"))
    home = np.array(geometry.robot.home)
    planner = Planner(geometry, [floor(height=-0.01), sphere("ball", 0.05, (0.9, 0.6, 0.9))])
    planner.plan(home, home)
    planner.cells.halve(0)
    search_cells(planner.cells, home, home + 0.02, 0.1, 50)
    EdgeValidator(geometry.arm, planner.world).free(home, home + 0.02)
    timed = time_path(np.array([home, home + 0.01]), geometry.robot.limits)
    schedule = coordinate((geometry, geometry), (timed, timed))
    if schedule is not None:
        taking_turns(schedule)
    ForceField([geometry, geometry], planner.obstacles).step([home, home])
