"""The `telerobot` command: sub-commands, clear refusals, exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

import telerobot_nodes.__main__ as entry
from telerobot_nodes.cli import main
from telerobot_nodes.cli.table import COMMANDS, GROUPS
from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.graph.table import NODES

COMMAND = Path(sys.executable).with_name("telerobot")


def refused(capsys, *words):
    """Exit code and whole output, on one line, of a command line that must be refused."""
    code = main(words)
    captured = capsys.readouterr()
    return code, " ".join((captured.out + captured.err).replace("│", " ").split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_has_its_help(name, capsys):
    assert main([name, "--help"]) == 0
    assert f"telerobot {name}" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "hurries"), [("halt", True), ("estop", True), ("status", False)])
@pytest.mark.lengthy
def test_a_stop_passes_ordinary_programs_where_the_user_may(name, hurries):
    script = f"""
import os, sys
if os.fork() == 0:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        os._exit(1)
    os._exit(0)
allowed = os.wait()[1] == 0
from telerobot_nodes.cli import main
sys.argv = ["telerobot", {name!r}, "--help"]
main()
print("real time:", os.sched_getscheduler(0) == os.SCHED_RR, "allowed:", allowed)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    allowed = "allowed: True" in done.stdout
    assert f"real time: {hurries and allowed}" in done.stdout


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in COMMANDS)


def test_help_stands_in_groups_one_line_each(capsys):
    assert main(["--help"]) == 0
    output = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert all(group in output for group in GROUPS)
    assert all(f"{name} {entry.summary}" in output for name, entry in COMMANDS.items())


def test_help_imports_no_command():
    script = """
import sys
from telerobot_nodes.cli import main
main(["--help"])
print(sorted({"numpy", "numba", "mujoco", "pinocchio", "rclpy"} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_an_unknown_command_is_refused(capsys):
    code, output = refused(capsys, "fly")
    assert code == 2
    assert "No such command 'fly'" in output


def test_an_unknown_node_is_refused_with_the_list_of_nodes(capsys):
    code, output = refused(capsys, "run", "plan_exekutor")
    assert code == 2
    assert "'plan_exekutor'" in output
    assert all(entry.name in output for entry in NODES)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run"], "Missing argument"),
        (["run", "plan_executor", "--params", "/nonexistent.yaml"], "/nonexistent.yaml"),
        (["run", "plan_executor", "stray", "--ros-args"], "stray"),
        (["run", "plan_executor", "--speed", "3"], "--speed"),
        (["run", "plan_executor", "--graph", "operator"], "'operator'"),
        (["up"], "Missing argument"),
        (["up", "moon"], "moon"),
        (["up", "robot", "--without", "operator_console"], "operator_console"),
        (["up", "robot", "--namespace", "left arm"], "left arm"),
        (["up", "robot", "--params", "/nonexistent.yaml"], "/nonexistent.yaml"),
        (["up", "robot", "--ready-timeout", "soon"], "timeout"),
        (["up", "robot", "--ready-timeout", "nan"], "timeout"),
        (["graph", "--format", "svg"], "svg"),
    ],
)
def test_a_bad_command_line_is_refused_naming_what_is_wrong(words, expected, capsys):
    code, output = refused(capsys, *words)
    assert code == 2
    assert expected in output
    assert "Traceback" not in output


@pytest.mark.parametrize("command", [[str(COMMAND)], [sys.executable, "-m", "telerobot_nodes"]])
@pytest.mark.lengthy
def test_command_and_module_are_the_same_program(command, tmp_path):
    done = subprocess.run([*command, "run", "nosuch"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("telerobot: node 'nosuch' is not in the graph table")


def test_the_table_is_printed_in_the_format_asked_for(capsys):
    for form, start in (("text", "hardware_interface"), ("mermaid", "flowchart"), ("markdown", "# The graph")):
        assert main(["graph", "--format", form]) == 0
        assert capsys.readouterr().out.startswith(start)


@pytest.mark.lengthy
def test_asking_for_help_loads_neither_ros_nor_physics():
    script = "import sys; from telerobot_nodes.cli.app import main; main(['up', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"rclpy", "mujoco", "pinocchio", "numpy"} & set(done.stdout.split())


def test_units_in_help_are_not_taken_for_markup(capsys):
    assert main(["plan", "--help"]) == 0
    assert "[rad]" in capsys.readouterr().out


@pytest.mark.parametrize("option", [("--hand", __file__), ("--speed", "2"), ("--time-clutch",), ("--json", "x.json")])
def test_an_option_that_the_demo_with_a_console_would_ignore_is_refused_with_what_to_do(option, capsys):
    code, output = refused(capsys, "demo", *option)
    assert code == 2
    assert f"{option[0]}: 'given' is not allowed; allowed: with --headless; " in output


def test_the_link_of_the_command_line_is_in_the_parameters_of_the_demo_with_the_rest_kept(tmp_path, root):
    import yaml

    from telerobot_nodes.cli.demo import with_link
    from telerobot_nodes.operator.client import commands

    source = root / "config" / "demo.yaml"
    file = with_link(source, tmp_path / "run" / "parameters.yaml", commands.SetLink(3.0, 0.1, 0.05))
    before, after = (yaml.safe_load(path.read_text()) for path in (source, file))
    assert after.pop("link_emulator")["ros__parameters"] == {"delay": 3.0, "jitter": 0.1, "loss": 0.05}
    assert before.pop("link_emulator")["ros__parameters"]["delay"] == 1.0
    assert after == before


@pytest.mark.parametrize("content", [b"\xff\xfe: [", b"link_emulator: [", b"- a\n- b\n"])
def test_a_parameter_file_that_cannot_be_read_is_named(tmp_path, content):
    from telerobot_nodes.cli.demo import with_link
    from telerobot_nodes.operator.client import commands

    source = tmp_path / "broken.yaml"
    source.write_bytes(content)
    with pytest.raises(ParameterFileError, match=r"broken\.yaml"):
        with_link(source, tmp_path / "new.yaml", commands.SetLink(3.0, 0.1, 0.05))
    assert not (tmp_path / "new.yaml").exists()


def test_ctrl_c_while_a_command_loads_ends_it_without_a_traceback(monkeypatch, capsys):
    def interrupted(_names):
        raise KeyboardInterrupt

    monkeypatch.setattr("telerobot_nodes.cli.app.build_app", interrupted)
    monkeypatch.setattr("sys.argv", ["telerobot", "macro", "list"])
    assert entry.main() == 130
    assert capsys.readouterr().err == ""
