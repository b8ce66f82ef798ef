"""The process that receives halts: every message is a halt, whatever it contains; its end and its silence are seen."""

import mmap
import os
import signal
import time
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from rclpy.duration import Duration
from rclpy.serialization import serialize_message

from telerobot.msg import ArmName, Command, CommandReport, Halt, LinkStamp
from telerobot_nodes import graph
from telerobot_nodes.core.memory import HaltSlot
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.halts.halt_process import SILENCE_LIMIT, HaltProcess

TEXTS, OTHER_TEXTS, ARM_NAME = "/hear/texts", "/other/texts", "/hear/arm_name"
REPORTS = {TEXTS: "/hear/reports", OTHER_TEXTS: "/other/reports"}
TOPICS = {"/hear/halt": "", "/hear/estop": "e-stop "}


@pytest.fixture(scope="module")
def hearing(module_ros):
    """The process, its slot, and publishers that it has found."""
    descriptor = os.memfd_create("received")
    os.ftruncate(descriptor, HaltSlot.SIZE)
    slot = HaltSlot(memoryview(mmap.mmap(descriptor, HaltSlot.SIZE)))
    process = HaltProcess(descriptor, slot, "/hear/halts", TEXTS, ARM_NAME, TOPICS)
    profile = qos_profile(graph.topic("halt").qos)
    senders = [module_ros.probe.create_publisher(Halt, topic, profile) for topic in TOPICS]
    senders.append(module_ros.probe.create_publisher(Command, TEXTS, profile))
    process.wait_ready()
    assert module_ros.until(lambda: all(sender.get_subscription_count() for sender in senders))
    yield process, slot, senders
    process.stop()
    os.close(descriptor)


@pytest.fixture
def say(hearing, module_ros):
    """Publishes one halt and returns what was received of it."""
    process, slot, senders = hearing

    def publish(message, topic=0):
        before = slot.count
        senders[topic].publish(message)
        assert module_ros.until(lambda: slot.count > before), "the halt was not received"
        assert process.news()
        return process.received

    return publish


class Unit:
    """Answers the texts of one topic as a decision unit does, until it hangs."""

    def __init__(self, probe, texts):
        self.hangs, self.answered = False, []
        self.reports = probe.create_publisher(
            CommandReport, REPORTS[texts], qos_profile(graph.topic("rtc_decision_unit/reports").qos)
        )
        probe.create_subscription(Command, texts, self._answer, qos_profile(graph.topic("halt").qos))

    def _answer(self, message):
        if not self.hangs:
            number = message.link.number
            self.reports.publish(CommandReport(sender=message.sender, text="halt", ok=True, text_number=number))
            self.answered.append(number)


@pytest.mark.parametrize("number", [0, 0, 7, 7, 3, 2**63, 2**64 - 1, 2**64 - 1, 1])
def test_every_number_is_a_halt(say, number):
    assert say(Halt(number=number, agent="ana", reason="test")).reason == "ana: test"


def test_a_message_with_default_fields_is_a_halt(say):
    assert say(Halt()).reason == ": "


def test_copies_of_one_halt_are_heard_and_told_from_the_next(say):
    distinct = [say(Halt(number=number, agent="ben")).distinct for number in (5, 5, 6, 5)]
    assert [b - a for a, b in pairwise(distinct)] == [0, 1, 1]
    distinct = [say(Halt(agent="ben")).distinct for _ in range(3)]
    assert [b - a for a, b in pairwise(distinct)] == [1, 1]  # without a number each is new


def test_an_estop_is_a_halt_and_its_sender_is_confirmed_as_such(say):
    received = say(Halt(number=4, agent="cho", reason="fire"), topic=1)
    assert received.reason == "e-stop cho: fire"
    assert received.obeyed(received.distinct)[-1] == ("e-stop cho", 4)


