"""A session of run-time control on the simulated arm, recorded: a fault is injected, trimmed, and the arm traded.

Somebody has moved the module: the database has it 12 cm from where it lies. The grasp misses, leaves, looks, and
grasps it. A halt stops the arm on its way; the arm goes to the operator and comes back; the module is put down.

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
from telerobot_nodes.core.share import share_path
from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.supervisor import Supervisor

if TYPE_CHECKING:
    from telerobot_nodes.nodes.rtc_client import CommandClient

LIES_AT, BELIEVED_AT = "pose: [0.70, -0.17, 0.25,", "pose: [0.68, -0.29, 0.25,"  # of the module
READY_LIMIT = 120.0  # [s]


def moved_workcell(folder: Path) -> Path:
    """Parameters of a decision unit that believes the module elsewhere."""
    skills = folder / "rtc"
    shutil.copytree(share_path("config/rtc"), skills)
    workcell = skills / "workcell.yaml"
    workcell.write_text(workcell.read_text().replace(LIES_AT, BELIEVED_AT))
    parameters = folder / "parameters.yaml"
    parameters.write_text(f"rtc_decision_unit:\n  ros__parameters:\n    folder: {skills}\n")
    return parameters


def session(robot: CommandClient) -> dict[str, Any]:
    """What is said; the last report of each command."""
    reports = {}
    robot.ask("where module")
    reports["grasp"] = robot.run("grasp module with left_arm")
    robot.ask("where module")
    if not reports["grasp"].ok:
        return reports
    lift = robot.begin("lift module by 12 cm speed 0.03")
    robot.hear(lambda: False, 2.0)
    robot.ask("halt")
    reports["lift"] = robot.end(lift, 20.0)
    reports["trade"] = robot.run("trade left_arm to operator")
    reports["not ours"] = robot.run("place module on dock with left_arm")
    back = robot.begin("return left_arm to program")
    robot.hear(lambda: bool(robot.tasks), 20.0)
    robot.ask(f"done task {min(robot.tasks)}")
    reports["return"] = robot.end(back, 20.0)
    reports["place"] = robot.run("place module on dock with left_arm")
    robot.ask("where module")
    return reports


def run(folder: Path) -> dict[str, Any]:
    """The whole session on a graph of its own; the recording is `folder/bag`."""
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
