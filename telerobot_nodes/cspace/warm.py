"""Compile the planner's compiled parts once and leave them in the cache: `python -m telerobot_nodes.cspace.warm`.

Without it the first plan of a fresh installation waits for about half a minute of processor time.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.path_timing import time_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.arm_geometry import arm_geometry
from telerobot_nodes.cspace.cell_search import search_cells
from telerobot_nodes.cspace.coordination import coordinate, taking_turns
from telerobot_nodes.cspace.edges import EdgeProver
from telerobot_nodes.cspace.force_field import ForceField
from telerobot_nodes.cspace.obstacles import floor, sphere
from telerobot_nodes.cspace.planner import Planner


def warm() -> None:
    """Call every compiled entry once with the types the planner uses."""
    geometry = arm_geometry(load_robot("arm"))
    home = np.array(geometry.robot.home)
    planner = Planner(geometry, [floor(height=-0.01), sphere("ball", 0.05, (0.9, 0.6, 0.9))])
    planner.plan(home, home)
    planner.cells.halve(0)
    search_cells(planner.cells, home, home + 0.02, 0.1, 50)
    EdgeProver(geometry.arm, planner.world).free(home, home + 0.02)
    timed = time_path(np.array([home, home + 0.01]), geometry.robot.limits)
    schedule = coordinate(geometry, timed, geometry, timed)
    if schedule is not None:
        taking_turns(schedule)
    ForceField([geometry, geometry], planner.obstacles).step([home, home])


if __name__ == "__main__":
    warm()