def test_invalid_letters_and_long_texts_are_halts(say):
    bad = serialize_message(Halt(agent="XXXX", reason="test")).replace(b"XXXX", b"\xff\xfe\xc0\x80")
    assert say(bad).reason.endswith(": test")
    assert say(Halt(agent="a" * 100_000, reason="b" * 100_000)).reason.startswith("aaaa")


def test_a_message_that_cannot_be_read_is_a_halt(say):
    assert "unreadable" in say(serialize_message(Halt(agent="dan"))[:9]).reason


def a_text(text, number=0):
    return Command(link=LinkStamp(sender="eve", number=number), sender="host/shell/1", text=text)


def test_a_text_that_begins_with_a_halt_word_is_a_halt_and_the_same_as_its_forwarded_copy(say):
    received = say(a_text("STOP!! now", 3), topic=2)
    assert received.reason == "eve.text: halt by shell"
    assert received.obeyed(received.distinct)[-1] == ("eve.text", 3)
    assert say(Halt(agent="eve.text", number=3)).distinct == received.distinct
    assert say(a_text("stop", 4), topic=2).distinct == received.distinct + 1


def test_a_text_without_a_number_is_paired_with_its_forwarded_copy(say):
    distinct = [
        say(message, topic).distinct for message, topic in [(a_text("halt"), 2), (Halt(agent="eve.text"), 0)] * 2
    ]
    assert [b - a for a, b in pairwise(distinct)] == [0, 1, 0]


def test_a_broken_text_halts_if_the_word_is_whole_and_other_texts_do_not(hearing, say):
    slot, publish = hearing[1], hearing[2][2].publish
    before = slot.count
    whole = serialize_message(a_text("halt everything", 9))
    word = whole.index(b"halt") + len("halt")
    for text in ("move left_arm to dock", "hal", "x" * 100_000 + "halt"):
        publish(a_text(text))
    publish(whole[: word - 1])
    say(whole[:word], topic=2)
    assert slot.count == before + 1


def test_a_halt_of_a_command_halts_the_arm_while_no_decision_unit_is_there_to_do_it(say):
    assert say(a_text("halt command 3", 41), topic=2).obeyed(10**6)[-1] == ("eve.text", 41)
    assert say(a_text("halt polishing", 42), topic=2).obeyed(10**6)[-1] == ("eve.text", 42)


def test_a_text_that_names_this_arm_halts_it_on_every_topic_of_texts(hearing, say, module_ros):
    slot, texts = hearing[1], hearing[2][2]
    names = module_ros.probe.create_publisher(ArmName, ARM_NAME, qos_profile(graph.Qos.LATCHED))
    others = module_ros.probe.create_publisher(Command, OTHER_TEXTS, qos_profile(graph.topic("halt").qos))
    names.publish(ArmName(arm="left_arm", texts="no topic"))
    names.publish(ArmName(arm="left_arm", texts=OTHER_TEXTS, others=["right_arm"]))
    assert module_ros.until(others.get_subscription_count)  # latched: a later name takes the place of one not yet seen
    names.publish(ArmName(arm="left_arm", texts=TEXTS, others=["right_arm", "polishing"]))
    assert names.wait_for_all_acked(Duration(seconds=20))
    hearing[2].append(others)
    units = [Unit(module_ros.probe, topic) for topic in (TEXTS, OTHER_TEXTS)]
    assert module_ros.until(lambda: all(unit.reports.get_subscription_count() for unit in units))
    before = slot.count
    texts.publish(a_text("halt right_arm", 21))
    texts.publish(a_text("halt polishing", 22))
    others.publish(a_text("halt right_arm", 23))
    texts.publish(a_text("halt command 3", 24))
    assert module_ros.until(lambda: [len(unit.answered) for unit in units] == [3, 1])
    units[0].hangs = True
    texts.publish(a_text("halt command 3", 25))
    assert module_ros.until(lambda: slot.count > before)
    assert slot.read().obeyed(slot.read().distinct)[-1] == ("eve.text", 25)
    units[0].hangs = False
    before += 1
    assert say(a_text("halt left_arm", 31), topic=2).reason == "eve.text: halt by shell"
    assert say(a_text("Halt LEFT-arm;", 32), topic=3).obeyed(slot.read().distinct)[-1] == ("eve.text", 32)
    assert slot.count == before + 2
    assert say(a_text("halt please", 33), topic=2).obeyed(slot.read().distinct)[-1] == ("eve.text", 33)
    assert say(a_text("halt polishing", 34), topic=3).obeyed(slot.read().distinct)[-1] == ("eve.text", 34)  # not there
    module_ros.probe.destroy_publisher(names)  # the decision unit has ended
    assert module_ros.until(
        lambda: texts.publish(a_text("halt polishing", slot.count + 100)) or slot.count > before + 4
    )


