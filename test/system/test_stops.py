"""Any halt halts, said in every way, and nothing moves before RESUME; a robot that cannot hear halts does not run."""

import os
import signal
import time
from pathlib import Path

import pytest

from telerobot_nodes.bench.rtc import stops
from telerobot_nodes.runtime import GraphOptions, Supervisor

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(600),
    pytest.mark.timing("a motion under way ends when setpoints are more than 0.1 s late"),
]

START_LIMIT = 120.0  # [s]
OTHERS = ("plan_executor", "rtc_decision_unit", "cspace_planner", "bag_recorder")


def test_any_halt_halts_and_nothing_moves_before_resume():
    result = stops.run({"halts": 8})
    assert [goal["name"] for goal in result["goals"] if not goal["met"]] == [], result["figures"]


def listeners(pid):
    """Processes below `pid` that hear halts."""
    found = []
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        found += [child] if b"halt_receiver" in command else listeners(child)
    return found


def test_the_graph_ends_when_the_robot_is_deaf_to_halts():
    lines = []
    supervisor = Supervisor(GraphOptions("robot", without=OTHERS), on_line=lambda node, line: lines.append(line))
    supervisor.start()
    try:
        assert supervisor.wait_ready(START_LIMIT), "\n".join(lines)
        (pid,) = listeners(supervisor.pid("gcmsf_control"))
        os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        assert supervisor.wait(20.0), "\n".join(lines)
        assert time.monotonic() - began < 20.0
    finally:
        supervisor.stop()
    assert any("the process that hears halts ended with code -9" in line for line in lines), "\n".join(lines)
