"""Receives halts in a process of its own, as `python -m ...halt_receiver MEMORY NAME TEXTS ARM_NAME TOPIC=WORD`.

`halt_process.py` starts it, with one TOPIC=WORD or several. TEXTS is the topic of commands as text; what comes on
ARM_NAME gives this arm a name in texts, and may add a topic of texts. Nothing else runs here: each halt becomes a
record in the control loop's memory, which the loop reads first in every step. It ends when its host ends, which closes
the standard input.
"""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions

from telerobot.msg import ArmName, Command, CommandReport, Halt
from telerobot_nodes import graph
from telerobot_nodes.core.memory import HaltSlot
from telerobot_nodes.nodes.framework import URGENT_NICENESS, leave, qos_profile
from telerobot_nodes.nodes.halts.halt_receipts import HaltReceipts
from telerobot_nodes.nodes.halts.halt_texts import TextHalt, halt_of_text
from telerobot_nodes.nodes.halts.unanswered_halts import Key, UnansweredHalts

READY = b"R"
HALTED = b"halt"  # every answer to a halt begins so
PRIORITY = 65  # SCHED_RR, above every node but the hardware interface
BEAT_PERIOD = 0.1  # [s] longest time between two signs of life
END_LIMIT = 1.0  # [s] for destroying the node
MOST_NAMES = 8  # of this arm, and topics of texts
SENDER_LENGTH = 200  # characters of a sender that the decision unit repeats in its answer
REASON_LENGTH = 200  # characters of a reason that are passed on


class HaltReceiver:
    """Every message on a topic of halts is one, also when it cannot be read; a text is one by its first letters."""

    def __init__(self, slot: HaltSlot, alone: Callable[[], bool]) -> None:
        """`alone`: whether no decision unit is there, which would stop what a halt names."""
        self._slot, self._alone = slot, alone
        self._receipts = HaltReceipts()
        self._unanswered = UnansweredHalts()
        self._arms: set[str] = set()
        self._others: dict[str, list[str]] = {}  # by topic of texts

    def name(self, arm: str, texts: str, others: list[str]) -> None:
        """Obey halts of this arm by one more name, and leave those of others on this topic to the decision unit."""
        if len(self._arms) < MOST_NAMES:
            self._arms.add(arm)
        if texts in self._others or len(self._others) < MOST_NAMES:
            self._others[texts] = others

    def receive(self, topic: str, word: str, data: bytes) -> None:
        """Write the halt of one serialized Halt.msg that came on `topic`; `word` precedes its sender."""
        try:
            message = deserialize_message(data, Halt)
            agent, number, why = message.agent, message.number, message.reason
        except Exception as error:  # noqa: BLE001 -- a halt that cannot be read is a halt
            agent, number, why = "unknown", 0, f"unreadable message: {error}"
        self._slot.write(self._receipts.take(word + agent, number, why[:REASON_LENGTH], topic))

    def receive_text(self, topic: str, data: bytes) -> None:
        """Write the halt of one serialized Command.msg, if it is one."""
        halt = halt_of_text(data, alone=True)  # whatever it names
        if halt is None:
            return
        if halt_of_text(data, self._arms, self._others.get(topic, ()), self._alone()) is not None:
            self._write(topic, halt)
            return
        message = deserialize_message(data, Command)
        key = Key(message.sender[:SENDER_LENGTH] or "unknown", message.link.number)
        self._unanswered.add(key, time.monotonic(), topic, halt)

    def receive_report(self, data: bytes) -> None:
        """Take a serialized CommandReport.msg, in case it is the answer to a halt; one that cannot be read is none."""
        if HALTED not in data:  # not read: there may be a thousand a second
            return
        try:
            message = deserialize_message(data, CommandReport)
        except Exception:  # noqa: BLE001 -- whatever the middleware raises; this process must live
            return
        if message.kind == CommandReport.REPLY:
            self._unanswered.answered(Key(message.sender, message.text_number), time.monotonic())

    def obey_unanswered(self) -> None:
        """Write the halts that the decision unit has not answered in time."""
        for topic, halt in self._unanswered.overdue(time.monotonic()):
            self._write(topic, halt)

    def _write(self, topic: str, halt: TextHalt) -> None:
        self._slot.write(self._receipts.take(halt.named.agent, halt.named.number, halt.reason, topic))


