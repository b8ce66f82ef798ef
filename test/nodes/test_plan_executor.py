"""The plan executor as a node: what it publishes can be read whatever its sensors deliver."""

import math

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped

from telerobot.msg import ExecutorState
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.robot.plan_executor import PlanExecutorNode
from telerobot_nodes.operator.client import robot_from_message


def test_a_wrench_that_is_no_number_is_left_out_of_the_report(ros):
    states = []
    state, wrench = (graph.topic(name) for name in ("plan_executor/state", "hardware_interface/wrench"))
    ros.probe.create_subscription(ExecutorState, state.name, states.append, qos_profile(state.qos))
    sensor = ros.probe.create_publisher(WrenchStamped, wrench.name, qos_profile(wrench.qos))
    ros.add(PlanExecutorNode(NodeOptions("plan_executor")))
    assert ros.until(sensor.get_subscription_count)
    message = WrenchStamped()
    message.wrench.force.x = 3.0
    ros.probe.create_timer(0.01, lambda: sensor.publish(message))
    assert ros.until(lambda: states and list(states[-1].wrench) == [3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    message.wrench.force.z = math.nan
    assert ros.until(lambda: not len(states[-1].wrench))
    assert robot_from_message(states[-1]).wrench.size == 0
