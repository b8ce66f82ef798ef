"""A macro of 5,000 steps, sent as one sequence to a real graph that loses datagrams: each step once, in order."""

import subprocess
import sys

import numpy as np
import pytest
from practice_graph import practice_graph

from telerobot_nodes.core.protocol import PrimitiveOutcome

pytestmark = [pytest.mark.system, pytest.mark.nightly, pytest.mark.timeout(2400)]

STEPS, LOSS = 5000, 0.05
LIMIT = 2000.0  # [s]
HEAD = "macro: long\nversion: 1\ndoc: Many short ways.\nmotion: relative\nsteps:\n"
STEP = (
    "  - {{step: s{0}, primitive: cartesian_guarded, values: {{tr_rel_dest: [0, 0, {1:.5f}, 0, 0, 0, 1], "
    "time_vel_sel: velocity, time_vel_val: 0.1, acc_time: 0.02}}}}\n"
)
WAYS = np.array([2e-4 * (1 + at % 7) * (-1) ** at for at in range(STEPS)])  # [m] along the tool's axis


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "long.yaml").write_text(HEAD + "".join(STEP.format(at, way) for at, way in enumerate(WAYS)))
    return tmp_path


def test_each_of_five_thousand_steps_runs_once_and_in_order_over_a_link_that_loses_every_twentieth_datagram(folder):
    from telerobot_nodes.nodes.framework import Foreground

    ended = []

    def receive(report):
        if report.state != PrimitiveOutcome.RUNNING:
            ended.append((int(report.id), int(report.state), np.array(report.tool_pose)))

    command = [sys.executable, "-m", "telerobot_nodes", "macro", "run", "long", "--override", "--whole"]
    command += ["--folder", str(folder), "--namespace", "practice"]
    told = folder / "told.txt"
    with practice_graph(loss=LOSS), Foreground("judge", "practice") as judge, told.open("w") as out:
        judge.subscribe("gcmsf_control/report", receive)  # on the robot's side: what crosses the link may be lost
        run = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            assert judge.wait(lambda: run.poll() is not None, LIMIT), len(ended)
        finally:
            run.kill()
        judge.wait(lambda: len(ended) >= STEPS, 10.0)
    assert run.returncode == 0, (len(ended), told.read_text()[-2000:])
    ids, states, poses = zip(*ended, strict=True)
    assert list(ids) == list(range(ids[0], ids[0] + STEPS))
    assert set(states) == {int(PrimitiveOutcome.SUCCEEDED)}
    height = np.array([pose[2] for pose in poses])
    moved = np.abs(np.diff(height))
    assert np.abs(moved - np.abs(WAYS[1:])).max() < 1e-4  # half of what tells a step from its neighbours