class TextTopics:
    """The topics on which texts come; a decision unit in another namespace names its own."""

    def __init__(self, node: Node, receiver: HaltReceiver, profile: Any) -> None:
        self._node, self._receiver, self._profile = node, receiver, profile
        self._topics: set[str] = set()

    def add(self, topic: str) -> None:
        """Receive halts among the texts of this topic, once."""
        if topic in self._topics or len(self._topics) == MOST_NAMES:
            return
        receiver, reports = self._receiver, f"{topic.rpartition('/')[0]}/reports"
        self._node.create_subscription(Command, topic, partial(receiver.receive_text, topic), self._profile, raw=True)
        profile = qos_profile(graph.topic("rtc_decision_unit/reports").qos)
        self._node.create_subscription(CommandReport, reports, receiver.receive_report, profile, raw=True)
        self._topics.add(topic)

    def on_arm_name(self, message: Any) -> None:
        """Take a name of this arm, and where texts with it come."""
        self._receiver.name(message.arm, message.texts, message.others)
        with contextlib.suppress(InvalidTopicNameException):
            self.add(message.texts)


def serve(
    ended: threading.Event, descriptor: int, name: str, texts: str, arm_name: str, topics: dict[str, str]
) -> None:
    """Receive halts on absolute topics, each with the word that precedes its senders, and among texts.

    Once the host has ended, the node is destroyed: the transport's shared memory would outlive this process.
    """
    slot = HaltSlot(memoryview(mmap.mmap(descriptor, HaltSlot.SIZE)))
    namespace, _, base = name.rpartition("/")
    node = rclpy.create_node(
        base, namespace=namespace, use_global_arguments=False, enable_rosout=False, start_parameter_services=False
    )
    receiver = HaltReceiver(slot, lambda: node.count_publishers(arm_name) == 0)
    profile = qos_profile(graph.topic("halt").qos)
    for topic, word in topics.items():
        node.create_subscription(Halt, topic, partial(receiver.receive, topic, word), profile, raw=True)
    listen = TextTopics(node, receiver, profile)
    listen.add(texts)
    latched = qos_profile(graph.topic("rtc_decision_unit/arm_name").qos)
    node.create_subscription(ArmName, arm_name, listen.on_arm_name, latched)
    executor = EventsExecutor()
    executor.add_node(node)
    gc.collect()
    gc.freeze()
    os.write(sys.stdout.fileno(), READY)
    while rclpy.ok() and not ended.is_set():
        executor.spin_once(timeout_sec=BEAT_PERIOD)
        receiver.obey_unanswered()
        slot.beat()
    leave(node)
    rclpy.try_shutdown()


def _end_with_host(ended: threading.Event) -> None:
    sys.stdin.buffer.read()
    ended.set()
    time.sleep(END_LIMIT)
    os._exit(1)


def main() -> None:
    """Run the process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # only the host ends it, after the arm has come to rest
    ended = threading.Event()
    threading.Thread(target=_end_with_host, args=(ended,), daemon=True).start()
    with contextlib.suppress(PermissionError):  # the transport's threads inherit both
        os.setpriority(os.PRIO_PROCESS, 0, URGENT_NICENESS)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    descriptor, name, texts, arm_name, *pairs = sys.argv[1:]
    serve(ended, int(descriptor), name, texts, arm_name, dict(pair.split("=", 1) for pair in pairs))
    os._exit(0)  # without static destructors, which would run beside the thread above


if __name__ == "__main__":
    main()
