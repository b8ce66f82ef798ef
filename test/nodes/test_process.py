"""The end of a node's process: everything of the middleware ends inside `main`, and the exit code is the node's."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

import rclpy
from std_msgs.msg import String

from telerobot_nodes.graph import NODES, WITH_HOSTS, node
from telerobot_nodes.motion.loop import PRIORITY as LOOP_PRIORITY
from telerobot_nodes.nodes.framework.process import AUTOGROUP, _spin
from telerobot_nodes.nodes.halts.halt_receiver import PRIORITY
from telerobot_nodes.runtime import node_environment

START_LIMIT = 90.0  # [s] until a node is ready; functions may still have to be compiled
END_LIMIT = 30.0  # [s] after SIGINT; a node on a quiet machine takes 0.5 s
GUARD = 'if __name__ == "__main__":\n'  # a node may spawn processes, which import this file again

HAND = {"path_plan_queue": -5, "operator_input": -5, "input_device": -5}  # before the displays
NICENESS = HAND | {"camera": os.nice(0) + 10}
ALONE = [entry.name for entry in NODES if entry.name not in WITH_HOSTS]  # the others need a hosts file

# Runs a node by its `main`, then prints its niceness and the names of the threads that are left.
RUN = """
import importlib, os, pathlib, sys
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions

