import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from telerobot_nodes.core.memory import ReceivedHalt
from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.motion.loop import ControlLoop, ControlOutput, ControlStep
from telerobot_nodes.motion.loop.orders import Begin
from telerobot_nodes.motion.primitives import PrimitiveRequest

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


@pytest.mark.lengthy
def test_the_loop_steps_on_its_own_thread_and_says_how_it_is_scheduled(running):
    running.wait(lambda: running.steps >= 20)
    assert running.threads == {"control_loop"}
    assert running.loop.scheduling.policy in ("SCHED_FIFO", "SCHED_OTHER")
    assert (running.loop.scheduling.policy == "SCHED_FIFO") == (running.loop.scheduling.reason == "")
    assert running.loop.statistics.summary().steps >= 20


@pytest.mark.lengthy
def test_a_window_and_a_halt_reach_the_control_step(running, arm, make_window, slow_motion):
    q_from, q_to, duration = arm.home, arm.home + 0.2, 3.0
    running.loop.inbox.window(make_window(q_from, q_to, begin=time.monotonic() + 0.02, duration=duration))
    running.wait(lambda: running.state == ControlState.TRACKING and running.speed > 0.02)
    running.loop.memory.received.write(ReceivedHalt(4, "test"))
    running.wait(lambda: running.state == ControlState.STOPPED)
    copy = ControlOutput(arm.dof)
    running.wait(lambda: running.loop.read_output(copy) and copy.state == ControlState.STOPPED)
    assert (copy.distinct, copy.halt_count, copy.halted) == (4, 1, 1)
    assert copy.reason == "halt 1: test"
    assert not copy.qd.any()
    running.loop.inbox.resume(2**64 - 1)
    running.loop.memory.received.write(ReceivedHalt(4, "test"))  # a copy
    running.wait(lambda: running.steps > copy.steps + 5)
    running.wait(lambda: running.loop.read_output(copy) and copy.halted == 1)
    running.loop.inbox.resume(1)
    running.wait(lambda: running.loop.read_output(copy) and copy.halted == 0)


@pytest.mark.timing("a loop that the machine stalls for 0.1 s stops by itself")
@pytest.mark.lengthy
def test_setpoints_leave_in_every_step_while_the_arm_stops(arm, make_window):
    """Otherwise the first one that decelerates, and the first at rest, wait for the next of the usual rate."""
    rows = []

    def emit(output):
        loop.inbox.measured(output.now, output.q if output.commanding else arm.home, np.zeros(arm.dof))
        with seen:
            rows.append((output.steps, ControlState(output.state), bool(output.qd.any()), output.missed))
            seen.notify_all()

    seen = threading.Condition()
    loop = ControlLoop(ControlStep(arm, 0.005), emit, priority=0, every=5)
    loop.inbox.measured(time.monotonic(), arm.home, np.zeros(arm.dof))
    loop.start()
    try:
        with seen:
            assert seen.wait_for(lambda: rows and rows[-1][1] is ControlState.HOLDING, PATIENCE)
            loop.inbox.window(make_window(arm.home, arm.home + 0.4, begin=time.monotonic() + 0.02, duration=2.0))
            assert seen.wait_for(lambda: rows[-1][2], PATIENCE)
            moving = len(rows)
            assert seen.wait_for(lambda: len(rows) >= moving + 10, PATIENCE)
            loop.memory.received.write(ReceivedHalt(1, "test"))
            assert seen.wait_for(lambda: rows[-1][1] is ControlState.STOPPED, PATIENCE)
            stopped = [row for row in rows[moving:] if row[1] is not ControlState.TRACKING]
    finally:
        loop.stop()
    assert {b[0] - a[0] for a, b in pairwise(rows) if b[1] is ControlState.TRACKING and a[3] == b[3]} == {5}
    assert len(stopped) >= 3
    assert {b[0] - a[0] for a, b in pairwise(stopped) if a[3] == b[3]} == {1}
    assert stopped[-1][1:3] == (ControlState.STOPPED, False)


def _primitive(loop, arm, make_window):
    values = {"tr_rel_dest": [0, 0, 0.08, 0, 0, 0, 1.0], "time_vel_sel": "velocity", "time_vel_val": 0.05}
    request = PrimitiveRequest(1, "cartesian_guarded", values)
    prepared = loop.control.primitives.executive.prepare(request, arm.home.copy())
    return lambda: loop.send_order(Begin(1, prepared))


def _window(loop, arm, make_window):
    return lambda: loop.inbox.window(make_window(arm.home, arm.home + 0.4, begin=time.monotonic() + 0.02, duration=2.0))


@pytest.mark.timing("a loop that the machine stalls for 0.1 s stops by itself")
@pytest.mark.lengthy
@pytest.mark.parametrize("motion", [_primitive, _window])
@pytest.mark.brief(1)
def test_periods_missed_in_a_stall_are_made_up_for(arm, make_window, motion):
    """The hardware continues the motion meanwhile; a setpoint that had waited would pull the arm back."""
    rows, stalls = [], 0

    def emit(output):
        nonlocal stalls
        loop.inbox.measured(output.now, output.q if output.commanding else arm.home, np.zeros(arm.dof))
        loop.inbox.wrench(output.now, np.full(6, 1e-3 * (len(rows) % 2)))
        with seen:
            rows.append((output.now, output.q.copy(), output.qd.copy(), output.missed, output.state))
            seen.notify_all()
        moving = sum(row[2].any() for row in rows)
        if moving > 40 * (stalls + 1) and stalls < 3:
            stalls += 1
            time.sleep(0.03)  # the stall

    seen = threading.Condition()
    loop = ControlLoop(ControlStep(arm, 0.005), emit, priority=0)
    begin = motion(loop, arm, make_window)  # before the start: its first call holds the interpreter for 0.1 s
    loop.inbox.measured(time.monotonic(), arm.home, np.zeros(arm.dof))
    loop.start()
    try:
        with seen:
            assert seen.wait_for(lambda: rows and rows[-1][4] == ControlState.HOLDING, PATIENCE)
            begin()
            done = seen.wait_for(lambda: stalls == 3 and rows[-1][4] == ControlState.HOLDING, PATIENCE)
            assert done, (stalls, loop.control.output.reason, loop.control.output.begin_refusal)
    finally:
        loop.stop()
    late = [(a, b) for a, b in pairwise(rows) if b[3] > a[3] and a[2].any()]
    assert len(late) >= 3
    for (before, q, qd, *_), (after, q_after, qd_after, *_) in late:
        expected = q + 0.5 * (qd + qd_after) * (after - before)
        np.testing.assert_allclose(q_after, expected, atol=0.05 * np.abs(qd * (after - before)).max() + 1e-5)


@pytest.mark.lengthy
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
