"""What must hold of a started robot graph, whoever started it; shared by launch_testing and the supervisor's tests."""

import contextlib
import threading

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

from telerobot.msg import ExecutorState
from telerobot_nodes.graph.table import topic
from telerobot_nodes.nodes.framework import interface_class, qos_profile

PATIENCE = 90.0  # [s] for a start that takes seconds


class Listener:
    """A ROS node of the test's own, spinning in a thread."""

    def __init__(self, name="test_listener"):
        self.context = Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node(name, context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self):
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def first(self, name, accept=lambda message: True):
        """First message of a topic of the table that is accepted; None after PATIENCE."""
        entry, found, seen = topic(name), [], threading.Event()

        def take(message):
            if accept(message):
                found.append(message)
                seen.set()

        subscription = self.node.create_subscription(interface_class(entry.type), name, take, qos_profile(entry.qos))
        seen.wait(PATIENCE)
        self.node.destroy_subscription(subscription)
        return found[0] if found else None

    def close(self):
        self._executor.shutdown()
        self.context.try_shutdown()
        self._thread.join(5.0)


def robot_is_idle_and_knows_its_arm(listener):
    """The executor reports that it holds nothing, is at rest, and where the measured arm is."""
    state = listener.first(
        "plan_executor/state", lambda message: message.state == ExecutorState.IDLE and len(message.joint_position) > 0
    )
    assert state is not None, "plan_executor/state never came"
    assert state.queue_length == 0
    assert state.executed_seq == 0
    assert len(state.tool_pose) == 7
    assert not state.estop
