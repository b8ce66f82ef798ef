"""The graph as a user runs it: real processes, DDS and physics, started once per file that asks for it."""

import pytest

from telerobot_nodes.runtime import GraphOptions, Supervisor

START_LIMIT = 120.0  # [s]


@pytest.fixture(scope="module")
def demo_graph(tmp_path_factory):
    """The demo graph without a browser; its supervisor."""
    folder = tmp_path_factory.mktemp("demo")
    lines = []
    options = GraphOptions("demo", bag=folder / "bag", without=("operator_console",))

    def keep(node, line):
        lines.append(f"[{node}] {line}")
        print(lines[-1])  # pytest shows it with the test that fails

    supervisor = Supervisor(options, on_line=keep)
    supervisor.start()
    try:
        assert supervisor.wait_ready(START_LIMIT), "\n".join(lines)
        yield supervisor
    finally:
        assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean, lines)


@pytest.fixture(scope="module")
def demo_client(demo_graph):
    """The operator's client on the running graph; one for the file, as an operator's own stays."""
    from telerobot_nodes.nodes.clients import Terminal

    with Terminal() as client:
        yield client


@pytest.fixture
def terminal(demo_client):
    """The same, once the plan has begun and nothing of it is left."""

    def begun(client):
        return client.queue.has_authority and client.robot.executed_seq > 0 and client.queue.length == 0

    assert demo_client.wait_for(begun, 30.0)
    return demo_client
