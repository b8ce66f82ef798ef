"""A demo graph with its console, for tests in a real browser."""

import contextlib

from browser import ordinary_priority

from telerobot_nodes.runtime import GraphOptions, Supervisor

START_LIMIT = 400.0  # [s]


@contextlib.contextmanager
def console_of_demo(without, **options):
    """Address of its console, once all is ready; afterwards every node must have ended in order."""
    address = []

    def hear(_node, line):
        if line.startswith("console: "):
            address.append(line.removeprefix("console: "))

    supervisor = Supervisor(GraphOptions("demo", without=without, **options), on_line=hear)
    with ordinary_priority():
        supervisor.start()
    try:
        assert supervisor.wait_ready(START_LIMIT), supervisor.waiting_for()
        yield address[0]
    finally:
        assert supervisor.stop() == 0, supervisor.unclean
