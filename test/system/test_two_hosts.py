"""Two hosts: `telerobot up robot|operator --hosts FILE` in two ROS domains, with a bad network between them."""

import os
import signal
import socket
import subprocess
import sys
from itertools import pairwise

import pytest
from ros_domains import lock_domain

pytest.importorskip("rclpy")

from telerobot.msg import LinkState as LinkStateMessage
from telerobot_nodes import graph
from telerobot_nodes.bench.link import TwoHosts
from telerobot_nodes.client import connect
from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.protocol import DeviceState, ExecutorMode, LinkState
from telerobot_nodes.link import LinkSettings
from telerobot_nodes.link.roles import KeyRole
from telerobot_nodes.nodes.clients import Terminal
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.view import view
from telerobot_nodes.plan.queue.recorded_path import EPOCH_BLOCK

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(600),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

START_LIMIT = 180.0  # [s]
BAD = LinkSettings(delay=0.25, jitter=0.05, loss=0.05, duplicate=0.05, reorder=True)
LIFT = 0.1  # [m]
UP = {
    "tr_rel_dest": [0, 0, -LIFT, 0, 0, 0, 1],
    "time_vel_sel": "velocity",
    "max_force_thres": 0.0,
    "max_torque_thres": 0.0,
}
SCALE = 0.1  # [-] of the hand, so that one after the other stays within reach
LEFT_OUT = {
    "robot": ("--without", "cspace_planner"),
    "operator": ("--without", "operator_console"),
}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """Robot's and operator's graph; the operator's is in the domain of this process."""
    folder = tmp_path_factory.mktemp("hosts")
    domain, lock = lock_domain()
    both = TwoHosts(folder, (domain, int(os.environ["ROS_DOMAIN_ID"])), LEFT_OUT, role=KeyRole.OPERATOR)
    both.relay.set(BAD)
    try:
        both.start(START_LIMIT)
        yield both
    finally:
        codes = both.stop()
        lock.close()
    assert codes == {"robot": 0, "operator": 0}, [side.lines[-30:] for side in both.sides.values()]


class Watch(Terminal):
    """The operator's client, and the state of the link as the operator's host sees it."""

    def __init__(self):
        super().__init__()
        self.link = None
        qos = qos_profile(graph.topic("link/state").qos)
        self.node.create_subscription(LinkStateMessage, "link/state", self._note, qos)

    def _note(self, message):
        self.link = LinkState(message.state)


@pytest.fixture
def terminal(hosts):
    with Watch() as client:
        wait(client, lambda c: client.link is LinkState.FRESH and c.queue.has_authority and not c.queue.stale)
        yield client


def do(terminal, command):
    outcome = terminal.ask(command)
    assert outcome.done, f"{command}: {outcome.text}"


def wait(terminal, ready, seconds=90.0):
    assert terminal.wait_for(ready, seconds), str((terminal.link, terminal.operator.queue, terminal.operator.robot))


def start_hand(terminal, speed=4.0):
    before = terminal.operator.robot.executed_seq
    do(terminal, commands.Replay("", speed, SCALE))
    wait(terminal, lambda c: c.queue.device is DeviceState.TRACKING)
    wait(terminal, lambda c: c.robot.executed_seq > before)


def finish(terminal):
    wait(terminal, lambda c: c.queue.device is DeviceState.IDLE)
    wait(
        terminal,
        lambda c: (
            c.queue.unacknowledged == 0
            and c.robot.executed_seq == c.queue.head_seq
            and c.robot.mode is ExecutorMode.IDLE
        ),
    )


def test_a_hand_drives_the_arm_over_the_link(hosts, terminal):
    start_hand(terminal)
    finish(terminal)
    assert terminal.operator.queue.head_seq > 100


@pytest.mark.nightly
def test_a_cut_in_the_middle_of_a_plan_is_told_and_survived(hosts, terminal):
    start_hand(terminal)
    hosts.relay.set(LinkSettings(up=False, down=False))
    wait(terminal, lambda c: terminal.link is LinkState.STALE and c.queue.stale)
    terminal.spin(10.0)  # the cut is this long
    hosts.relay.set(BAD)
    wait(terminal, lambda c: terminal.link is LinkState.FRESH and not c.queue.stale)
    finish(terminal)


@pytest.mark.nightly
def test_an_attack_on_the_robots_link_is_shown_at_the_operators(hosts, terminal):
    wait(terminal, lambda c: "cell" in c.peers)
    before = terminal.operator.peers["cell"].peer_refused  # the network sends some datagrams twice
    port = hosts.relay.robot_at
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for _ in range(100):  # as many as a socket's buffer holds
            stranger.sendto(b"TL" + os.urandom(60), ("127.0.0.1", port))
    wait(terminal, lambda c: c.peers["cell"].peer_refused >= before + 100)
    rows = {row.label: row.text for row in view(terminal.operator, terminal.now()).rows}
    assert "ALARM: it has refused" in rows["link to cell"]


