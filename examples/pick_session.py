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
from typing import TYPE_CHECKING, Any

from telerobot_nodes.client import connect
from telerobot_nodes.core.config import share_path
from telerobot_nodes.runtime import GraphOptions, Supervisor

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import CommandClient

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


def session(robot: CommandClient) -> dict[str, Any]:
    """Run the session; returns the final report of each command."""
    reports = {}
    robot.ask("where module")
    reports["grasp"] = robot.run("grasp module with left_arm")
    robot.ask("where module")
    if not reports["grasp"].ok:
        return reports
    lift = robot.begin("lift module by 12 cm speed 0.03")
    robot.wait_until(lambda: False, 2.0)
    robot.ask("halt")
    reports["lift"] = robot.end(lift, 20.0)
    robot.ask("reset")  # nothing moves before
    reports["trade"] = robot.run("trade left_arm to operator")
    reports["not ours"] = robot.run("place module on dock with left_arm")
    back = robot.begin("return left_arm to program")
    robot.wait_until(lambda: bool(robot.tasks), 20.0)
    robot.ask(f"done task {min(robot.tasks)}")
    reports["return"] = robot.end(back, 20.0)
    reports["place"] = robot.run("place module on dock with left_arm")
    robot.ask("where module")
    return reports


def run(folder: Path) -> dict[str, Any]:
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
    for name, report in run(Path(sys.argv[1])).items():
        print(f"{name}: {report.outcome} {report.reason}")
