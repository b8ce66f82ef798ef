"""A node killed in the middle of a plan: it comes back, nothing is executed twice, the next plan runs."""

import os
import signal

import pytest

from telerobot_nodes.core.protocol import DeviceState, ExecutorMode
from telerobot_nodes.operator.client import commands

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(400),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]


MOVE_THE_ARM = ("hardware_interface", "gcmsf_control")  # they come back with e-stop or halt latched
SCALE = 0.2  # [-] of the hand: wherever it is stopped, the next one is within reach from there


def do(terminal, command):
    outcome = terminal.ask(command)
    assert outcome.done, f"{command}: {outcome.text}"


def wait(terminal, ready, seconds=60.0):
    assert terminal.wait_for(ready, seconds), (terminal.operator.queue, terminal.operator.robot)


def start_hand(terminal):
    do(terminal, commands.Replay("", 4.0, SCALE))
    wait(terminal, lambda c: c.queue.device is DeviceState.TRACKING)
    wait(terminal, lambda c: c.robot.mode is ExecutorMode.RUNNING and c.robot.executed_seq > 0)


def finish(terminal):
    """Everything laid is executed, and the arm rests."""
    wait(terminal, lambda c: c.queue.device is DeviceState.IDLE)
    wait(terminal, lambda c: c.queue.length == 0 and c.queue.unacknowledged == 0 and c.robot.mode is ExecutorMode.IDLE)


def kill(supervisor, node):
    pid = supervisor.pid(node)
    os.kill(pid, signal.SIGKILL)
    return pid


@pytest.mark.parametrize(
    "node",
    [
        "plan_executor",
        pytest.param("hardware_interface", marks=pytest.mark.nightly),
        pytest.param("gcmsf_control", marks=pytest.mark.nightly),
        pytest.param("path_plan_queue", marks=pytest.mark.nightly),
    ],
)
def test_a_node_killed_in_the_middle_of_a_plan_comes_back_and_the_next_plan_runs(own_demo_graph, terminal, node):
    start_hand(terminal)
    pid = kill(own_demo_graph, node)
    wait(terminal, lambda c: own_demo_graph.pid(node) != pid and not own_demo_graph.waiting_for())
    do(terminal, commands.StopReplay())  # the hand goes on while the queue is away
    if node in MOVE_THE_ARM:
        wait(terminal, lambda c: c.robot.mode is ExecutorMode.HALTED)
        assert not terminal.operator.robot.moving
        if node == "hardware_interface":
            wait(terminal, lambda c: c.robot.estop)
            do(terminal, commands.Reset())
            wait(terminal, lambda c: not c.robot.estop)
        do(terminal, commands.Resume())
    finish(terminal)
    reached = terminal.operator.robot.executed_seq
    wait(terminal, lambda c: c.queue.has_authority and not c.queue.stale)
    start_hand(terminal)
    finish(terminal)
    assert terminal.operator.robot.executed_seq > reached


def test_the_recording_shows_nothing_twice_and_nothing_out_of_order(own_demo_graph):
    from telerobot_nodes.operator.review import review_bag

    assert own_demo_graph.stop() == 0  # closes the recording
    summary = review_bag(own_demo_graph.options.bag).summary
    assert summary.points_executed > 100
    assert (summary.duplicates, summary.out_of_order, summary.limit_violations) == (0, 0, 0)
