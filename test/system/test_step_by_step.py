"""A command that waits for its steps, on the running robot's graph: in a shell, and from another one."""

import os
import re
import subprocess
import sys

import pytest

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.operator.script import read_scripts
from telerobot_nodes.runtime import NODE_ENVIRONMENT, GraphOptions, Supervisor

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(400)]

START_LIMIT = 120.0  # [s]
TEXT = "move left_arm by 3 cm up; move left_arm by 3 cm down"


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    lines = []
    options = GraphOptions("robot", bag=tmp_path_factory.mktemp("robot") / "bag")
    supervisor = Supervisor(options, on_line=lambda node, line: lines.append(f"[{node}] {line}"))
    supervisor.start()
    try:
        assert supervisor.wait_ready(START_LIMIT), "\n".join(lines)
        yield supervisor
    finally:
        assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean, lines)


@pytest.fixture(scope="module")
def robot(graph):
    from telerobot_nodes.client import connect

    with connect(name="test") as client:
        assert client.wait_until(lambda: "left_arm.joints" in client.ask("show left_arm").text, 60.0)
        yield client


@pytest.fixture
def shell():
    """Starts `telerobot run`; ends it."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", "telerobot_nodes", "run", *words]
        environment = {**os.environ, **NODE_ENVIRONMENT}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen(command, env=environment, text=True, bufsize=1, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def until(process, mark):
    """The next line of standard error with a mark."""
    return next(line for line in process.stderr if line.startswith(mark))


def joints(robot):
    """As the database has them, measured."""
    return re.search(r"left_arm\.joints = \(([^)]*)\)", robot.ask("show left_arm").text).group(1)


def test_a_shell_confirms_each_step_and_its_log_shows_the_run_again(robot, shell, tmp_path):
    log = tmp_path / "run.script"
    process = shell("--step", "--log", str(log), TEXT)
    for _ in range(2):
        assert "straight" in until(process, "?")
        before = joints(robot)
        assert "waits for your step at straight" in robot.ask("status").text
        assert joints(robot) == before
        process.stdin.write("\n")
        assert "straight" in until(process, "+")
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.startswith("succeeded")) == (0, True)
    scripts = read_scripts(log)
    assert [script.outcome for script in scripts if script.outcome] == ["succeeded", "succeeded"]
    assert any(step.state is StepState.WAITING for script in scripts for step in script.steps)


def test_the_word_may_come_from_another_shell(robot, shell):
    process = shell("--break", "straight", TEXT)
    until(process, "?")
    assert robot.ask("continue").ok
    until(process, "+")
    until(process, "?")
    assert robot.ask("step").ok
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.startswith("succeeded")) == (0, True)


def test_a_halt_ends_a_command_that_waits_and_no_step_moves_the_arm(robot, shell):
    process = shell("--step", TEXT)
    until(process, "?")
    before = joints(robot)
    assert robot.ask("halt").ok
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.startswith("halted")) == (1, True)
    assert "no command is under way" in robot.ask("step").text
    assert joints(robot) == before
    assert robot.ask("reset").ok
