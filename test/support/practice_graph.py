"""A running practice graph without console, recorder and device, behind a delay, without loss by default."""

from contextlib import contextmanager

from telerobot_nodes.runtime import GraphOptions, Supervisor

START_LIMIT = 120.0  # [s]
ONE_WAY = 0.6  # [s]
WITHOUT = ("operator_console", "bag_recorder", "operator_input")


@contextmanager
def practice_graph(loss=0.0, **options):
    lines = []
    options = GraphOptions("practice", without=WITHOUT, delay=2.0 * ONE_WAY, loss=loss, **options)
    supervisor = Supervisor(options, on_line=lambda *line: lines.append(line))
    supervisor.start()
    try:
        assert supervisor.wait_ready(START_LIMIT), (supervisor.waiting_for(), lines)
        yield
    finally:
        assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean, lines)
