"""The executor of a client works inside programs that have replaced their standard error, or have none."""

import io
import sys

import pytest
import rclpy
from std_msgs.msg import String

from telerobot_nodes.nodes.framework import client_executor


@pytest.fixture
def context():
    context = rclpy.Context()
    context.init(args=[])
    yield context
    context.try_shutdown()


@pytest.mark.parametrize("stderr", [sys.stderr, io.StringIO(), None], ids=["as it is", "replaced", "none"])
@pytest.mark.parametrize("original", [sys.__stderr__, None], ids=["descriptor", "no descriptor"])
def test_it_receives_whatever_the_programs_standard_error_is(context, monkeypatch, stderr, original):
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "__stderr__", original)
    executor = client_executor(context)
    assert sys.stderr is stderr
    node, received = rclpy.create_node("executors_test", context=context), []
    node.create_subscription(String, "~/text", received.append, 1)
    publisher = node.create_publisher(String, "~/text", 1)
    executor.add_node(node)
    for _ in range(200):
        publisher.publish(String(data="here"))
        executor.spin_once(timeout_sec=0.1)
        if received:
            break
    executor.shutdown()
    node.destroy_node()
    assert received[0].data == "here"