name, folder, graph_name, *ros_args = sys.argv[1:]
options = NodeOptions(name, bag=pathlib.Path(folder) / "bag", graph=graph_name, ros_args=tuple(ros_args))
code = importlib.import_module(graph.node(name).module).main(options)
threads = [path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")]
print("code", code, "nice", os.nice(0), "threads", ",".join(threads), flush=True)
"""


def run_node(folder, name, *ros_args):
    """Output of a node that gets SIGINT as soon as it is ready, line by line."""
    script = folder / "run.py"
    script.write_text(GUARD + textwrap.indent(RUN, "    "))
    words = [sys.executable, str(script), name, str(folder), "demo", *ros_args]
    environment = node_environment(os.environ)
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
    )
    watch = threading.Timer(START_LIMIT + END_LIMIT, process.kill)
    watch.start()
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line == f"telerobot: {name} ready\n":
                process.send_signal(signal.SIGINT)
    finally:
        watch.cancel()
        process.kill()
        process.wait()
    return lines


def left_over(lines):
    """Exit code, niceness, and names of the threads that were left when `main` had returned."""
    last = [line for line in lines if line.startswith("code ")]
    assert last, "\n".join(lines)
    _, code, _, niceness, _, threads = last[0].split(" ", 5)
    return int(code), int(niceness), threads.split(",")


@pytest.mark.parametrize(
    ("name", "ros_args"),
    [*((name, ()) for name in ALONE), ("gcmsf_control", ("--ros-args", "-p", "own_process:=false"))],
    ids=[*ALONE, "gcmsf_control_on_a_thread"],
)
@pytest.mark.timeout(START_LIMIT + 2 * END_LIMIT)
@pytest.mark.brief(2)
def test_the_middleware_has_ended_when_main_returns(tmp_path, name, ros_args):
    code, niceness, threads = left_over(run_node(tmp_path, name, *ros_args))
    assert code == 0
    if os.geteuid() == 0:
        assert niceness == NICENESS.get(name, -15 if node(name).priority else os.nice(0))
    assert [thread for thread in threads if thread.startswith("dds.ev")] == []


def test_a_process_of_a_node_runs_no_static_destructors(tmp_path):
    script = tmp_path / "end.py"
    script.write_text(
        "import atexit\nfrom telerobot_nodes.nodes.framework import end_process\n"
        "atexit.register(print, 'exit handlers ran')\nprint('last words', end='')\nend_process(3)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "last words")


def test_the_telerobot_command_ends_a_node_with_its_exit_code(tmp_path):
    words = [sys.executable, "-m", "telerobot_nodes", "run", "link_emulator"]
    environment = {**node_environment(os.environ), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True, cwd=Path(tmp_path))
    try:
        assert "ready" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(END_LIMIT) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("alone", "niceness"), [(True, -15), (False, 0)])
def test_an_urgent_node_is_urgent_beside_other_sessions_too(alone, niceness):
    """Of a session that it leads, and of no other: a person's shell stays as it is."""
    if not AUTOGROUP.exists() or os.geteuid() != 0:
        pytest.skip("no sessions with a niceness here, or no right to raise it")
    script = (
        "from telerobot_nodes.nodes.framework.process import AUTOGROUP, be_urgent\n"
        "be_urgent(); print(AUTOGROUP.read_text().split()[-1])"
    )
    inside = [sys.executable, "-c", script]
    leader = f"import subprocess, sys; sys.exit(subprocess.run({inside!r}).returncode)"
    command = inside if alone else [sys.executable, "-c", leader]
    found = subprocess.run(command, capture_output=True, text=True, start_new_session=True, check=True)
    assert int(found.stdout) == niceness


def test_a_node_in_real_time_takes_the_middlewares_threads_along():
    """Its own thread, threads that it starts, and threads of the transport that were there before."""
    script = (
        "import os, rclpy\n"
        "from telerobot_nodes.nodes.framework import be_real_time\n"
        "rclpy.init(); node = rclpy.create_node('one'); be_real_time(33)\n"
        "for one in os.listdir('/proc/self/task'):\n"
        "    name = open(f'/proc/self/task/{one}/comm').read().strip()\n"
        "    if name.startswith('dds.') or int(one) == os.getpid():\n"
        "        print(os.sched_getscheduler(int(one)), os.sched_getparam(int(one)).sched_priority)\n"
        "import sys; sys.stdout.flush(); os._exit(0)\n"
    )
    if os.geteuid() != 0:
        pytest.skip("no right to raise it")
    rows = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split("\n")
    assert len(rows) > 3 and set(rows) == {f"{os.SCHED_RR} 33", ""}, rows


def test_what_stops_the_arm_precedes_what_moves_it():
    priorities = {node.name: node.priority for node in NODES if node.priority}
    order = sorted(priorities, key=priorities.get, reverse=True)
    assert order == ["hardware_interface", "gcmsf_control", "link", "plan_executor", "rtc_decision_unit"]
    assert priorities["gcmsf_control"] < PRIORITY < priorities["hardware_interface"] < LOOP_PRIORITY


def test_a_node_under_load_notices_its_end(ros):
    """Messages always wait for this one: each asks for the next, until the load would end by itself."""
    load_ends = time.monotonic() + 20.0
    stop = threading.Event()

    class Loaded(rclpy.node.Node):
        active, failure, linger, finished, errors = False, "", 0.0, False, 0

    node = Loaded("loaded")
    publisher = node.create_publisher(String, "~/load", 100)

    def again(message):
        if time.monotonic() < load_ends:
            publisher.publish(message)

    node.create_subscription(String, "~/load", again, 100)
    while not publisher.get_subscription_count():
        assert time.monotonic() < load_ends
    for _ in range(50):
        publisher.publish(String())
    threading.Timer(1.0, stop.set).start()
    _spin(node, stop)
    node.destroy_node()
    assert time.monotonic() < load_ends


WAITING = """
from telerobot_nodes.runtime import join_graph
join_graph()
from telerobot_nodes.nodes.framework import process
process.wait_for_loopback("plan_executor")
print("up", flush=True)
"""


def has_namespaces():
    """Whether this user may make a network namespace, and set its interface up."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    return (
        subprocess.run(["unshare", "-n", "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode
        == 0
    )


@pytest.mark.skipif(not has_namespaces(), reason="a network namespace needs root and util-linux")
def test_a_node_started_before_the_loopback_interface_waits_for_it():
    node = subprocess.Popen(["unshare", "-n", sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True)
    try:
        assert "plan_executor: the loopback interface is down; waiting for it" in node.stdout.readline()
        subprocess.run(["nsenter", "-t", str(node.pid), "-n", "ip", "link", "set", "lo", "up"], check=True)
        assert node.stdout.readline() == "up\n"
        assert node.wait(20.0) == 0
    finally:
        node.kill()
        node.wait()
