"""The link as a node: two of them over real sockets, on both sides of one DDS domain."""

import socket
import subprocess
import sys

import pytest
from free_ports import write_loopback_hosts

pytest.importorskip("rclpy")

from telerobot.msg import Command, ExecutorState, Halt, LinkStamp, LinkState, PlanOperations
from telerobot_nodes import graph
from telerobot_nodes.core import protocol
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.graph import OPERATOR_SIDE, Crossing, Priority
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.tools.interface_hash import interface_hash
from telerobot_nodes.nodes.tools.link import LinkNode

OPERATIONS, STATE = "plan_executor/operations", "plan_executor/state"
TEXTS = "rtc_decision_unit/commands"


@pytest.fixture
def hosts(tmp_path):
    return write_loopback_hosts(tmp_path, "on_loss: hold\n")


def options(graph_name, hosts, robot="arm"):
    return NodeOptions("link", graph=graph_name, hosts=hosts, robot=robot)


MEETING = "meeting"


class Ends:
    """Publishes on one side, notes what arrives on the other."""

    def __init__(self, ros):
        self.ros, self.states = ros, {}
        self.got = {OPERATIONS: [], STATE: [], "halt": [], TEXTS: []}
        self._publishers = {
            OPERATIONS: self._publisher(PlanOperations, OPERATIONS, OPERATOR_SIDE),
            "halt": self._publisher(Halt, "halt", OPERATOR_SIDE),
            TEXTS: self._publisher(Command, TEXTS, OPERATOR_SIDE),
            STATE: self._publisher(ExecutorState, STATE, ""),
        }
        for name, kind, prefix in (
            (OPERATIONS, PlanOperations, ""),
            ("halt", Halt, ""),
            (TEXTS, Command, ""),
            (STATE, ExecutorState, OPERATOR_SIDE),
        ):
            note = self.got[name].append
            ros.probe.create_subscription(kind, prefix + name, note, qos_profile(graph.topic(name).qos))
        state = qos_profile(graph.topic("link/state").qos)
        ros.probe.create_subscription(LinkState, "link/state", self._note_state, state)

    @property
    def halts(self):
        """Those that arrived, but for the meeting's: it sends some until the first arrives."""
        return [one for one in self.got["halt"] if one.agent != MEETING]

    def _publisher(self, kind, name, prefix):
        return self.ros.probe.create_publisher(kind, prefix + name, qos_profile(graph.topic(name).qos))

    def _note_state(self, message):
        self.states[message.host] = message

    def send(self, name, message):
        self._publishers[name].publish(message)

    def state(self, host):
        return protocol.LinkState(self.states[host].state) if host in self.states else None

    def are(self, cell, desk=None):
        return self.ros.until(lambda: (self.state("cell"), self.state("desk")) == (cell, desk or cell))


@pytest.fixture
def ends(ros):
    return Ends(ros)


def numbered(kind, number):
    message = kind()
    message.link.number = number
    return message


def test_both_hosts_meet_and_messages_cross_both_ways(ros, ends, hosts):
    for name in ("robot", "operator"):
        ros.add(LinkNode(options(name, hosts)))
    assert ends.are(protocol.LinkState.FRESH)
    assert ros.until(lambda: ends.send(OPERATIONS, numbered(PlanOperations, 1)) or ends.got[OPERATIONS])
    assert ros.until(lambda: ends.send(STATE, numbered(ExecutorState, 2)) or ends.got[STATE])
    assert ros.until(lambda: ends.send("halt", Halt(number=3, reason="from the desk")) or ends.got["halt"])
    assert ends.got[OPERATIONS][0] == numbered(PlanOperations, 1)
    assert ends.got[STATE][0] == numbered(ExecutorState, 2)
    assert ends.got["halt"][0].reason == "from the desk"
    assert ends.states["cell"].peer == "desk"
    assert ros.until(lambda: ends.states["cell"].round_trip >= 0.0)  # known with the second beat


def text(words, number=1):
    return Command(link=LinkStamp(sender="host/shell/1", number=number), sender="host/shell/1", text=words)


@pytest.fixture
def met(ros, ends, hosts):
    """Both hosts, met; the robot's side hears texts and halts."""
    nodes = [ros.add(LinkNode(options(name, hosts))) for name in ("robot", "operator")]
    assert ends.are(protocol.LinkState.FRESH)
    assert ros.until(lambda: ends.send("halt", Halt(number=1, agent=MEETING)) or ends.got["halt"])
    assert ros.until(lambda: ends.send(TEXTS, text("status")) or ends.got[TEXTS])
    return nodes


