"""Goals of actions from a test's thread while another thread spins.

`rclpy` notes a question after it has sent it: an answer that the spinning thread takes in between is lost. So the
question is asked on that thread.
"""

import threading


def answer(executor, ask, limit=20.0):
    """Result of the future that `ask` makes; waits at most `limit` [s]."""
    asked, done = [], threading.Event()

    def begin():
        asked.append(ask())
        asked[0].add_done_callback(lambda _: done.set())

    executor.create_task(begin)
    assert done.wait(limit)
    return asked[0].result()


def call(executor, function, limit=20.0):
    """Call `function` on the spinning thread, as for the end of an entity that it may be waiting for."""
    over = threading.Event()
    executor.create_task(lambda: (function(), over.set()))
    assert over.wait(limit)
