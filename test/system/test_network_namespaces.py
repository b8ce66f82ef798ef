"""A robot's host and two operators' hosts on one network, as the deployment page says: one domain, real interfaces."""

import json
import os

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.bench.link import NetworkHosts, NotAllowedError, Side

pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(600),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

START_LIMIT = 180.0  # [s]
ROLES = {"cell": "robot", "desk": "operator", "desk2": "operator"}
LEFT_OUT = {"robot": ("--without", "cspace_planner"), "operator": ("--without", "operator_console")}

# Programs of the operator's host. Each ends with 0 when it has seen what it waits for.
DRIVE = """
from telerobot_nodes.client import connect
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.operator.client import commands

with connect() as robot:
    assert robot.wait_ready(60.0), robot.state
    assert robot.wait_until(lambda state: [peer.state for peer in state.peers] == [LinkState.FRESH], 30.0), robot.state
    outcome = robot.ask(commands.Replay("", 4.0, 0.1))
    assert outcome.done, outcome
    assert robot.wait_until(lambda state: state.moving, 30.0), robot.state
    print("moving", flush=True)
    EXPECTED
"""
AUTHORITY = """
from telerobot_nodes.client import connect

with connect() as robot:
    assert robot.wait_ready(60.0), robot.state
"""
CUT = """assert robot.wait_until(lambda state: state.peers[0].state is LinkState.STALE, 30.0), robot.state
    told = lambda: "link to cell stale" in robot.view().banner.text
    assert robot.wait_until(lambda state: told(), 5.0), robot.view().banner
    print("cut", flush=True)
    assert robot.wait_until(lambda state: state.peers[0].state is LinkState.FRESH, 60.0), robot.state"""
END = """
    def at_the_end(state):
        executed = state.robot.executed_seq == state.queue.head_seq and not state.queue.unacknowledged
        return executed and not state.moving and not state.input.replay
    assert robot.wait_until(at_the_end, 90.0), robot.state
    assert state_before < robot.state.robot.executed_seq"""


FRESH = """
from telerobot_nodes import graph
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.nodes.framework import Foreground

with Foreground("test_link") as client:
    seen = []
    client.subscribe("link/state", seen.append)
    assert client.wait(lambda: seen and seen[-1].state == LinkState.WAITING, 60.0), seen[-1:]
    print("waiting", flush=True)
    assert client.wait(lambda: seen[-1].state == LinkState.FRESH, 10.0), seen[-1]
"""


def test_a_link_that_is_there_before_its_interface_connects_when_that_has_its_address(tmp_path):
    net = made_network(("cell", "desk"))
    sides = []
    try:
        file = net.write_hosts(tmp_path, ROLES)
        net.have_address("cell", False)
        for name in ("cell", "desk"):
            words = ("run", "link", "--graph", ROLES[name], "--hosts", str(file), "--host", name)
            domain = int(os.environ["ROS_DOMAIN_ID"])
            sides.append(Side(name, domain, words, "link ready", tmp_path / f"{name}.log", net.inside(name)))
            sides[-1].start()
        for side in sides:
            side.wait_ready(START_LIMIT)
        assert any("no interface of this host has the address" in line for line in sides[0].lines), sides[0].lines
        program = net.program("cell", FRESH)
        line_of(program, "waiting")
        net.have_address("cell", True)
        end_of(program)
    finally:
        codes = [side.stop() for side in sides]
        net.close()
    assert codes == [0, 0]


def made_network(names):
    try:
        return NetworkHosts(names)
    except NotAllowedError as error:
        pytest.skip(f"no network namespaces here: {error}")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """The three graphs, ready; skipped where namespaces are not allowed."""
    net = made_network(ROLES)
    folder = tmp_path_factory.mktemp("network")
    domain, sides = int(os.environ["ROS_DOMAIN_ID"]), {}
    try:
        file = net.write_hosts(folder, ROLES)
        for name, role in ROLES.items():
            words = ("up", role, "--hosts", str(file), "--host", name, "--bag", str(folder / name), *LEFT_OUT[role])
            sides[name] = Side(role, domain, words, f"graph {role} ready", folder / f"{name}.log", net.inside(name))
            sides[name].start()
            sides[name].wait_ready(START_LIMIT)
            if name == "desk":
                end_of(net.program(name, AUTHORITY))  # before the other operator asks for it
        yield net, file
    finally:
        codes = {name: side.stop() for name, side in sides.items()}
        net.close()
    assert codes == dict.fromkeys(ROLES, 0), [side.lines[-30:] for side in sides.values()]


def line_of(program, word):
    lines = []
    for line in program.stdout:
        lines.append(line)
        if line.startswith(word):
            return
    raise AssertionError("".join(lines))


def end_of(program):
    output = program.communicate(timeout=120)[0]
    assert program.returncode == 0, output


def test_a_hand_at_the_desk_drives_the_arm_and_a_pulled_cable_is_told_and_survived(network):
    net, _ = network
    program = net.program(
        "desk", DRIVE.replace("EXPECTED", "state_before = robot.state.robot.executed_seq\n    " + CUT + END)
    )
    line_of(program, "moving")
    net.plug("cell", False)
    line_of(program, "cut")
    net.plug("cell", True)
    end_of(program)


@pytest.mark.parametrize(("word", "end"), [("halt", "resume"), ("estop", "reset")])
def test_a_third_host_stops_an_arm_that_moves_at_the_hand_of_another(network, word, end):
    net, _ = network
    seen = {"halt": "state.mode is ExecutorMode.HALTED", "estop": "state.robot.estop"}[word]
    wait = "from telerobot_nodes.core.protocol import ExecutorMode\n"
    wait += f"    assert robot.wait_until(lambda state: {seen} and not state.moving, 30.0), robot.state\n"
    wait += "    assert robot.ask(commands.StopReplay()).done"
    program = net.program("desk", DRIVE.replace("EXPECTED", wait))
    line_of(program, "moving")
    stopped = net.run("desk2", word)
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    end_of(program)
    assert net.run("desk", end).returncode == 0
    if word == "estop":
        net.run("desk", "resume")


def test_status_on_each_operators_host_names_the_link(network):
    net, _ = network
    for name in ("desk", "desk2"):
        done = net.run(name, "status", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["link to cell"].startswith("fresh")


def test_the_doctor_finds_each_host_by_its_name(network, tmp_path):
    net, file = network
    for name, role in ROLES.items():
        net.run(name, "doctor", "--hosts", str(file), "--role", role, "--host", name, "--json", str(tmp_path / name))
        rows = {row["check"]: row for row in json.loads((tmp_path / name).read_text())}
        assert rows["hosts"]["found"] == f"{name}: {net.address[name]}:7601"
