"""Two operators, one robot: 3 s of round trip and 5 % loss each way; both clutches, the brake and a hand-off.

Three groups of processes, as on three hosts: the robot's (with the emulated link and the recorder), and each
operator's. Everything waits for what it needs to see; nothing counts on time. To keep the recording and look at it:

    pytest test/system/test_two_operators.py --basetemp=FOLDER
    telerobot review FOLDER/robot0/bag --other FOLDER/robot0/second --timeline handoff.png
"""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import DeviceState, ExecutorMode
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.commands import Deed
from telerobot_nodes.runtime import GraphOptions, Supervisor

pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(600),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

FIRST, SECOND = "operator", "second"
LINK = "/operator_side"
PACE = 0.5  # [-] of plan time
PATIENCE = 120.0  # [s] for anything to be seen, on a busy machine
DELAY, JITTER, LOSS = 1.5, 0.05, 0.05  # one way [s], [s], share of messages
OPERATORS = ("path_plan_queue", "forward_simulator", "operator_input", "operator_console")
OTHERS = ("cspace_planner", "rtc_decision_unit")  # not needed here


def start(options):
    """The running graph of one host, every node ready."""
    lines = []
    supervisor = Supervisor(options, on_line=lambda node, line: lines.append(f"[{node}] {line}"))
    supervisor.start()
    if not supervisor.wait_ready(PATIENCE):
        supervisor.stop()
        raise AssertionError("\n".join(lines))
    return supervisor


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """The robot's host: arm, executor, link, recorder."""
    bag = tmp_path_factory.mktemp("robot") / "bag"
    supervisor = start(GraphOptions("demo", bag=bag, without=OPERATORS + OTHERS))
    yield supervisor
    assert supervisor.stop() == 0


@pytest.fixture(scope="module")
def operators(robot):
    """The first operator has the plan before the second one is there."""
    hosts = [start(GraphOptions("operator", link=LINK, without=("bag_recorder", "operator_console")))]
    try:
        with client() as first:
            wait(first, lambda c: c.queue.has_authority and c.queue.head_seq > 0 and c.robot.authority == FIRST)
        without = ("operator_console", "operator_input")
        second_bag = robot.options.bag.with_name("second")
        hosts.append(start(GraphOptions("operator", namespace=SECOND, bag=second_bag, link=LINK, without=without)))
        with client(SECOND) as second:
            wait(second, lambda c: c.queue.agent == SECOND and c.robot.authority == FIRST)
        yield hosts
    finally:
        codes = [host.stop() for host in reversed(hosts)]
    assert codes == [0] * len(codes)


def client(namespace=""):
    from telerobot_nodes.nodes.clients import Terminal

    return Terminal(namespace)  # finds the link itself


def do(terminal, command):
    outcome = terminal.ask(command)
    assert outcome.done, f"{command}: {outcome.text}"


def wait(terminal, ready, seconds=PATIENCE):
    assert terminal.wait_for(ready, seconds), (terminal.operator.queue, terminal.operator.robot)


def play_hand(terminal):
    """The demo's own hand, from its first to its last motion."""
    do(terminal, commands.Replay(""))
    wait(terminal, lambda c: c.queue.device is not DeviceState.IDLE)
    wait(terminal, lambda c: c.queue.device is DeviceState.IDLE)