@pytest.mark.nightly
def test_a_half_open_link_is_told_and_survived(hosts, terminal):
    start_hand(terminal)
    hosts.relay.set(LinkSettings(up=False))
    wait(terminal, lambda c: terminal.link is LinkState.HALF_OPEN)
    hosts.relay.set(LinkSettings(down=False))
    wait(terminal, lambda c: terminal.link is LinkState.STALE)
    hosts.relay.set(BAD)
    wait(terminal, lambda c: terminal.link is LinkState.FRESH)
    finish(terminal)


@pytest.mark.nightly
@pytest.mark.parametrize("role", ["robot", "operator"])
def test_a_link_node_killed_in_the_middle_of_a_plan_comes_back_and_the_plan_goes_on(hosts, terminal, role):
    start_hand(terminal)
    pid = hosts.sides[role].pid("link")
    os.kill(pid, signal.SIGKILL)
    if role == "robot":
        wait(terminal, lambda c: terminal.link is LinkState.STALE)
    else:
        wait(terminal, lambda c: c.queue.stale)
    wait(terminal, lambda c: terminal.link is LinkState.FRESH and not c.queue.stale)
    finish(terminal)
    assert hosts.sides[role].pid("link") != pid


def test_a_text_from_a_shell_of_the_operators_host_is_answered(hosts):
    telerobot("run", "status")


@pytest.mark.nightly
def test_a_primitive_its_change_a_macro_and_a_menus_leaf_sent_from_the_operators_host_run_at_the_robot(hosts, tmp_path):
    (tmp_path / "back_off.yaml").write_text(share_path("config/macros/back_off.yaml").read_text())
    with connect(name="test") as robot:
        assert robot.wait_ready(30.0), robot.state
        slow = robot.primitive("cartesian_guarded", **{**UP, "time_vel_val": 0.01})
        assert next(iter(slow)).name == "cartesian_guarded"
        assert slow.change(time_vel_val=0.1).done
        moved = slow.wait()
        assert moved.ok, moved
        assert moved.report.elapsed < 0.5 * LIFT / 0.01  # it was in force
    macro = ("macro", "run", "back_off", "way=0.02", "--override", "--folder", str(tmp_path))
    telerobot(*macro)
    telerobot(*macro, "--whole")
    telerobot("menu", "run", "guarded_motion/straight", "z=-0.02")


def test_a_halt_and_an_estop_from_a_shell_of_the_operators_host_arrive(hosts, terminal):
    start_hand(terminal)
    telerobot("halt")
    wait(terminal, lambda c: c.robot.mode is ExecutorMode.HALTED)
    do(terminal, commands.StopReplay())
    telerobot("resume")
    finish(terminal)
    telerobot("estop")
    wait(terminal, lambda c: c.robot.estop)
    telerobot("reset")
    wait(terminal, lambda c: not c.robot.estop)


@pytest.mark.nightly  # test/nodes/test_link_roles.py asks the same of the two links
def test_a_halt_at_the_robots_host_is_not_ended_by_an_operators_key(hosts, terminal):
    at_robot = {"ROS_DOMAIN_ID": str(hosts.sides["robot"].domain)}
    telerobot("halt", **at_robot)
    wait(terminal, lambda c: c.robot.mode is ExecutorMode.HALTED)
    for words, said in ((("resume",), "has not made this stop"), (("run", "reset"), "ends no stop of somebody else")):
        done = run(*words)
        assert done.returncode == 1, (words, done.stdout + done.stderr)
        assert said in done.stdout + done.stderr
    assert terminal.operator.robot.mode is ExecutorMode.HALTED
    telerobot("run", "reset", **at_robot)
    wait(terminal, lambda c: c.robot.mode is not ExecutorMode.HALTED)
    start_hand(terminal)
    finish(terminal)


def test_nothing_was_executed_twice_lost_or_out_of_order_and_each_host_recorded_itself(hosts, terminal):
    head = terminal.operator.queue.head_seq
    assert hosts.stop() == {"robot": 0, "operator": 0}
    with BagReader(hosts.bags["robot"]) as bag:
        executed = [
            seq
            for _, _, message in bag.messages(["/plan_executor/executed"])
            for seq in range(message.first_seq, message.last_seq + 1)
        ]
        counts = bag.counts
    assert (executed[0], executed[-1]) == (1, head)
    after = [one for before, one in pairwise(executed) if one != before + 1]
    assert after == [EPOCH_BLOCK * plan for plan in range(1, head // EPOCH_BLOCK + 1)]  # each primitive begins one
    assert counts["/hardware_interface/setpoint"] > 0
    assert counts.get("/path_plan_queue/state", 0) == 0
    with BagReader(hosts.bags["operator"]) as bag:
        counts = bag.counts
    assert counts[f"/{graph.OPERATOR_SIDE}plan_executor/state"] > 0
    assert counts.get("/hardware_interface/setpoint", 0) == 0


def run(*words, **environment):
    command = [sys.executable, "-m", "telerobot_nodes", *words]
    env = {**os.environ, **environment}
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, env=env)


def telerobot(*words, **environment):
    done = run(*words, **environment)
    assert done.returncode == 0, (words, done.stdout + done.stderr)
