"""The real graph under the supervisor: the scenario of `robot_graph.py`, faults, and the table against what runs."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from telerobot_nodes import graph
from telerobot_nodes.graph import GRAPHS, OPERATOR_SIDE, Host
from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.nodes.interfaces import qos_profile
from telerobot_nodes.supervisor import Change, Supervisor

HERE = Path(__file__).resolve().parent
PATIENCE = 90.0  # [s] for a start that takes seconds
HIDDEN_TOPICS = {"/rosout", "/parameter_events"}

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


def load_scenario():
    spec = importlib.util.spec_from_file_location("scenario", HERE / "scenario.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scenario = load_scenario()


@pytest.fixture
def listener():
    made = scenario.Listener()
    yield made
    made.close()


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Starts a graph and waits until it is ready; stops it after the test."""
    monkeypatch.chdir(tmp_path)
    made = []

    def start(name, **options):
        events, lines = [], []
        supervisor = Supervisor(
            GraphOptions(name, bag=tmp_path / "bag", **options),
            on_event=events.append,
            on_line=lambda node, line: lines.append(f"{node}: {line}"),
        )
        supervisor.events, supervisor.lines = events, lines
        made.append(supervisor)
        supervisor.start()
        assert supervisor.wait_ready(PATIENCE), (supervisor.waiting_for(), lines[-30:])
        return supervisor

    yield start
    for supervisor in made:
        supervisor.stop()


def test_the_robot_graph_starts_reports_and_ends_cleanly(started, listener):
    supervisor = started("robot")
    scenario.robot_is_idle_and_knows_its_arm(listener)
    assert supervisor.stop() == 0, supervisor.lines[-30:]
    codes = {event.node: event.code for event in supervisor.events if event.change is Change.ENDED}
    assert codes == dict.fromkeys(GRAPHS["robot"], 0)


def test_the_death_of_the_control_loop_ends_the_robot_graph(started):
    supervisor = started("robot", without=("bag_recorder",))
    os.kill(supervisor.pid("gcmsf_control"), signal.SIGKILL)
    assert supervisor.wait(PATIENCE)
    assert supervisor.stop() == 1
    assert (supervisor.failure.node, supervisor.failure.code) == ("gcmsf_control", -signal.SIGKILL)


