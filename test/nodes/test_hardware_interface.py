"""The hardware interface as a node: what it publishes carries the time of the measurement."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from rclpy.time import Time
from sensor_msgs.msg import JointState

from telerobot.msg import JointSetpoint
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.robot.hardware_interface import HardwareInterfaceNode
from telerobot_nodes.runtime import node_environment

AGE = 2.0  # [s]
LIMIT = 60.0  # [s] for a process to start, on a busy machine
END_LIMIT = 20.0  # [s]
SPEED, ACCELERATION = 0.4, 1.0  # [rad/s], [rad/s^2] of the first joint


@pytest.mark.parametrize(
    ("kind", "topic"), [(JointState, "joint_states"), (WrenchStamped, "hardware_interface/wrench")]
)
def test_the_age_of_a_message_is_that_of_its_measurement(ros, monkeypatch, kind, topic):
    """A driver may deliver late what it measured; whoever computes a speed from two messages must not see that."""
    node, ages = HardwareInterfaceNode(NodeOptions("hardware_interface", graph="demo")), []

    def hear(message):
        ages.append((ros.probe.get_clock().now() - Time.from_msg(message.header.stamp)).nanoseconds * 1e-9)

    measured = node._arm.measured
    monkeypatch.setattr(node._arm, "measured", lambda: dataclasses.replace(measured(), time=node.now() - AGE))
    ros.probe.create_subscription(kind, topic, hear, qos_profile_sensor_data)
    ros.add(node)
    assert ros.until(lambda: len(ages) > 10)
    assert min(ages) == pytest.approx(AGE, abs=0.5)
    assert min(ages) >= AGE - 1e-6


@pytest.mark.timing("the watchdog stops an arm whose setpoints the machine delays by 0.1 s")
def test_an_interface_that_is_ended_in_motion_brings_the_arm_to_rest_before_it_disconnects(ros, tmp_path):
    """Its process gets SIGINT while the arm moves and nobody sends setpoints any more, as when the loop died."""
    name, home = "hardware_interface/setpoint", np.array(load_robot("arm").home)
    setpoints = ros.probe.create_publisher(JointSetpoint, name, qos_profile(graph.topic(name).qos))
    speeds = []
    ros.probe.create_subscription(
        JointState, "joint_states", lambda message: speeds.append(message.velocity[0]), qos_profile_sensor_data
    )
    words = [sys.executable, "-m", "telerobot_nodes", "run", "hardware_interface", "--graph", "demo"]
    environment = {**node_environment(os.environ), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(words, env=environment, cwd=tmp_path)
    try:
        assert ros.until(lambda: speeds and setpoints.get_subscription_count(), LIMIT)
        began, number = time.monotonic(), 0
        while max(speeds[-5:]) < 0.9 * SPEED:
            t, number = time.monotonic() - began, number + 1
            assert t < END_LIMIT, f"the arm does not move: {speeds[-5:]}"
            speeding = t < SPEED / ACCELERATION
            speed = ACCELERATION * t if speeding else SPEED
            way = 0.5 * speed * t if speeding else SPEED * (t - 0.5 * SPEED / ACCELERATION)
            first = np.eye(6)[0]
            setpoints.publish(
                JointSetpoint(
                    number=number,
                    monotonic=began + t,
                    position=home + way * first,
                    velocity=speed * first,
                    acceleration=(ACCELERATION if speeding else 0.0) * first,
                    gripper=-1.0,
                )
            )
            time.sleep(0.005)  # the rate of a control loop
        process.send_signal(signal.SIGINT)
        assert process.wait(END_LIMIT) == 0
        assert ros.until(lambda: abs(speeds[-1]) < 0.05 * SPEED, 1.0), speeds[-20:]
    finally:
        process.kill()
        process.wait()
