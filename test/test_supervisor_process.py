"""The supervisor as a process: stop signals, its own death, readiness, the last line."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest
from supervised import LIVES, PATIENCE, PRELUDE, ROBOT, alive, wait_until

pytestmark = pytest.mark.system  # of processes; what they wait for is timed


WATCHING = "from telerobot_nodes.runtime.supervisor import end_with_supervisor; end_with_supervisor(); "
SUPERVISING = """
import sys
from telerobot_nodes.runtime.launching import GraphOptions
from telerobot_nodes.runtime.supervisor import Supervisor, supervise
def command(name, options):
    return [sys.executable, "-c", {script!r}, name]
supervisor = Supervisor(GraphOptions("robot"), command=command, grace={grace})
sys.exit(supervise(supervisor, ready_timeout={ready_timeout}, check_only={check_only}))
"""


@pytest.fixture
def run_supervisor():
    """Starts a supervising process; kills what is left of it after the test."""
    made = []

    def start(script=LIVES, grace=1.0, ready_timeout=60.0, check_only=False):
        text = PRELUDE + WATCHING + 'print("pid", os.getpid(), flush=True)\n' + textwrap.dedent(script)
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                SUPERVISING.format(script=text, grace=grace, ready_timeout=ready_timeout, check_only=check_only),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        made.append(process)
        return process

    yield start
    for process in made:
        process.kill()
        process.wait()


def lines_until(process, text):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"{text!r} never came: {lines}")


def pids(lines):
    return [int(line.split()[-1]) for line in lines if "] pid " in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.brief(2)
def test_a_stop_signal_ends_every_node_and_the_exit_code_is_0(run_supervisor, number):
    process = run_supervisor()
    nodes = pids(lines_until(process, "graph robot ready"))
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    assert len(nodes) == len(ROBOT)
    assert not any(alive(pid) for pid in nodes)


def test_a_clean_up_that_hung_is_said_and_is_no_failure(run_supervisor):
    hangs = """
    def end(*_):
        if name == "plan_executor":
            os.kill(os.getpid(), signal.SIGALRM)
        sys.exit(0)
    signal.signal(signal.SIGINT, end)
    print(f"telerobot: {name} ready", flush=True)
    time.sleep(600)
    """
    process = run_supervisor(hangs)
    lines_until(process, "graph robot ready")
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(PATIENCE) == 0
    assert "telerobot: plan_executor was ended by its limit" in rest
    assert rest.count("by its limit") == 1


def test_ctrl_c_pressed_again_and_again_is_one_clean_stop(run_supervisor):
    slow = """
    def end(*_):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("ending", flush=True)
        time.sleep(0.3)
        print("ended", name, flush=True)
        sys.exit(0)
    signal.signal(signal.SIGINT, end)
    print(f"telerobot: {name} ready", flush=True)
    time.sleep(600)
    """
    process = run_supervisor(slow, grace=10.0)
    nodes = pids(lines_until(process, "graph robot ready"))
    process.send_signal(signal.SIGINT)
    lines_until(process, "ending")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(PATIENCE) == 0
    assert rest.count("ended") == len(ROBOT)
    assert not any(alive(pid) for pid in nodes)


def test_nodes_end_when_the_supervisor_is_killed(run_supervisor):
    process = run_supervisor()
    nodes = pids(lines_until(process, "graph robot ready"))
    process.kill()
    process.wait()
    assert len(nodes) == len(ROBOT)
    wait_until(lambda: not any(alive(pid) for pid in nodes))


def test_nodes_that_ignore_signals_are_killed_when_the_supervisor_is(run_supervisor):
    process = run_supervisor("signal.signal(signal.SIGTERM, signal.SIG_IGN); " + LIVES)
    nodes = pids(lines_until(process, "graph robot ready"))
    process.kill()
    process.wait()
    wait_until(lambda: not any(alive(pid) for pid in nodes))


def test_a_node_that_never_gets_ready_ends_the_graph_and_is_named(run_supervisor):
    process = run_supervisor('time.sleep(600 if name == "plan_executor" else 0); ' + LIVES, ready_timeout=2.0)
    output = process.stdout.read()
    assert process.wait(PATIENCE) == 1
    assert "not ready after 2 s" in output
    assert "plan_executor" in output.split("not ready after 2 s")[1]


def test_a_check_ends_with_0_as_soon_as_every_node_is_ready(run_supervisor):
    process = run_supervisor(check_only=True)
    output = process.stdout.read()
    assert process.wait(PATIENCE) == 0
    assert "graph robot ready" in output
    assert not any(alive(pid) for pid in pids(output.splitlines()))


def test_a_check_fails_when_a_node_does(run_supervisor):
    process = run_supervisor('sys.exit(6) if name == "gcmsf_control" else None; ' + LIVES, check_only=True)
    assert process.wait(PATIENCE) == 1


def test_the_last_line_names_the_required_node_that_died_and_its_code(run_supervisor):
    process = run_supervisor('sys.exit(6) if name == "gcmsf_control" else None; ' + LIVES)
    output = process.stdout.read()
    assert process.wait(PATIENCE) == 1
    assert "graph stopped: gcmsf_control ended with exit code 6" in output


def test_the_graph_goes_on_when_nobody_reads_the_output(run_supervisor):
    chatty = 'print(f"telerobot: {name} ready", flush=True)\nwhile True: print("x", flush=True); time.sleep(0.02)'
    process = run_supervisor(chatty)
    nodes = pids(lines_until(process, "graph robot ready"))
    process.stdout.close()
    time.sleep(0.3)  # many lines of output into the void
    assert process.poll() is None
    assert all(alive(pid) for pid in nodes)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