def test_the_death_of_the_console_is_survived_and_it_comes_back(started):
    supervisor = started("operator", without=("bag_recorder",))
    os.kill(supervisor.pid("operator_console"), signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    ready = []
    while len(ready) < 2:
        assert time.monotonic() < deadline, supervisor.lines[-30:]
        ready = [
            event for event in supervisor.events if (event.node, event.change) == ("operator_console", Change.READY)
        ]
        time.sleep(0.05)
    assert supervisor.failure is None
    assert supervisor.stop() == 0


def test_up_ends_with_0_when_ctrl_c_is_pressed_twice_while_nodes_work(tmp_path):
    command = [Path(sys.executable).with_name("telerobot"), "up", "robot", "--bag", tmp_path / "bag"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "graph robot ready" in line:
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, "".join(lines)


def test_a_namespace_moves_every_topic_of_the_arm(started, listener):
    started("robot", namespace="left", without=("bag_recorder",))
    names = {name for name, _types in settled(listener, listener.node.get_topic_names_and_types)}
    assert {"/left/plan_executor/state", "/left/joint_states", "/diagnostics"} <= names
    assert not any(name in names for name in ("/plan_executor/state", "/joint_states"))


def test_an_unknown_robot_is_refused_with_its_name(started):
    with pytest.raises(AssertionError, match="nosuch"):
        started("robot", robot="nosuch", without=("bag_recorder",))


# The table against what runs -----------------------------------------------------------------------------------


def settled(listener, read):
    """What is discovered once it has not changed for a second."""
    last, since = None, time.monotonic()
    deadline = since + PATIENCE
    while time.monotonic() < deadline:
        now = read()
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > 1.0:
            return now
        time.sleep(0.1)
    raise AssertionError("discovery does not settle")


def expected(entry, names):
    """Absolute names and types of a node's topics in the demo graph."""
    renamed = graph.remappings(entry.name, "demo")
    return {("/" + renamed.get(name, name), graph.topic(name).type) for name in names}


def far_side(upward):
    """What the link emulator hears and says of the crossing topics."""
    hears, says = set(), set()
    for entry in graph.crossing():
        near, far = ("/" + OPERATOR_SIDE + entry.name, entry.type), ("/" + entry.name, entry.type)
        hears.add(near if graph.is_upward(entry) else far)
        says.add(far if graph.is_upward(entry) else near)
    return says if upward else hears


def running(rows):
    return {(name, kinds[0]) for name, kinds in rows if name not in HIDDEN_TOPICS and "/transition_event" not in name}


def test_the_running_demo_graph_is_the_table(started, listener):
    started("demo")
    node = listener.node
    entries = [graph.node(name) for name in GRAPHS["demo"]]

    def read():
        return {
            entry.name: (
                running(node.get_publisher_names_and_types_by_node(entry.name, "/")),
                running(node.get_subscriber_names_and_types_by_node(entry.name, "/")),
                {name for name, _ in node.get_service_names_and_types_by_node(entry.name, "/")},
            )
            for entry in entries
        }

    found = settled(listener, read)
    everything = {("/" + entry.name, entry.type) for entry in graph.TOPICS}
    everything |= {("/" + OPERATOR_SIDE + entry.name, entry.type) for entry in graph.crossing()}
    for entry in entries:
        says, hears = expected(entry, entry.publishes), expected(entry, entry.subscribes)
        if entry.name == "link_emulator":
            says, hears = says | far_side(upward=True), hears | far_side(upward=False)
        if entry.name == "bag_recorder":
            hears = everything
        published, subscribed, services = found[entry.name]
        assert published == says, entry.name
        assert subscribed == hears, entry.name
        standard = {name for name in services if "parameter" in name or "/get_type_description" in name}
        standard |= {name for name in services if name.rsplit("/", 1)[1] in LIFECYCLE}
        assert services - standard == {f"/{service.name}" for service in entry.services}, entry.name


LIFECYCLE = {"change_state", "get_state", "get_available_states", "get_available_transitions", "get_transition_graph"}


def test_topics_of_the_running_graph_have_the_qos_of_the_table(started, listener):
    started("demo", without=("operator_console",))
    settled(listener, listener.node.get_topic_names_and_types)
    checked = 0
    for entry in graph.TOPICS:
        for info in listener.node.get_publishers_info_by_topic("/" + entry.name):
            wanted = qos_profile(entry.qos)
            assert info.qos_profile.reliability == wanted.reliability, entry.name
            assert info.qos_profile.durability == wanted.durability, entry.name
            checked += 1
    assert checked > len(graph.TOPICS)


def test_hosts_of_the_demo_see_only_their_side_of_the_link(started, listener):
    started("demo", without=("operator_console",))
    settled(listener, listener.node.get_topic_names_and_types)
    for entry in graph.crossing():
        near = "/" + OPERATOR_SIDE + entry.name
        for name, own in ((near, Host.OPERATOR), ("/" + entry.name, Host.ROBOT)):
            infos = listener.node.get_publishers_info_by_topic(name) + listener.node.get_subscriptions_info_by_topic(
                name
            )
            hosts = {graph.node(info.node_name).host for info in infos}
            assert hosts <= {own, Host.EITHER}, name


# The same under launch_testing, where it is installed -----------------------------------------------------------


def test_the_scenario_passes_under_launch_testing(tmp_path):
    if importlib.util.find_spec("launch_testing") is None or importlib.util.find_spec("launch_ros") is None:
        pytest.skip("launch_testing is not importable: it comes with ROS and is on no package index")
    command = [sys.executable, "-m", "launch_testing.launch_test", HERE / "robot_graph.py"]
    environment = {"AMENT_PREFIX_PATH": sys.prefix, **os.environ}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
