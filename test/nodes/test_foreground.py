"""The foreground client: names from the table, waiting with a limit, an end that leaves nothing behind."""

import os
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from rclpy.task import Future
from std_msgs.msg import String

from telerobot.msg import LinkStatus
from telerobot_nodes.errors import GraphError
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.nodes.framework import Foreground


@pytest.fixture
def foreground():
    with Foreground(f"foreground_{os.getpid()}", "left") as client:
        yield client


def test_only_topics_between_the_hosts_have_the_prefix(foreground):
    foreground.prefix = OPERATOR_SIDE
    assert foreground.publisher("halt").topic_name == "/left/operator_side/halt"
    assert foreground.publisher("joint_states").topic_name == "/left/joint_states"
    assert foreground.publisher("diagnostics").topic_name == "/diagnostics"
    assert foreground.namespace == "/left"


def test_a_name_that_is_not_in_the_table_is_rejected(foreground):
    with pytest.raises(GraphError, match="nosuch"):
        foreground.subscribe("nosuch", print)


def test_waiting_ends_with_the_event_or_with_the_limit(foreground):
    received = []
    foreground.subscribe("link_emulator/status", received.append)
    publisher = foreground.publisher("link_emulator/status")
    assert foreground.wait(lambda: publisher.get_subscription_count() == 1, 20.0)
    publisher.publish(LinkStatus(delay=0.5))
    assert foreground.wait(lambda: received, 20.0)
    assert received[0].delay == 0.5
    before = foreground.now()
    assert not foreground.wait(lambda: len(received) > 1, 0.05)
    assert 0.05 <= foreground.now() - before < 5.0


def test_the_result_of_a_future_or_none(foreground):
    future = Future()
    assert foreground.result(future, 0.01) is None
    future.set_result("done")
    assert foreground.result(future, 0.0) == "done"


def test_closing_ends_the_participant_and_the_next_client_may_begin():
    def alive():
        return [path for path in Path("/proc/self/task").glob("*/comm") if path.read_text().startswith("dds.ev")]

    before = len(alive())
    for _ in range(2):
        with Foreground("short") as client:
            client.action_client("gcmsf_control/execute")
            client.node.create_publisher(String, "a", 1)
            assert len(alive()) > before
        assert len(alive()) == before


def test_it_works_in_a_program_with_rclpy_of_its_own_and_beside_another_and_leaves_both(ros):
    import rclpy

    with Foreground("first") as first:
        with Foreground("second") as second:
            publisher, received = second.publisher("link_emulator/status"), []
            first.subscribe("link_emulator/status", received.append)
            assert first.wait(lambda: publisher.publish(LinkStatus()) or received, 20.0)
        assert not first.wait(lambda: False, 0.01)
    assert rclpy.ok()