def test_reports_that_cannot_be_read_do_not_end_it(hearing, say, module_ros):
    slot, report = hearing[1], qos_profile(graph.topic("rtc_decision_unit/reports").qos)
    reports = module_ros.probe.create_publisher(CommandReport, REPORTS[TEXTS], report)
    assert module_ros.until(reports.get_subscription_count)
    whole = serialize_message(CommandReport(sender="XXXX", text="halt"))
    for data in (whole.replace(b"XXXX", b"\xff\xfe\xc0\x80"), whole[: whole.index(b"halt") + 4], b"halt"):
        reports.publish(data)
    assert reports.wait_for_all_acked(Duration(seconds=20))
    beats = slot.beats
    assert module_ros.until(lambda: slot.beats > beats + 1)
    assert say(Halt(number=71, agent="fay", reason="test")).reason == "fay: test"


def test_nothing_new_is_no_news(hearing, say):
    say(Halt())
    assert not hearing[0].news()


def test_a_thousand_halts_at_once_are_heard_the_last_of_them_too(hearing, module_ros):
    process, _, senders = hearing
    for number in range(1, 1001):
        senders[0].publish(Halt(number=number, agent="flood"))
    assert module_ros.until(
        lambda: process.news() and process.received.obeyed(process.received.distinct)[-1] == ("flood", 1000)
    )


def test_it_maps_no_shared_memory_of_the_transport(module_ros):
    descriptor = os.memfd_create("received")
    os.ftruncate(descriptor, HaltSlot.SIZE)
    slot = HaltSlot(memoryview(mmap.mmap(descriptor, HaltSlot.SIZE)))
    process = HaltProcess(descriptor, slot, "/hear/thirds", TEXTS, ARM_NAME, TOPICS)
    process.wait_ready()
    assert "/dev/shm/fastrtps_" not in Path(f"/proc/{process.pid}/maps").read_text()
    process.stop()
    os.close(descriptor)


def test_silence_and_end_of_the_process_are_told(module_ros):
    descriptor = os.memfd_create("received")
    os.ftruncate(descriptor, HaltSlot.SIZE)
    slot = HaltSlot(memoryview(mmap.mmap(descriptor, HaltSlot.SIZE)))
    process = HaltProcess(descriptor, slot, "/hear/others", TEXTS, ARM_NAME, TOPICS)
    process.wait_ready()
    assert module_ros.until(lambda: slot.beats > 2)
    now = time.monotonic()
    assert process.trouble(now) == ""
    os.kill(process.pid, signal.SIGSTOP)
    assert module_ros.until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    beats = slot.beats
    assert process.trouble(now) == ""  # it may have given a sign of life before it stopped
    assert process.trouble(now + SILENCE_LIMIT + 1.0).startswith("the process that receives halts hangs")
    assert slot.beats == beats
    os.kill(process.pid, signal.SIGCONT)
    assert module_ros.until(lambda: slot.beats > beats)
    assert process.trouble(now + 2.0 * SILENCE_LIMIT) == ""
    os.kill(process.pid, signal.SIGKILL)
    assert module_ros.until(lambda: "ended with code -9" in process.trouble(now))
    process.stop()
    os.close(descriptor)
