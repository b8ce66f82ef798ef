import threading
import time

import numpy as np
import pytest

from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_state import ControlState
from telerobot_nodes.motion.control_step import ControlStep
from telerobot_nodes.motion.loop import ControlLoop

PATIENCE = 20.0  # [s] no test takes this long unless it has failed


class Arm:
    """Follows at once; wakes the test when the state it waits for is seen."""

    def __init__(self, robot):
        self.loop = ControlLoop(ControlStep(robot, 0.005), self.emit)
        self.seen = threading.Condition()
        self.state = None
        self.steps = 0
        self.speed = 0.0
        self.threads = set()

    def emit(self, output):
        self.loop.inbox.measured(output.now, output.q if output.commanding else self.q, np.zeros_like(output.q))
        self.threads.add(threading.current_thread().name)
        with self.seen:
            self.state, self.steps, self.speed = output.state, output.steps, np.abs(output.qd).max()
            self.seen.notify_all()

    def wait(self, condition):
        with self.seen:
            assert self.seen.wait_for(condition, PATIENCE)


@pytest.fixture
def running(arm):
    host = Arm(arm)
    host.q = arm.home
    host.loop.inbox.measured(time.monotonic(), host.q, np.zeros(arm.dof))
    host.loop.start()
    host.wait(lambda: host.state == ControlState.HOLDING)
    yield host
    host.loop.stop()
    assert not host.loop.running


def test_the_loop_steps_on_its_own_thread_and_says_how_it_is_scheduled(running):
    running.wait(lambda: running.steps >= 20)
    assert running.threads == {"control_loop"}
    assert running.loop.scheduling.policy in ("SCHED_FIFO", "SCHED_OTHER")
    assert (running.loop.scheduling.policy == "SCHED_FIFO") == (running.loop.scheduling.reason == "")
    assert running.loop.statistics.summary().steps >= 20


def test_a_window_and_a_halt_reach_the_control_step(running, arm, make_window, slow_motion):
    q_from, q_to, duration = arm.home, arm.home + 0.2, 3.0
    running.loop.inbox.window(make_window(q_from, q_to, begin=time.monotonic() + 0.02, duration=duration))
    running.wait(lambda: running.state == ControlState.TRACKING and running.speed > 0.02)
    running.loop.inbox.halt(4, "test")
    running.wait(lambda: running.state == ControlState.STOPPED)
    copy = ControlOutput(arm.dof)
    running.wait(lambda: running.loop.read_output(copy) and copy.state == ControlState.STOPPED)
    assert copy.halt == 4
    assert copy.reason == "halt 4: test"
    assert not copy.qd.any()


def test_stopping_the_loop_ramps_the_arm_down_first(arm, make_window):
    host = Arm(arm)
    host.q = arm.home
    host.loop.inbox.measured(time.monotonic(), host.q, np.zeros(arm.dof))
    host.loop.start()
    host.wait(lambda: host.state == ControlState.HOLDING)
    host.loop.inbox.window(make_window(arm.home, arm.home + 0.2, begin=time.monotonic() + 0.02, duration=3.0))
    host.wait(lambda: host.speed > 0.02)
    host.loop.stop()
    assert not host.loop.running
    assert host.speed == 0.0
    assert not host.loop.error


def test_an_error_in_emit_ends_the_loop_and_is_kept_for_the_host(arm):
    def emit(output):
        raise RuntimeError("no network")

    loop = ControlLoop(ControlStep(arm, 0.005), emit, priority=0)
    loop.start()
    loop._thread.join(PATIENCE)
    assert not loop.running
    assert "no network" in loop.error
    assert loop.scheduling.policy == "SCHED_OTHER"
