"""The keyboard through a real terminal: keys become velocities on the topic, and the terminal is left as it was."""

import os
import pty
import subprocess
import sys
import termios

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import TwistStamped

from telerobot_nodes import graph
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.operator.devices.keyboard import LINEAR

TOPIC = "path_plan_queue/delta_twist_cmds"


def start(stdin, *options):
    program = f"from telerobot_nodes.cli.app import build_app; build_app(['keyboard'])({['keyboard', *options]})"
    environment = {name: value for name, value in os.environ.items() if name != "_ROS_WHEELS_BOOTSTRAP_COMPLETE"}
    return subprocess.Popen(
        [sys.executable, "-c", program], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )


@pytest.mark.parametrize(
    ("options", "topic", "frame"), [((), TOPIC, "world"), (("--direct",), "gcmsf_control/teleop_cmds", "tool")]
)
def test_keys_of_a_terminal_drive_and_let_go(ros, options, topic, frame):
    twists = []
    ros.probe.create_subscription(TwistStamped, topic, twists.append, qos_profile(graph.topic(topic).qos))
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = start(slave, *options)
    try:
        assert ros.until(lambda: ros.probe.count_publishers(topic) == 1, 30.0)
        assert ros.until(lambda: os.write(master, b"w") and twists)
        assert ros.until(lambda: twists[-1].twist.linear.x == 0.0)
        assert twists[0].twist.linear.x == LINEAR
        assert twists[0].header.frame_id == frame
        os.write(master, b"q")
        assert process.wait(10.0) == 0, process.stderr.read().decode()
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)


def test_without_a_terminal_it_says_so():
    process = start(subprocess.DEVNULL)
    _, error = process.communicate(timeout=30.0)
    assert process.returncode != 0
    assert b"standard input" in error
