"""Nodes forked from a process that has loaded what they share: as good as nodes of their own, and sooner there."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from supervised import PATIENCE, alive, wait_until

from telerobot_nodes.fork_server import LISTENERS
from telerobot_nodes.runtime import GraphOptions, Supervisor, forking, node_environment
from telerobot_nodes.runtime.forking import ForkServer
from telerobot_nodes.runtime.node_events import Change

pytestmark = pytest.mark.system  # of processes; what they wait for is timed

NODE = ("telerobot", "run", "link_emulator", "--graph", "demo")


@pytest.fixture(scope="module")
def server():
    server = ForkServer(node_environment(os.environ))
    assert server.is_loaded(PATIENCE)
    yield server
    server.close()


def start(server, *words, **environment):
    return server.start(words, {**node_environment(os.environ), **environment})


def status(pid, name):
    return re.search(rf"^{name}:\s*(\S+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1]


def words_of(pid):
    """The words of a process; none of one that is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    return []


def processes():
    return {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}


def ready(process):
    return any("link_emulator ready" in line for line in process.stdout)


LOADING = """
import sys
from pathlib import Path
from telerobot_nodes import fork_server
fork_server.LTTNG = tuple(map(Path, sys.argv[1:]))
fork_server.load()
maps = Path("/proc/self/maps").read_text()
print("rclpy" in sys.modules, fork_server.TRACING in maps, len(list(Path("/proc/self/task").iterdir())))
"""


def loaded_beside(*lttng):
    """Whether ROS and its tracing library are loaded by what is shared, and the number of threads."""
    words = [sys.executable, "-c", LOADING, *map(str, lttng)]
    environment = node_environment(os.environ)
    ros, tracing, threads = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    return ros == "True", tracing == "True", int(threads)


def test_what_is_shared_brings_no_thread_but_the_listeners_of_tracing():
    ros, tracing, threads = loaded_beside()
    assert ros
    assert threads == 1 + LISTENERS * tracing


def test_where_lttng_is_installed_each_node_loads_ros_itself(tmp_path):
    assert loaded_beside(tmp_path / "absent", tmp_path) == (False, False, 1)


def test_a_forked_command_has_its_own_words_output_and_exit_code(server):
    refused = start(server, "telerobot", "run", "link_emulator", "--graph", "nonsense")
    assert "nonsense" in refused.stdout.read()
    assert refused.wait() == 2
    shown = start(server, "telerobot", "graph")
    assert "gcmsf_control" in shown.stdout.read()
    assert shown.wait() == 0


def test_a_forked_node_is_a_child_and_leads_a_session_of_its_own(server):
    node = start(server, *NODE)
    assert ready(node)
    assert int(status(node.pid, "PPid")) == os.getpid()
    assert os.getsid(node.pid) == node.pid
    assert words_of(node.pid) == list(NODE)
    os.kill(node.pid, signal.SIGINT)
    assert node.wait() == 0


def test_its_environment_is_the_one_it_was_given(server):
    refused = start(server, *NODE, ROS_DOMAIN_ID="nonsense")
    assert "telerobot: link_emulator: failed to initialize rcl: ROS_DOMAIN_ID is not an" in refused.stdout.read()
    assert refused.wait() == 2


def test_a_node_killed_by_a_signal_has_its_number_as_exit_code(server):
    node = start(server, *NODE)
    assert ready(node)
    os.kill(node.pid, signal.SIGKILL)
    assert node.wait() == -signal.SIGKILL


def test_a_node_whose_end_could_not_be_seen_is_ended_and_refused(server, monkeypatch):
    monkeypatch.setattr(forking, "SET_CHILD_SUBREAPER", 9999)  # as where a sandbox forbids it
    before = processes()
    with pytest.raises(OSError, match="gives orphans to another process"):
        start(server, *NODE)
    new = processes() - before
    wait_until(lambda: not any(alive(pid) and "link_emulator" in words_of(pid) for pid in new))


def test_nodes_go_on_without_the_server_and_it_starts_no_more():
    server = ForkServer(node_environment(os.environ))
    assert server.is_loaded(PATIENCE)
    node = start(server, *NODE)
    assert ready(node)
    server.close()
    server.close()
    assert alive(node.pid)
    before = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match="started no node"):
        start(server, *NODE)
    assert set(Path("/proc/self/fd").iterdir()) == before
    os.kill(node.pid, signal.SIGTERM)
    assert node.wait() == 0


def test_the_server_ends_with_the_process_that_started_it():
    script = """
import os
from telerobot_nodes.runtime import node_environment
from telerobot_nodes.runtime.forking import ForkServer
server = ForkServer(node_environment(os.environ))
assert server.is_loaded(60.0)
print(server._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(ended.stdout)
    wait_until(lambda: not alive(pid))


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.nightly)])
def test_a_node_comes_back_although_the_server_is_gone_or_hangs(number, capfd):
    seen = []
    nodes = tuple(entry.name for entry in GraphOptions("operator").nodes if entry.name != "operator_input")
    supervisor = Supervisor(GraphOptions("operator", without=nodes), seen.append, lambda node, line: None)
    supervisor.start()
    try:
        assert supervisor.wait_ready(PATIENCE)
        first = supervisor.pid("operator_input")
        assert words_of(first)[1:3] == ["run", "operator_input"]
        os.kill(supervisor._server._process.pid, number)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: [event.change for event in seen].count(Change.READY) == 2)
        assert supervisor.pid("operator_input") != first
    finally:
        assert supervisor.stop() == 0
    assert "without a fork server" in capfd.readouterr().err


def test_a_stop_while_the_server_loads_leaves_no_server_behind():
    before = processes()
    supervisor = Supervisor(GraphOptions("operator"), lambda event: None, lambda node, line: None)
    assert supervisor.stop() == 0  # as by Ctrl-C, before `start` is through
    supervisor.start()
    assert not [pid for pid in processes() - before if "fork-server" in words_of(pid)]