def test_clutches_and_brake_then_control_passes_to_the_second_operator(operators):
    with client() as first:
        do(first, commands.SetLink(delay=DELAY, jitter=JITTER, loss=LOSS))
        wait(first, lambda c: c.robot.authority == FIRST and not c.queue.stale and c.queue.unacknowledged == 0)

        # a trial path does not reach the plan, and is joined to it by a link
        do(first, commands.TimeClutch(False))
        do(first, commands.PositionClutch(False))
        wait(first, lambda c: not (c.queue.time_clutch or c.queue.position_clutch))
        head = first.operator.queue.head_seq
        play_hand(first)
        assert first.operator.queue.trial_length > 50
        assert first.operator.queue.head_seq == head
        do(first, commands.Rate(PACE))  # time enough to hand over before the arm is at the end
        do(first, Deed.ADOPT)
        wait(first, lambda c: c.queue.head_seq > head + 50 and c.queue.trial_length == 0)
        planned = first.operator.queue.head_time

        # the brake takes back from the tail while the robot runs on
        wait(first, lambda c: c.robot.mode is ExecutorMode.RUNNING)
        do(first, commands.Brake(1.0))
        wait(first, lambda c: c.queue.head_time < planned - 1.0)
        do(first, commands.Brake(0.0))
        wait(first, lambda c: c.queue.brake_rate == 0.0)

    with client(SECOND) as second:  # asks; nothing passes before consent
        do(second, Deed.REQUEST_CONTROL)
    with client() as first:
        wait(
            first, lambda c: c.robot.asker == SECOND and f"{SECOND} requests control" in c.queue.notice
        )  # its queue knows too
        assert first.operator.robot.authority == FIRST
        assert not first.operator.robot.granted
        do(first, Deed.GRANT_CONTROL)

    with client(SECOND) as second:
        publisher = second.publisher("path_plan_queue/pose_target_cmds")
        wait(second, lambda c: len(c.other.lines().ahead) > 50)  # the first one's plan is seen
        ahead = second.operator.other.lines().ahead
        meeting = np.concatenate((ahead[len(ahead) * 2 // 3], second.operator.robot.tool_pose[3:]))
        goal = beside(meeting)
        take_over(second, publisher, lambda: meeting)
        wait(second, lambda c: c.queue.position_clutch)  # the link that joins the two plans is laid
        take_over(second, publisher, lambda: goal)
        wait(second, lambda c: c.robot.mode is ExecutorMode.IDLE and c.robot.tail_seq >= c.queue.head_seq)
    with client() as first:
        wait(first, lambda c: not c.queue.has_authority and c.robot.authority == SECOND)
        # who lost authority may still stop the arm
        do(first, commands.Halt("from the first operator"))
        wait(first, lambda c: c.robot.mode is ExecutorMode.HALTED)


def take_over(terminal, publisher, pose):
    """Move the hand to a pose until control has passed, and the plan has been there."""
    from telerobot_nodes.nodes.messages import pose_stamped

    asked = []

    def there(c):
        goal = pose()
        if goal.size:
            publisher.publish(pose_stamped(goal, "world", terminal.stamp()))
            asked.append(goal)
        met = asked and abs(c.queue.target_pose[:3] - asked[-1][:3]).max() < 1e-3 if c.queue.target_pose.size else False
        return met and c.robot.authority == SECOND and c.queue.has_authority

    wait(terminal, there)


def beside(pose):
    """A pose 8 cm to the side and 4 cm up."""
    moved = pose.copy()
    moved[1:3] += (0.08, 0.04)
    return moved


def test_the_recording_shows_every_point_once_and_in_order(robot, operators):
    from telerobot_nodes.operator.review import read_sides, review_bag
    from telerobot_nodes.plotting import draw_run, draw_timeline

    for host in operators:
        host.stop()
    assert robot.stop() == 0  # closes the recording
    picture = robot.options.bag.with_name("handoff.png")
    timeline, bags = picture.with_name("timeline.png"), [robot.options.bag, robot.options.bag.with_name("second")]
    found = review_bag(robot.options.bag)
    draw_timeline(found, read_sides(bags), timeline)
    summary = draw_run(found, picture)
    assert summary.points_executed > 50
    assert (summary.duplicates, summary.out_of_order, summary.unknown, summary.limit_violations) == (0, 0, 0, 0)
    assert (summary.link["delay"], summary.link["loss"]) == (DELAY, LOSS)
    told = [event.text for event in found.run.events]
    for text in ("disengaged: trial path", "time brake at 1", "second may take the plan", "second has the plan"):
        assert any(text in line for line in told), text
    before = told[: told.index("second has the plan")]
    assert [text for text in before if text in ("running", "idle")][-1] == "running"  # control passed in motion
    assert min(file.stat().st_size for file in (picture, timeline)) > 50_000
