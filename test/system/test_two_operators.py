"""Two operators, one robot, three seconds of round trip and loss: both clutches, the brake and a hand-off."""

import pytest

from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.operator import commands
from telerobot_nodes.operator.commands import Deed
from telerobot_nodes.operator.status import Device, RobotMode
from telerobot_nodes.supervisor import Supervisor

pytestmark = [pytest.mark.system, pytest.mark.timeout(400)]

SECOND = "second"
LINK = "/operator_side"


@pytest.fixture(scope="module")
def second_operator(demo_graph):
    """Another operator's graph on the same emulated link, started when the first one has the plan."""
    from telerobot_nodes.nodes.terminal import Terminal

    with Terminal() as first:
        wait(first, lambda c: c.queue.has_authority and c.robot.authority == "operator")
    lines = []
    options = GraphOptions(
        "operator", namespace=SECOND, link=LINK, without=("bag_recorder", "operator_console", "operator_input")
    )
    supervisor = Supervisor(options, on_line=lambda node, line: lines.append(f"[{node}] {line}"))
    supervisor.start()
    try:
        assert supervisor.wait_ready(120.0), "\n".join(lines)
        yield supervisor
    finally:
        assert supervisor.stop() == 0, "\n".join(lines)


def do(terminal, command):
    outcome = terminal.ask(command)
    assert outcome.done, f"{command}: {outcome.text}"


def wait(terminal, ready, seconds=60.0):
    assert terminal.wait_for(ready, seconds), (terminal.operator.queue, terminal.operator.robot)


def play_hand(terminal):
    """The demo's own hand, from its first to its last motion."""
    do(terminal, commands.Replay(""))
    wait(terminal, lambda c: c.queue.device is Device.TRACKING)
    wait(terminal, lambda c: c.queue.device is Device.IDLE)


def test_clutches_and_brake_then_control_passes_to_the_second_operator(demo_graph, second_operator):
    from telerobot_nodes.nodes.convert import pose_stamped
    from telerobot_nodes.nodes.terminal import Terminal

    with Terminal() as first:
        wait(first, lambda c: c.queue.has_authority and c.queue.head_seq > 0)
        do(first, commands.SetLink(delay=1.5, jitter=0.05, loss=0.05))
        wait(first, lambda c: c.robot.authority == "operator" and not c.queue.stale)

        # a trial path does not reach the plan, and is joined to it by a link
        do(first, commands.TimeClutch(False))
        do(first, commands.PositionClutch(False))
        head = first.operator.queue.head_seq
        play_hand(first)
        assert first.operator.queue.trial_length > 50
        assert first.operator.queue.head_seq == head
        do(first, Deed.ADOPT)
        wait(first, lambda c: c.queue.head_seq > head + 50 and c.queue.trial_length == 0)

        # the brake takes back from the tail while the robot runs on
        wait(first, lambda c: c.robot.mode is RobotMode.RUNNING)
        tail_time = first.operator.queue.head_time
        do(first, commands.Brake(1.0))
        wait(first, lambda c: c.queue.head_time < tail_time - 1.0)
        do(first, commands.Brake(0.0))

        # the second operator asks; nothing passes before consent
    with Terminal(namespace=SECOND, link=LINK) as second:
        wait(second, lambda c: "operator" in (c.robot.authority,))
        do(second, Deed.REQUEST_CONTROL)
        assert not second.operator.queue.has_authority
    with Terminal() as first:
        wait(first, lambda c: "asks for control" in c.queue.notice)
        do(first, Deed.GRANT_CONTROL)
    with Terminal(namespace=SECOND, link=LINK) as second:
        publisher = second.publisher("path_plan_queue/pose_target_cmds")

        def control_passes_where_the_tools_meet(client):
            if client.robot.tool_pose.size:
                publisher.publish(pose_stamped(client.robot.tool_pose, "world", second.stamp()))
            return client.robot.authority == SECOND and client.queue.has_authority

        wait(second, control_passes_where_the_tools_meet)
        wait(second, lambda c: c.robot.mode is RobotMode.IDLE and c.queue.head_seq > 0)
    with Terminal() as first:
        wait(first, lambda c: not c.queue.has_authority)
        # who lost authority may still stop the arm
        do(first, commands.Halt("from the first operator"))
        wait(first, lambda c: c.robot.mode is RobotMode.HALTED)


def test_the_recording_shows_every_point_once_and_in_order(demo_graph):
    from telerobot_nodes.operator.report import review_bag

    assert demo_graph.stop() == 0  # closes the recording
    summary, _ = review_bag(demo_graph.options.bag)
    assert summary.points_executed > 50
    assert (summary.duplicates, summary.out_of_order, summary.unknown, summary.limit_violations) == (0, 0, 0, 0)
