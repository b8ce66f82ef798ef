"""The real graph under the supervisor: the scenario of `robot_graph.py`, faults, and the table against what runs."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import robot_scenario as scenario
from rclpy.node import NodeNameNonExistentError
from supervised import wait_until

from telerobot_nodes import graph
from telerobot_nodes.graph import GRAPHS, OPERATOR_SIDE, WITH_HOSTS, Host
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.operator.goal_topics import POINT, POSE
from telerobot_nodes.runtime import GraphOptions, Supervisor
from telerobot_nodes.runtime.node_events import Change

HERE = Path(__file__).resolve().parent
PATIENCE = 90.0  # [s] for a start that takes seconds
LIFECYCLE = {"change_state", "get_state", "get_available_states", "get_available_transitions", "get_transition_graph"}
HIDDEN_TOPICS = {"/rosout", "/parameter_events"}
OTHER_ARM = "/right/"

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


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
    assert codes == {name: 0 for name in GRAPHS["robot"] if name not in WITH_HOSTS}


def test_loop_and_hardware_that_die_together_come_back(started):
    supervisor = started("robot", without=("bag_recorder",))
    first = {name: supervisor.pid(name) for name in ("gcmsf_control", "hardware_interface")}
    for pid in first.values():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: all(supervisor.pid(name) != pid for name, pid in first.items()))
    assert supervisor.wait_ready(PATIENCE), supervisor.lines[-30:]
    assert supervisor.failure is None
    assert supervisor.stop() == 0


@pytest.mark.nightly
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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_namespace_moves_every_topic_of_the_arm(started, listener):
    started("robot", namespace="left", without=("bag_recorder",))
    wanted = {"/left/plan_executor/state", "/left/joint_states", "/left/plan_executor/window", "/diagnostics"}
    names = eventually(lambda: dict(listener.node.get_topic_names_and_types()).keys(), wanted.issubset)
    assert wanted <= names
    assert not any(name in names for name in ("/plan_executor/state", "/joint_states"))


def test_an_unknown_robot_is_refused_with_its_name(started):
    with pytest.raises(AssertionError, match="nosuch"):
        started("robot", robot="nosuch", without=("bag_recorder",))


# The table against what runs -----------------------------------------------------------------------------------


def eventually(read, accept):
    """What is read once it is accepted, or last before PATIENCE runs out: discovery takes its time."""
    deadline = time.monotonic() + PATIENCE
    while not accept(found := read()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


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
    """Names and types of topics, without ROS's own, an action's, and those of another arm of the workcell."""
    ours = [(name, kinds[0]) for name, kinds in rows if name not in HIDDEN_TOPICS and not name.startswith(OTHER_ARM)]
    return {(name, kind) for name, kind in ours if "/transition_event" not in name and "/_action/" not in name}


def own_services(rows):
    names = {name for name, _ in rows if "parameter" not in name and "/get_type_description" not in name}
    names = {name for name in names if "/_action/" not in name}
    return {name for name in names if name.rsplit("/", 1)[1] not in LIFECYCLE}


def wiring_of_the_table():
    """What each node of the demo says, hears and serves: (topics, topics, services) by node."""
    wiring = {}  # of the recorder, what it hears is left out: everything
    for name in GRAPHS["demo"]:
        entry = graph.node(name)
        says, hears = expected(entry, entry.publishes), expected(entry, entry.subscribes)
        if name == "gcmsf_control":
            hears = {row for row in hears if row[0] != "/cspace_planner/world"}  # with its parameter `field`
        if name == "plan_executor":
            hears = {row for row in hears if not row[0].startswith("/link/")}  # where keys have roles
        if name == "operator_console":
            hears |= {(POINT, "geometry_msgs/msg/PointStamped"), (POSE, "geometry_msgs/msg/PoseStamped")}  # of RViz2
        if name == "link_emulator":
            says, hears = says | far_side(upward=True), hears | far_side(upward=False)
        serves = {f"/{service.name}" for service in entry.services}
        if name == "link_emulator":
            serves |= {f"/{OPERATOR_SIDE}{one.name}" for owner in graph.NODES for one in owner.services if one.crosses}
        wiring[name] = (says, hears, serves)
    return wiring


def wiring_that_runs(node):
    wiring = {}
    for name in set(GRAPHS["demo"]) & set(node.get_node_names()):
        with contextlib.suppress(NodeNameNonExistentError):  # not yet discovered
            hears = running(node.get_subscriber_names_and_types_by_node(name, "/"))
            if name == "gcmsf_control":  # halts are heard in a process of its own
                hears |= running(node.get_subscriber_names_and_types_by_node(f"{name}_halts", "/"))
            wiring[name] = (
                running(node.get_publisher_names_and_types_by_node(name, "/")),
                hears if name != "bag_recorder" else set(),
                own_services(node.get_service_names_and_types_by_node(name, "/")),
            )
    return wiring


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo graph and a listener that has discovered all of it."""
    bag = tmp_path_factory.mktemp("demo") / "bag"
    lines = []
    supervisor = Supervisor(GraphOptions("demo", bag=bag), on_line=lambda node, line: lines.append(f"{node}: {line}"))
    listener = scenario.Listener("demo_listener")
    supervisor.start()
    try:
        assert supervisor.wait_ready(PATIENCE), (supervisor.waiting_for(), lines[-30:])
        eventually(lambda: wiring_that_runs(listener.node), lambda found: found == wiring_of_the_table())
        yield listener
    finally:
        listener.close()
        supervisor.stop()


@pytest.mark.nightly
def test_the_recorder_hears_everything_that_is_said_by_name_and_type(demo):
    hears = running(demo.node.get_subscriber_names_and_types_by_node("bag_recorder", "/"))
    said = set().union(*(says for says, _, _ in wiring_of_the_table().values()))
    assert said - hears == set()


@pytest.mark.parametrize("name", GRAPHS["demo"])
def test_a_running_node_says_hears_and_serves_what_the_table_gives_it(demo, name):
    assert wiring_that_runs(demo.node)[name] == wiring_of_the_table()[name]


def test_topics_of_the_running_graph_have_the_qos_of_the_table(demo):
    for entry in graph.TOPICS:
        wanted = qos_profile(entry.qos)
        for info in demo.node.get_publishers_info_by_topic("/" + entry.name):
            assert info.qos_profile.reliability == wanted.reliability, entry.name
            assert info.qos_profile.durability == wanted.durability, entry.name


def test_hosts_of_the_demo_see_only_their_side_of_the_link(demo):
    for entry in graph.crossing():
        for name, own in ((OPERATOR_SIDE + entry.name, Host.OPERATOR), (entry.name, Host.ROBOT)):
            infos = demo.node.get_publishers_info_by_topic("/" + name)
            infos += demo.node.get_subscriptions_info_by_topic("/" + name)
            assert infos, name
            assert {graph.node(info.node_name.removesuffix("_halts")).host for info in infos} <= {own, Host.EITHER}, (
                name
            )


# The same under launch_testing, where it is installed -----------------------------------------------------------


def test_the_scenario_passes_under_launch_testing(tmp_path):
    if importlib.util.find_spec("launch_testing") is None or importlib.util.find_spec("launch_ros") is None:
        pytest.skip("launch_testing is not importable: it comes with ROS and is on no package index")
    command = [sys.executable, "-m", "launch_testing.launch_test", HERE / "robot_graph.py"]
    environment = {"AMENT_PREFIX_PATH": sys.prefix, **os.environ}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
