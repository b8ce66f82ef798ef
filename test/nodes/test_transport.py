"""Nodes on loopback without shared memory, as the product starts them; a user's own shell still finds them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from std_msgs.msg import String

from telerobot_nodes.core.config import DISCOVERY, PROFILES
from telerobot_nodes.doctor.network_checks import SOCKET_BUFFER

LISTEN = """
import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("shell")
received = []
node.create_subscription(String, "greeting", received.append, 10)
while not received:
    rclpy.spin_once(node, timeout_sec=0.2)
print(received[0].data, flush=True)
"""
EMULATOR = """
import sys
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.tools import link_emulator

sys.exit(link_emulator.main(NodeOptions("link_emulator")))
"""
PATIENCE = 30.0  # [s]
EPHEMERAL = 32768  # first port that Linux gives to a socket that only sends


@pytest.mark.parametrize("reach", [None, "LOCALHOST"])
def test_a_shell_with_the_middlewares_own_transports_receives_what_a_node_publishes(ros, reach):
    publisher = ros.probe.create_publisher(String, "greeting", 10)
    ros.probe.create_timer(0.1, lambda: publisher.publish(String(data="hello")))
    environment = {name: value for name, value in os.environ.items() if name not in (DISCOVERY, *PROFILES)}
    if reach:
        environment[DISCOVERY] = reach
    words = [sys.executable, "-c", LISTEN]
    assert subprocess.check_output(words, env=environment, text=True, timeout=PATIENCE) == "hello\n"


def test_this_process_maps_no_shared_memory_of_the_middleware(ros):
    assert "/dev/shm/fastrtps_" not in Path("/proc/self/maps").read_text()


def test_the_sockets_of_a_node_hold_what_comes_while_it_does_not_run(ros):
    sizes = {
        one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        for one in udp_sockets()
        if 0 < one.getsockname()[1] < EPHEMERAL  # it receives
    }
    allowed = int(Path("/proc/sys/net/core/rmem_max").read_text())
    assert sizes == {2 * min(SOCKET_BUFFER, allowed)}  # Linux doubles it


def udp_sockets():
    """Those of this process."""
    for file in Path("/proc/self/fd").iterdir():
        try:
            one = socket.socket(fileno=os.dup(int(file.name)))
        except OSError:  # closed meanwhile, or no socket
            continue
        with one:
            if one.family == socket.AF_INET and one.type == socket.SOCK_DGRAM:
                yield one


def test_a_node_that_did_not_load_the_profile_is_refused():
    environment = {**os.environ, DISCOVERY: "LOCALHOST"}  # adds the shared memory beside the profile
    node = subprocess.run(
        [sys.executable, "-c", EMULATOR],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert node.returncode == 2
    assert "the middleware uses shared memory: it did not load the profile udp_loopback" in node.stderr
