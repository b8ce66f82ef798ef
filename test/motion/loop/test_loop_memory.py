import numpy as np
import pytest

from telerobot_nodes.core.memory import HaltSlot, ReceivedHalt
from telerobot_nodes.motion.loop import LoopMemory
from telerobot_nodes.motion.loop.loop_memory import Scheduling

DOF, PERIOD = 6, 0.002


def latest(memory, name):
    mailbox = memory.inbox.mailboxes[name]
    record = np.zeros((), mailbox.dtype)
    assert mailbox.read(record)
    return record


def test_two_memories_over_the_same_bytes_share_every_record():
    shared = memoryview(bytearray(LoopMemory.size(DOF)))
    host, loop = LoopMemory(DOF, PERIOD, shared), LoopMemory(DOF, PERIOD, shared)
    host.inbox.measured(1.0, np.arange(DOF), np.ones(DOF))
    host.inbox.wrench(1.1, np.full(6, 2.0))
    host.received.write(ReceivedHalt(7, "operator"))
    host.inbox.hardware(1.2, 3, "drive", 0.04)
    host.inbox.field(1.3, np.full(6, 0.1))
    assert latest(loop, "measured")["q"].tolist() == list(range(DOF))
    assert latest(loop, "wrench")["wrench"].tolist() == [2.0] * 6
    assert loop.received.read() == ReceivedHalt(7, "operator", [])
    host.inbox.hardware(1.1, 3, "drive", 0.04, 0.05, 2**64 - 1)
    assert int(latest(loop, "hardware")["setpoint"]) == 2**63 - 1
    host.inbox.hardware(1.2, 3, "drive", 0.04)
    assert (int(latest(loop, "hardware")["state"]), float(latest(loop, "hardware")["gripper"])) == (3, 0.04)
    assert float(latest(loop, "field")["at"]) == 1.3
    loop.statistics.add(1.0, 0.001)
    loop.durations.add(0.0001)
    assert host.statistics.lateness.count == host.durations.count == 1


def test_the_place_of_halts_is_at_the_beginning_of_the_memory():
    memory = memoryview(bytearray(LoopMemory.size(DOF)))
    HaltSlot(memory[: HaltSlot.SIZE]).write(ReceivedHalt(1, "test"))
    assert LoopMemory(DOF, PERIOD, memory).received.read() == ReceivedHalt(1, "test", [])


def test_motion_of_the_device_adds_up_so_that_no_part_is_lost():
    memory = LoopMemory(DOF, PERIOD)
    for _ in range(3):
        memory.inbox.device(np.full(6, 0.1))
    assert latest(memory, "device")["total"] == pytest.approx(np.full(6, 0.3))


def test_scheduling_and_error_are_reported():
    memory = LoopMemory(DOF, PERIOD)
    assert memory.scheduling == Scheduling("SCHED_OTHER", 0, "not started")
    assert memory.error == ""
    granted = Scheduling("SCHED_FIFO", 80, "", locked=True)
    memory.report(granted)
    assert memory.scheduling == granted
    memory.report(error="Traceback ...")
    assert memory.error == "Traceback ..."
    assert memory.scheduling == granted


def test_the_end_of_a_long_error_is_kept():
    memory = LoopMemory(DOF, PERIOD)
    memory.report(error="x" * 5000 + "the cause")
    assert memory.error.endswith("the cause")
