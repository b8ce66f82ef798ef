"""A recorded session of run-time control on the simulated arm: a fault, its recovery, a halt, and a trade of the arm.

Somebody has moved the module: in the database it is 12 cm from its true place. The grasp misses; its recovery
retracts, looks, and grasps again. A halt stops the arm on its way up. The arm is traded to the operator and returned;
the module is placed.

    python examples/pick_session.py runs/session
    telerobot review --commands runs/session/bag

docs/run_time_control.md shows the transcript.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from telerobot_nodes.client import connect
from telerobot_nodes.core.config import share_path
from telerobot_nodes.runtime import GraphOptions, Supervisor

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Robot
    from telerobot_nodes.operator.client import CommandResult

LIES_AT, BELIEVED_AT = "pose: [0.70, -0.17, 0.25,", "pose: [0.68, -0.29, 0.25,"  # of the module
READY_LIMIT = 120.0  # [s]


def moved_workcell(folder: Path) -> Path:
    """Write parameters of a decision unit whose database has the module at a wrong place."""
    skills = folder / "rtc"
    shutil.copytree(share_path("config/rtc"), skills)
    workcell = skills / "workcell.yaml"
    workcell.write_text(workcell.read_text().replace(LIES_AT, BELIEVED_AT))
    parameters = folder / "parameters.yaml"
    parameters.write_text(f"rtc_decision_unit:\n  ros__parameters:\n    folder: {skills}\n")
    return parameters


def session(robot: Robot) -> dict[str, CommandResult]:
    """Run the session; returns the end of each command."""
    ends = {}
    robot.run("where module")
    ends["grasp"] = robot.run("grasp module with left_arm")
    robot.run("where module")
    if not ends["grasp"].ok:
        return ends
    lift = robot.begin("lift module by 12 cm speed 0.03")
    lift.wait(2.0)
    robot.run("halt")
    ends["lift"] = lift.wait(20.0)
    robot.run("reset")  # nothing moves before
    ends["trade"] = robot.run("trade left_arm to operator")
    ends["not ours"] = robot.run("place module on dock with left_arm")
    back = robot.begin("return left_arm to program")
    robot.wait_until(lambda _: robot.tasks, 20.0)
    robot.run(f"done task {min(robot.tasks)}")
    ends["return"] = back.wait(20.0)
    ends["place"] = robot.run("place module on dock with left_arm")
    robot.run("where module")
    return ends


def run(folder: Path) -> dict[str, CommandResult]:
    """Run the session on a graph of its own; the recording is `folder/bag`."""
    folder.mkdir(parents=True, exist_ok=True)
    options = GraphOptions("robot", bag=folder / "bag", params=moved_workcell(folder))
    graph = Supervisor(options, on_line=lambda node, line: print(f"[{node}] {line}"))
    graph.start()
    try:
        if not graph.wait_ready(READY_LIMIT):
            raise SystemExit(f"not ready: {', '.join(graph.waiting_for())}")
        with connect(name="ana") as robot:
            time.sleep(2.0)  # the camera has looked once
            return session(robot)
    finally:
        graph.stop()


if __name__ == "__main__":
    for name, ended in run(Path(sys.argv[1])).items():
        print(f"{name}: {ended.end.value} {ended.reason}")
