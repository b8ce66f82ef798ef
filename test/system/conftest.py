"""The graph as a user runs it: real processes, DDS and physics."""

from pathlib import Path

import numpy as np
import pytest

from telerobot_nodes.core.protocol import DeviceState, ExecutorMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.runtime import GraphOptions, Supervisor

START_LIMIT = 120.0  # [s]
REST_LIMIT = 10.0  # [s] for what is under way to end
NEAR = 0.01  # [m]
# Files that share one running graph, in this order: what moves the arm comes last. No other graph may run beside it.
SHARING = ("test_bad_input.py", "test_panel.py", "test_plan_controls.py", "test_client.py", "test_halts.py")
ARM = load_robot("arm")
HOME = ARM.forward(ARM.home).translation
PLACES = {Path(__file__).with_name(name): place for place, name in enumerate(SHARING, start=1)}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: PLACES.get(item.path, 0))


class DemoGraph:
    """A demo graph without a browser that one file after another uses, as long as each leaves it as it was."""

    def __init__(self, make_folder):
        self._make_folder = make_folder
        self._lines = []
        self._supervisor = self._pids = None

    def running(self):
        """Supervisor of a graph that is ready and at rest."""
        if self._supervisor is None:
            options = GraphOptions("demo", bag=self._make_folder("demo") / "bag", without=("operator_console",))
            self._lines.clear()
            self._supervisor = supervisor = Supervisor(options, on_line=self._keep)
            supervisor.start()
            if not supervisor.wait_ready(START_LIMIT):
                late, self._supervisor = supervisor.waiting_for(), None
                supervisor.stop()
                pytest.fail(f"not ready: {late}\n" + "\n".join(self._lines))
            self._pids = self._present_pids()
        return self._supervisor

    def leave(self):
        """Stop it unless it is as it was found: the next file gets another one."""
        kept = False
        try:
            alive = not self._supervisor.waiting_for() and self._present_pids() == self._pids
            kept = alive and self._is_as_it_was()
        finally:
            if not kept:
                self.stop()

    def stop(self):
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean, self._lines)

    def _keep(self, node, line):
        self._lines.append(f"[{node}] {line}")
        print(self._lines[-1])  # pytest shows it with the test that fails

    def _present_pids(self):
        return [self._supervisor.pid(entry.name) for entry in self._supervisor.options.nodes]

    def _is_as_it_was(self):
        """At rest with nothing planned or halted, controls those of the start, and the tool where it began."""
        from telerobot_nodes.nodes.clients import Terminal

        with Terminal() as client:
            return client.wait_for(self._is_settled, REST_LIMIT) and self._is_as_at_the_start(client.operator)

    @staticmethod
    def _is_settled(client):
        queue, robot = client.queue, client.robot
        still = robot.tool_pose.size > 0 and not robot.moving and robot.mode is not ExecutorMode.RUNNING
        return still and queue.device is DeviceState.IDLE and queue.length == queue.unacknowledged == 0

    @staticmethod
    def _is_as_at_the_start(client):
        queue, robot = client.queue, client.robot
        clutches = queue.time_clutch, queue.position_clutch, queue.orientation_clutch
        numbers = queue.time_ratio, queue.linear_scale, queue.angular_scale, queue.brake_rate
        return (
            queue.has_authority
            and all(clutches)
            and numbers == (1.0, 1.0, 1.0, 0.0)
            and robot.mode is ExecutorMode.IDLE
            and not robot.estop
            and np.linalg.norm(robot.tool_pose[:3] - HOME) < NEAR
        )


@pytest.fixture(scope="session")
def shared_graph(tmp_path_factory):
    graph = DemoGraph(tmp_path_factory.mktemp)
    yield graph
    graph.stop()


@pytest.fixture(scope="module")
def demo_graph(shared_graph):
    """Supervisor of the demo graph without a browser, at rest."""
    yield shared_graph.running()
    shared_graph.leave()


@pytest.fixture(scope="module")
def own_demo_graph(tmp_path_factory):
    """The same, for one file alone: tests that kill nodes, or read what was recorded."""
    graph = DemoGraph(tmp_path_factory.mktemp)
    yield graph.running()
    graph.stop()


@pytest.fixture(scope="module")
def demo_client(request):
    """The operator's client on the running graph; one for the file, as an operator's own stays."""
    from telerobot_nodes.nodes.clients import Terminal

    own = "own_demo_graph" in request.fixturenames
    request.getfixturevalue("own_demo_graph" if own else "demo_graph")
    with Terminal() as client:
        yield client


@pytest.fixture
def terminal(demo_client):
    """The same, once the plan has begun and nothing of it is left."""

    def begun(client):
        return client.queue.has_authority and client.robot.executed_seq > 0 and client.queue.length == 0

    assert demo_client.wait_for(begun, 30.0), (demo_client.operator.queue, demo_client.operator.robot)
    return demo_client
