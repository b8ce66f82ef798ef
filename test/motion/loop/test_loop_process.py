"""The control loop in a process of its own: the same loop, and neither outlives the other unnoticed."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from telerobot_nodes.core.memory import ReceivedHalt
from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.loop import ClearTimes, ControlOutput, ForkedLoop, LoopSetting, ProcessLoop
from telerobot_nodes.motion.loop.loop_host import LoopProcessError
from telerobot_nodes.motion.loop.orders import Begin, Stop
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest

PATIENCE = 60.0  # [s] no test takes this long unless it has failed
PERIOD = 0.005


class Arm:
    """Follows at once; wakes the test."""

    def __init__(self, forked=None, **setting):
        self.robot = load_robot("arm")
        self.seen = threading.Condition()
        self.output = ControlOutput(self.robot.dof)
        self.ends = []
        self.loop = ProcessLoop(LoopSetting("arm", PERIOD, **setting), self.robot.dof, self.emit, self.ended, forked)
        self.loop.inbox.measured(time.monotonic(), self.robot.home, np.zeros(self.robot.dof))
        self.executive = Executive(self.robot, PERIOD)

    def emit(self, output):
        q = output.q if output.commanding else self.robot.home
        self.loop.inbox.measured(output.now, q, np.zeros(self.robot.dof))
        with self.seen:
            self.output.record[...] = output.record
            self.seen.notify_all()

    def ended(self, reason):
        with self.seen:
            self.ends.append(reason)
            self.seen.notify_all()

    def wait(self, condition):
        with self.seen:
            assert self.seen.wait_for(condition, PATIENCE)

    def begin(self, number):
        values = {"joint_dest": (self.robot.home + 0.3).tolist(), "max_force_thres": 0.0, "max_torque_thres": 0.0}
        prepared = self.executive.prepare(PrimitiveRequest(number, "joint_guarded", values), self.output.q.copy())
        self.loop.send_order(Begin(number, prepared))
        self.wait(lambda: self.output.begun == number)
        assert self.output.begin_refusal == ""


@pytest.fixture
def running():
    arm = Arm()
    arm.loop.start()
    arm.wait(lambda: arm.output.state == ControlState.HOLDING and arm.output.commanding)
    yield arm
    arm.loop.stop()
    assert not arm.loop.running


@pytest.mark.lengthy
def test_a_window_a_primitive_and_a_halt_reach_a_loop_in_another_process(running, make_window):
    arm = running
    arm.loop.inbox.window(make_window(arm.robot.home, arm.robot.home + 0.05, begin=time.monotonic() + 0.05))
    arm.wait(lambda: arm.output.state == ControlState.TRACKING)
    arm.wait(lambda: arm.output.state == ControlState.HOLDING and not arm.output.qd.any())
    arm.begin(1)
    arm.wait(lambda: np.abs(arm.output.qd).max() > 0.02)
    arm.loop.memory.received.write(ReceivedHalt(3, "test"))
    arm.wait(lambda: arm.output.state == ControlState.STOPPED and not arm.output.primitive)
    status = arm.loop.read_status()
    assert (status.id, status.running, status.reason) == (1, False, Termination.EXTERNAL_STOP)
    assert status.detail == "halt 1: test"
    assert arm.loop.read_status() is None
    before = arm.loop.statistics.lateness.count
    arm.loop.send_order(ClearTimes())
    arm.wait(lambda: arm.loop.statistics.lateness.count < before)
    assert arm.loop.scheduling.policy in ("SCHED_FIFO", "SCHED_OTHER")


@pytest.mark.slow
def test_stopping_the_loop_ramps_the_arm_down_and_ends_its_process(running):
    running.begin(1)
    running.wait(lambda: np.abs(running.output.qd).max() > 0.02)
    running.loop.stop()
    assert not running.loop.running
    assert not running.loop.error
    assert running.ends == []
    last = ControlOutput(running.robot.dof)
    running.loop.read_output(last)
    assert not last.qd.any()
    assert last.state == ControlState.STOPPED


@pytest.mark.lengthy
def test_the_host_is_told_when_the_loops_process_dies(running):
    os.kill(running.loop.pid, signal.SIGKILL)
    running.wait(lambda: running.ends)
    assert "-9" in running.loop.error
    running.loop.send_order(Stop(0, "nobody receives it"))


def test_a_process_forked_before_its_setting_is_known_runs_the_loop_and_its_death_is_told():
    arm = Arm(ForkedLoop(), halted="test", halt_count=7)
    arm.loop.start()
    arm.wait(lambda: arm.output.commanding and arm.output.state == ControlState.STOPPED)
    assert (arm.output.halted, arm.output.halt_count) == (True, 7)
    os.kill(arm.loop.pid, signal.SIGKILL)
    arm.wait(lambda: arm.ends)
    assert "-9" in arm.loop.error
    assert arm.loop.ended
    arm.loop.stop()


def test_a_forked_process_ends_with_its_host_or_when_it_is_not_used():
    unused = ForkedLoop()
    ended = os.pidfd_open(unused.pid)
    unused.close()
    assert select.select([ended], [], [], 0.0)[0]
    os.close(ended)
    assert unused.poll() == 0
    arm = Arm(ForkedLoop())
    arm.loop.start()
    arm.loop.stop()
    assert not arm.loop.running
    assert arm.loop.error == ""


@pytest.mark.slow
def test_a_loop_that_cannot_be_made_is_an_error_of_the_start():
    arm = Arm(stream={"nosuch": 1.0})
    with pytest.raises(LoopProcessError):
        arm.loop.start()
    arm.loop.stop()


HOST = """
import os, sys, time
sys.path[:0] = {path!r}
from test_loop_process import Arm
arm = Arm()
arm.loop.start()
arm.wait(lambda: arm.output.commanding)
print(arm.loop.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_a_loop_that_compiles_does_not_outlive_its_host(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    arm = Arm()
    ended = os.pidfd_open(arm.loop.pid)
    arm.loop._sender.close()  # as the end of this process would
    # compiling everything takes minutes where this takes seconds
    assert select.select([ended], [], [], 0.5 * PATIENCE)[0]
    os.close(ended)
    assert not arm.loop.running


@pytest.mark.slow
@pytest.mark.parametrize("wait", [2.0, 4.0, 6.0])
def test_a_control_node_that_is_told_to_end_while_it_starts_ends_with_its_loop(wait):
    environment = {**os.environ, "ROS_PYTHON_CHECK_FIELDS": "1", "ROS_DOMAIN_ID": "78"}
    command = [sys.executable, "-m", "telerobot_nodes", "run", "gcmsf_control", "--robot", "arm"]
    node = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    time.sleep(wait)  # there is nothing to wait for: any moment will do
    children = Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()
    ended = [os.pidfd_open(int(child)) for child in children]
    node.terminate()
    assert node.wait(0.5 * PATIENCE) in (0, -signal.SIGTERM)
    for descriptor in ended:
        assert select.select([descriptor], [], [], 0.5 * PATIENCE)[0]
        os.close(descriptor)


@pytest.mark.slow
def test_the_loop_ends_when_its_host_is_killed():
    here = str(Path(__file__).parent)
    host = subprocess.Popen([sys.executable, "-c", HOST.format(path=[here])], stdout=subprocess.PIPE, text=True)
    pid = int(host.stdout.readline())
    ended = os.pidfd_open(pid)
    host.kill()
    host.wait()
    host.stdout.close()
    assert select.select([ended], [], [], PATIENCE)[0]
    os.close(ended)
