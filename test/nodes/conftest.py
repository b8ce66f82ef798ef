"""Nodes in this process, real rclpy and DDS on the domain of the test process; no ROS: skipped."""

import threading
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")

FOLDER = Path(__file__).parent
COMPUTING = (  # tests that start no node and wait for nothing
    *("control_successor", "convert", "driver_plugins", "halt_receipts", "halt_texts", "ongoing", "operator_client"),
    *("planning_scene", "reply_cache", "rotations", "rtc_parts", "shared_control", "skill_trials", "teleop_input"),
    *("goal_topics", "menu_runner", "motion_sender", "transforms", "unanswered_halts"),
)
UNITS = frozenset(FOLDER / f"test_{name}.py" for name in COMPUTING)


def pytest_collection_modifyitems(items):
    """What waits for DDS runs apart from what only computes."""
    for item in items:
        if item.path.is_relative_to(FOLDER) and item.path not in UNITS:
            item.add_marker("system")


class Ros:
    """Runs nodes on a thread and waits for what they do."""

    def __init__(self):
        from rclpy.executors import SingleThreadedExecutor

        self.executor = SingleThreadedExecutor()
        self.nodes, self._at_end = [], []
        self.probe = rclpy.create_node("probe")
        self.executor.add_node(self.probe)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self):
        while not self._ending.is_set():
            self.executor.spin_once()

    def add(self, node):
        """A node of the graph, activated."""
        node.trigger_configure()
        node.trigger_activate()
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def deactivate(self, node):
        node.trigger_deactivate()

    def until(self, condition, timeout=20.0):
        """Wait until the condition holds; False after the timeout."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def call(self, kind, name, **fields):
        """Answer of a service."""
        return self.begin(kind, name, **fields)()

    def begin(self, kind, name, timeout=20.0, **fields):
        """Ask a service; the function returned waits for the answer."""
        client = self.probe.create_client(kind, name)
        assert client.wait_for_service(20.0), name
        done = threading.Event()
        future = client.call_async(kind.Request(**fields))
        future.add_done_callback(lambda _: done.set())

        def answer():
            assert done.wait(timeout), name
            return future.result()

        return answer

    def at_end(self, *releases):
        """Call these once no thread spins: an action that goes under its executor's spin ends the spin."""
        self._at_end += releases

    def close(self):
        from telerobot_nodes.nodes.framework import leave

        for node in self.nodes:
            if node.active:
                node.trigger_deactivate()
        self._ending.set()  # an executor that is shut down under its own spin fails in the middle of it
        self.executor.create_task(lambda: None)  # else a spin without work never ends, woken or not
        self._thread.join(5.0)
        self.executor.shutdown()
        for release in self._at_end:
            release()
        for node in self.nodes:
            node.destroy_node()
        leave(self.probe)


def _harness():
    rclpy.init()
    harness = Ros()
    yield harness
    harness.close()
    rclpy.try_shutdown()


ros = pytest.fixture(_harness)
module_ros = pytest.fixture(_harness, scope="module", name="module_ros")  # one for every test of a file