def test_a_halt_with_a_reason_of_a_hundred_kilobytes_crosses(ros, ends, met):
    ends.send("halt", Halt(number=7, agent="ana", reason="x" * 100_000))
    assert ros.until(lambda: ends.halts)
    assert (ends.halts[0].agent, ends.halts[0].number) == ("ana", 7)
    ends.send("halt", Halt(number=8, agent="y" * 100_000, link=LinkStamp(sender="z" * 100_000)))
    assert ros.until(lambda: len(ends.halts) == 2)
    assert ends.halts[1].number == 8


@pytest.mark.parametrize("words", ["halt", "STOP! at once", "halt " + "x" * 100_000, "stop" + "y" * 200_000])
def test_a_text_that_halts_everything_crosses_as_a_halt_too_whatever_its_length(ros, ends, met, words):
    ends.send(TEXTS, text(words, 5))
    assert ros.until(lambda: ends.halts)
    assert (ends.halts[0].agent, ends.halts[0].number) == ("host/shell/1.text", 5)


def test_a_halt_of_one_arm_is_not_thinned_by_a_flood_of_texts(ros, ends, met):
    for number in range(2, 202):
        ends.send(TEXTS, text("status", number))
    ends.send(TEXTS, text("halt left_arm", 202))
    assert ros.until(lambda: any(one.text == "halt left_arm" for one in ends.got[TEXTS]))
    assert ros.until(lambda: met[1].health().values.get(f"cell {TEXTS} dropped", 0) > 50)  # the flood was one
    assert ends.halts == []


def test_a_robot_told_to_hold_is_halted_when_the_link_is_lost(ros, ends, hosts):
    ros.add(LinkNode(options("robot", hosts)))
    operator = ros.add(LinkNode(options("operator", hosts)))
    assert ends.are(protocol.LinkState.FRESH)
    assert not ends.got["halt"]
    operator.trigger_deactivate()
    assert ros.until(lambda: ends.state("cell") is protocol.LinkState.STALE)
    assert ros.until(lambda: ends.got["halt"])
    assert ends.got["halt"][0].agent.split("/")[1] == "link"


def test_hosts_with_different_robots_refuse_each_other_and_say_why(ros, ends, hosts):
    ros.add(LinkNode(options("robot", hosts)))
    ros.add(LinkNode(options("operator", hosts, robot="ur5")))
    assert ends.are(protocol.LinkState.REFUSED)
    assert "cell has arm, desk ur5" in ends.states["cell"].reason


def test_noise_from_a_stranger_is_counted_and_shown(ros, ends, hosts):
    node = ros.add(LinkNode(options("robot", hosts)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        assert ros.until(
            lambda: (
                stranger.sendto(b"noise", node._socket.getsockname())
                and node.health().values.get("refused stranger", 0) >= 3
            )
        )
    assert node.failure == ""


def test_a_port_in_use_refuses_the_start(ros, hosts):
    ros.add(LinkNode(options("robot", hosts)))
    with pytest.raises(InvalidValueError, match="free port"):
        LinkNode(options("robot", hosts))


def test_a_bad_hosts_file_refuses_the_start(ros, tmp_path):
    (tmp_path / "hosts.yaml").write_text("hosts: {}\n")
    with pytest.raises(ParameterFileError):
        LinkNode(options("robot", tmp_path / "hosts.yaml"))


REQUESTS = graph.crossing_services() + graph.crossing_actions()


def test_the_hash_of_the_interface_changes_with_any_topic_or_request_and_not_by_itself():
    topics = graph.crossing()
    whole = interface_hash(topics, REQUESTS)
    assert interface_hash(topics, REQUESTS) == whole
    assert interface_hash(topics[1:], REQUESTS) != whole
    assert interface_hash(topics[::-1], REQUESTS) != whole
    assert interface_hash(topics, REQUESTS[1:]) != whole
    changed = graph.topic("halt").__class__(**{**vars(topics[0]), "crosses": Crossing(Priority.WORLD)})
    assert interface_hash((changed, *topics[1:]), REQUESTS) != whole


def test_the_hash_of_the_interface_is_the_same_in_every_process():
    script = (
        "from telerobot_nodes import graph; from telerobot_nodes.nodes.tools.interface_hash import interface_hash; "
        "requests = graph.crossing_services() + graph.crossing_actions(); "
        "print(interface_hash(graph.crossing(), requests).hex())"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == interface_hash(graph.crossing(), REQUESTS).hex()
