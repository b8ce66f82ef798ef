"""Command lines of the nodes: made in one place, the same for supervisor and launch files."""

import importlib.util
import re
from pathlib import Path

import pytest

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.graph import GRAPHS, OPERATOR_SIDE, WITH_CAMERA, WITH_HOSTS
from telerobot_nodes.graph.table import NODES
from telerobot_nodes.runtime import GraphOptions, launch_description, launching
from telerobot_nodes.runtime.launching import launch_is_installed, node_command

LAUNCH_FILES = Path(__file__).resolve().parent.parent / "launch"


def arguments_of(command):
    return command[command.index("run") :]


def test_a_plain_node_gets_its_robot_and_graph():
    command = node_command("plan_executor", GraphOptions("robot"))
    assert arguments_of(command) == ["run", "plan_executor", "--robot", "arm", "--graph", "robot", "--ros-args"]


def test_every_option_reaches_the_command_line(tmp_path):
    params = tmp_path / "p.yaml"
    params.touch()
    options = GraphOptions("robot", robot="panda", namespace="left", params=params, bag=tmp_path)
    assert arguments_of(node_command("plan_executor", options)) == [
        *("run", "plan_executor", "--robot", "panda", "--graph", "robot"),
        *("--params", str(params), "--bag", str(tmp_path)),
        *("--ros-args", "-r", "__ns:=/left"),
    ]


def test_with_an_emulated_link_the_operator_is_moved_to_its_side_and_the_robot_is_not():
    operator = node_command("path_plan_queue", GraphOptions("demo"))
    robot = node_command("plan_executor", GraphOptions("demo"))
    assert f"plan_executor/operations:={OPERATOR_SIDE}plan_executor/operations" in operator
    assert not any(OPERATOR_SIDE in word for word in robot)


def test_the_practice_robot_is_in_its_own_namespace_with_the_delay_asked_for():
    options = GraphOptions("practice", delay=4.0, loss=0.1)
    assert options.namespace == "practice"
    assert GraphOptions("practice", namespace="left").namespace == "left"
    for entry in options.nodes:
        command = node_command(entry.name, options)
        assert "__ns:=/practice" in command
        assert command[command.index("--params") + 1].endswith("config/practice.yaml")
        assert ("delay:=2.0" in command) is (entry.name == "link_emulator")
    words = node_command("link_emulator", options)
    assert {"jitter:=0.0", "loss:=0.1", 'profile:=""', "up:=true"} <= set(words)  # YAML, as ROS reads it


def test_without_options_the_link_is_that_of_the_parameter_file():
    assert not [word for word in node_command("link_emulator", GraphOptions("practice")) if ":=0" in word]
    assert launching.link_of(GraphOptions("practice").params).delay == 1.0


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("delay", {"graph": "robot", "delay": 1.0}),
        ("profile", {"graph": "operator", "profile": Path("delay.csv")}),
        ("jitter", {"graph": "practice", "jitter": 3.0}),
        ("profile", {"graph": "practice", "profile": Path("/nonexistent.csv")}),
    ],
)
def test_a_link_that_does_not_fit_is_refused_by_name(field, options):
    with pytest.raises(InvalidValueError) as refusal:
        GraphOptions(**options)
    assert refusal.value.field == field


def test_without_an_emulated_link_nothing_is_renamed():
    assert not any(OPERATOR_SIDE in word for word in node_command("path_plan_queue", GraphOptions("operator")))


def hosts_file(folder):
    file = folder / "hosts.yaml"
    file.write_text("hosts:\n  cell: {role: robot, port: 7601}\n  desk: {role: operator, port: 7602}\n")
    return file


def test_with_a_hosts_file_the_operator_is_moved_to_its_side_and_every_node_knows_its_host(tmp_path):
    file = hosts_file(tmp_path)
    operator = node_command("path_plan_queue", GraphOptions("operator", hosts=file))
    robot = node_command("plan_executor", GraphOptions("robot", hosts=file))
    assert f"plan_executor/operations:={OPERATOR_SIDE}plan_executor/operations" in operator
    assert not any(OPERATOR_SIDE in word for word in robot)
    for command, name in ((operator, "desk"), (robot, "cell")):
        at = command.index("--hosts")
        assert command[at : at + 4] == ["--hosts", str(file), "--host", name]


def test_the_link_is_started_with_a_hosts_file_only(tmp_path):
    for name in ("robot", "operator"):
        alone = {entry.name for entry in GraphOptions(name).nodes}
        linked = {entry.name for entry in GraphOptions(name, hosts=hosts_file(tmp_path)).nodes}
        assert linked - alone == WITH_HOSTS == {"link"}


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("hosts", {"graph": "demo"}),
        ("hosts", {"graph": "operator", "link": "/operator_side"}),
        ("host", {"graph": "operator", "host": "cell"}),
    ],
)
def test_a_hosts_file_where_it_does_not_fit_is_refused_by_name(tmp_path, field, options):
    with pytest.raises(InvalidValueError) as refusal:
        GraphOptions(**options, hosts=hosts_file(tmp_path))
    assert refusal.value.field == field


def test_a_bad_hosts_file_is_refused_at_the_start_with_file_and_line(tmp_path):
    file = hosts_file(tmp_path)
    file.write_text(file.read_text().replace("port: 7602", "prot: 7602"))
    with pytest.raises(ParameterFileError, match=r"hosts\.yaml:3:\d+: hosts\.desk\.prot"):
        GraphOptions("robot", hosts=file)


