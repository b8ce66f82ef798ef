"""A command that waits for its steps, with the decision unit's real process: in a shell, and from another one."""

import os
import signal
import subprocess
import sys

import pytest

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.operator.script import read_scripts
from telerobot_nodes.runtime import GraphOptions, node_environment
from telerobot_nodes.runtime.launching import node_command

pytestmark = [pytest.mark.system, pytest.mark.timeout(200)]

ENVIRONMENT = node_environment(os.environ)
TEXT = "wait for 0.1 s; wait for 0.2 s"  # needs no arm


@pytest.fixture(scope="module")
def robot():
    """A client of a decision unit that runs alone."""
    from telerobot_nodes.nodes.clients import CommandClient

    command = node_command("rtc_decision_unit", GraphOptions("robot"))
    unit = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    try:
        assert any("ready" in line for line in unit.stdout), "the decision unit has not begun"
        with CommandClient(name="test") as client:
            yield client
    finally:
        unit.send_signal(signal.SIGINT)
        unit.wait(30.0)


@pytest.fixture
def shell():
    """Starts `telerobot run`; ends it."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", "telerobot_nodes", "run", *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen(command, env=ENVIRONMENT, text=True, bufsize=1, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def until(process, mark):
    """The next line of standard error with a mark."""
    return next(line for line in process.stderr if line.startswith(mark))


def test_a_shell_confirms_each_step_and_its_log_shows_the_run_again(robot, shell, tmp_path):
    log = tmp_path / "run.script"
    process = shell("--step", "--log", str(log), TEXT)
    for _ in range(2):
        until(process, "?")
        assert "waits for your step at" in robot.ask("status").text
        process.stdin.write("\n")
        until(process, "+")
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.startswith("succeeded")) == (0, True)
    scripts = read_scripts(log)
    assert [script.outcome for script in scripts if script.outcome] == ["succeeded", "succeeded"]
    assert sum(step.state is StepState.WAITING for script in scripts for step in script.steps) >= 2


def test_the_word_may_come_from_another_shell_and_a_line_typed_may_be_any_text(robot, shell):
    process = shell("--break", "wait", TEXT)
    until(process, "?")
    process.stdin.write("where module\n")
    assert "module: (" in until(process, "  module")
    assert robot.ask("continue").ok
    until(process, "+")
    until(process, "?")
    assert robot.ask("step").ok
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.startswith("succeeded")) == (0, True)


def test_a_halt_ends_a_command_that_waits(robot, shell):
    process = shell("--step", TEXT)
    until(process, "?")
    assert robot.ask("halt").ok
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out.startswith("halted")) == (1, True)
    assert "no command is under way" in robot.ask("step").text


def test_several_tasks_are_tried_and_none_is_done(robot):
    report = robot.attempt("wait for 0.1 s; wait for 50 s")
    assert report.outcome == "works"
    assert [step.step.partition(":")[0] for step in report.trial] == ["1", "2"]
    assert robot.ask("status").text == "none"
