"""Any halt halts, however it is sent, and nothing moves before RESUME; a robot without its halt receiver waits, too."""

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from supervised import wait_until

from telerobot_nodes.bench.rtc import stops
from telerobot_nodes.bench.rtc.halt_rig import halt_probe, hung, robot_graph
from telerobot_nodes.runtime import GraphOptions, Supervisor

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(600),
    pytest.mark.timing("a motion under way ends when setpoints are more than 0.1 s late"),
]

START_LIMIT = 120.0  # [s]
LIMIT = 30.0  # [s] far above what a loaded machine needs
MOVES = 1e-3  # [rad/s]
OTHERS = ("plan_executor", "rtc_decision_unit", "cspace_planner", "bag_recorder")


def test_any_halt_halts_and_nothing_moves_before_resume():
    result = stops.run({"halts": 4})
    missed = [goal["name"] for goal in result["goals"] if not goal["met"] and "moving" not in goal["name"]]
    assert missed == [], result["figures"]
    outcomes = sum(result["figures"].values(), Counter())
    assert outcomes["obeyed_rested"] < outcomes.total() / 2, outcomes  # a halt of an arm at rest shows nothing


@pytest.mark.parametrize("way", ["halt", "halt left_arm", "STOP!! now", "no number", "e-stop"])
@pytest.mark.brief(3)
def test_a_press_counts_once_on_whichever_way_it_comes_and_while_a_command_moves_the_arm(moving, way):
    """It comes directly, through the decision unit and as a text; the unit's own bookkeeping adds none."""
    probe, client = moving
    assert probe.release(LIMIT)
    before = probe.state.halt_count
    number = client.begin("move left_arm by 8 cm up speed 0.05 m/s")
    assert probe.wait(lambda: probe.speed > MOVES, LIMIT), client.end(number, 1.0).reason
    if way in ("no number", "e-stop"):
        probe.send_halt(estop=way == "e-stop")
    else:
        client.ask(way)
    assert client.end(number, LIMIT).outcome in ("halted", "estop")
    assert probe.wait(lambda: probe.state.halted, LIMIT)
    probe.spin(0.5)  # what could still come
    assert probe.state.halt_count == before + 1


@pytest.mark.parametrize("text", [b"halt \xff\xfe\xc0\x80", b"\xffstop", b"halt " + b"x" * 100_000])
@pytest.mark.brief(1)
def test_a_text_that_no_python_sends_halts(moving, text):
    """Bytes that are no UTF-8, as another client library may send them, and 100 kB after the word."""
    from rclpy.serialization import serialize_message

    from telerobot.msg import Command

    probe, _ = moving
    assert probe.release(LIMIT)
    before = probe.state.halt_count
    publisher = probe.publisher("rtc_decision_unit/commands")
    assert probe.wait(lambda: publisher.get_subscription_count() > 1, LIMIT)  # the receiver of halts and the unit
    place = "?" * len(text)
    publisher.publish(serialize_message(Command(text=place)).replace(place.encode(), text))
    assert probe.wait(lambda: probe.state.halted, LIMIT)
    probe.spin(0.5)  # what could still come
    assert probe.state.halt_count == before + 1, list(probe.state.halt_receipts)


def test_a_halt_of_a_command_stops_the_arm_when_the_decision_unit_hangs(graph, moving):
    """While it lives the halt of another command changes nothing; what it does not answer is for the arm to obey."""
    from telerobot.msg import Command, LinkStamp

    probe, client = moving
    assert probe.release(LIMIT)
    publisher = probe.publisher("rtc_decision_unit/commands")
    assert probe.wait(lambda: publisher.get_subscription_count() > 1, LIMIT)
    other = client.begin("wait for 60 s")
    number = client.begin("move left_arm by 8 cm up speed 0.01 m/s")
    assert probe.wait(lambda: probe.speed > MOVES, LIMIT), client.end(number, 1.0).reason
    assert client.ask(f"halt command {other}").ok
    probe.spin(1.0)  # longer than an answer may take
    assert not probe.state.halted
    with hung([graph.pid("rtc_decision_unit")]):
        publisher.publish(Command(link=LinkStamp(sender="a test", number=1), sender="a", text=f"halt command {number}"))
        assert probe.wait(lambda: probe.state.halted, LIMIT)
    assert client.end(number, LIMIT).outcome == "halted"


@pytest.fixture(scope="module")
def graph():
    """Supervisor of the robot's graph."""
    with robot_graph(("bag_recorder", "cspace_planner")) as supervisor:
        yield supervisor


@pytest.fixture(scope="module")
def moving(graph):
    """A probe and a sender of texts beside the robot's graph."""
    from telerobot_nodes.nodes.clients import CommandClient

    with halt_probe() as probe, CommandClient() as client:
        yield probe, client


def listeners(pid):
    """Processes below `pid` that receive halts."""
    found = []
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        found += [child] if b"halt_receiver" in command else listeners(child)
    return found


def test_a_robot_that_is_deaf_to_halts_gets_another_loop_which_waits_for_resume():
    lines = []
    supervisor = Supervisor(GraphOptions("robot", without=OTHERS), on_line=lambda node, line: lines.append(line))
    supervisor.start()
    try:
        assert supervisor.wait_ready(START_LIMIT), "\n".join(lines)
        deaf = supervisor.pid("gcmsf_control")
        (pid,) = listeners(deaf)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: supervisor.pid("gcmsf_control") != deaf and not supervisor.waiting_for())
        with halt_probe() as probe:
            assert probe.wait(lambda: probe.state.halted and "started again" in probe.state.reason, LIMIT), probe.state
            assert probe.release(LIMIT)
            probe.send_halt()
            assert probe.wait(lambda: probe.state.halted, LIMIT)
    finally:
        supervisor.stop()
    assert any("the process that receives halts ended with code -9" in line for line in lines), "\n".join(lines)