def test_nodes_left_out_are_not_started_and_the_order_stays():
    names = [entry.name for entry in GraphOptions("demo", without=("operator_console", "link_emulator")).nodes]
    assert names == [name for name in GRAPHS["demo"] if name not in {"operator_console", "link_emulator"}]


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("graph", {"graph": "moon"}),
        ("without", {"graph": "robot", "without": ("operator_console",)}),
        ("namespace", {"graph": "robot", "namespace": "left arm"}),
        ("namespace", {"graph": "robot", "namespace": "1st"}),
        ("namespace", {"graph": "robot", "namespace": "left:=right"}),
        ("robot", {"graph": "robot", "robot": ""}),
        ("params", {"graph": "robot", "params": Path("/nonexistent.yaml")}),
        ("params", {"graph": "robot", "params": Path("/")}),
        ("bag", {"graph": "robot", "bag": Path(__file__)}),
        ("state", {"graph": "robot", "state": Path(__file__)}),
    ],
)
def test_a_bad_option_is_refused_by_name(field, options):
    with pytest.raises(InvalidValueError) as refusal:
        GraphOptions(**options)
    assert refusal.value.field == field


def test_our_folder_of_launch_files_is_not_taken_for_ros_launch(monkeypatch):
    if importlib.util.find_spec("launch_ros") is not None:
        pytest.skip("ROS's launch is installed here")
    monkeypatch.syspath_prepend(str(LAUNCH_FILES.parent))
    assert importlib.util.find_spec("launch") is not None  # the trap
    assert not launch_is_installed()


def test_every_graph_has_a_launch_file_made_from_the_table():
    assert {path.name for path in LAUNCH_FILES.glob("*.py")} == {f"{name}.launch.py" for name in GRAPHS}
    for name in GRAPHS:
        assert f'launch_description("{name}")' in (LAUNCH_FILES / f"{name}.launch.py").read_text()


# The real launch, where it is installed ------------------------------------------------------------------------

needs_launch = pytest.mark.skipif(not launch_is_installed(), reason="ROS's launch and launch_ros are not importable")


def commands_of_launch(graph_name, **arguments):
    """Every command line a launch file would run, its own substitutions performed, in order."""
    from launch import LaunchContext

    spec = importlib.util.spec_from_file_location("description", LAUNCH_FILES / f"{graph_name}.launch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    context = LaunchContext(argv=[])
    context.launch_configurations.update(arguments)
    commands = []
    for entity in module.generate_launch_description().entities:
        for action in entity.execute(context) or []:
            action._perform_substitutions(context)
            commands.append([context.perform_substitution(_joined(words)) for words in action.cmd])
    return commands


def _joined(words):
    from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

    class Joined:
        def perform(self, context):
            return perform_substitutions(context, normalize_to_list_of_substitutions(words))

    return Joined()


@needs_launch
@pytest.mark.parametrize("graph_name", sorted(GRAPHS))
@pytest.mark.parametrize("arguments", [{}, {"robot": "panda", "namespace": "left", "without": "bag_recorder"}])
def test_launch_files_and_supervisor_start_the_same_commands(graph_name, arguments):
    options = launching._options_from_strings(
        graph_name,
        {
            "robot": "arm",
            "namespace": "",
            "params": "",
            "bag": "",
            "without": "",
            "link": "",
            "hosts": "",
            "host": "",
            "camera": "false",
            "state": "",
            "delay": "",
            "jitter": "",
            "loss": "",
            "profile": "",
            **arguments,
        },
    )
    launched = commands_of_launch(graph_name, **arguments)
    supervised = [arguments_of(node_command(entry.name, options)) for entry in options.nodes]
    assert [[Path(command[0]).name, *command[1:]] for command in launched] == [words[1:] for words in supervised]


@needs_launch
def test_launch_files_take_the_arguments_of_the_supervisor():
    declared = {action.name for action in launch_description("robot").get_launch_arguments()}
    link = {"link", "hosts", "host", "delay", "jitter", "loss", "profile"}
    assert declared == {"robot", "namespace", "params", "bag", "without", "camera", "state"} | link


def test_namespaces_with_and_without_slash_are_the_same():
    with_slash = node_command("plan_executor", GraphOptions("robot", namespace="/left"))
    assert with_slash == node_command("plan_executor", GraphOptions("robot", namespace="left"))


@pytest.mark.parametrize("name", sorted(WITH_CAMERA))
def test_a_camera_is_added_on_request_only(name):
    plain, more = ({entry.name for entry in GraphOptions(name, camera=camera).nodes} for camera in (False, True))
    assert more - plain == {"camera"}


def test_an_operators_host_has_no_camera():
    with pytest.raises(InvalidValueError, match=r"camera: 'given' .*allowed: with graph demo or practice or robot"):
        GraphOptions("operator", camera=True)


def test_every_node_of_the_table_has_a_command():
    for entry in NODES:
        name = next((name for name, members in GRAPHS.items() if entry.name in members), "robot")
        assert re.fullmatch(r"(/\S+ )+run \w+ .*--ros-args.*", " ".join(node_command(entry.name, GraphOptions(name))))
