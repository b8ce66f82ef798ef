"""Texts as messages, through the middleware: numbers, identity, the halt beside the text."""

import os

import pytest

from telerobot.msg import CommandReport, LinkStamp
from telerobot_nodes.core.protocol import identity
from telerobot_nodes.nodes.clients.under_way import COMMANDS, REPORTS, TextSender
from telerobot_nodes.nodes.framework import Foreground

pytestmark = pytest.mark.system
LIMIT = 20.0  # [s]


@pytest.fixture
def rig():
    with Foreground(f"text_sender_{os.getpid()}") as node:
        commands, halts, reports = [], [], []
        node.subscribe(COMMANDS, commands.append)
        node.subscribe("halt", halts.append)
        node.subscribe(REPORTS, reports.append)
        sender = TextSender(node, identity("test"))
        publisher = node.publisher(REPORTS)
        assert node.wait(lambda: sender.connected and publisher.get_subscription_count(), LIMIT)
        yield node, sender, publisher, commands, halts, reports


def test_a_text_that_stops_everything_is_also_a_halt(rig):
    node, sender, _, commands, halts, _ = rig
    for text in ("where module", "halt left_arm", "STOP \ud800 please"):
        sender.send(text, node.now())
    assert node.wait(lambda: len(commands) == 3 and halts, LIMIT)
    assert [(halt.agent, halt.number) for halt in halts] == [(f"{sender.sender}.text", 3)]
    assert [command.link.number for command in commands] == [1, 2, 3]
    assert {command.link.sender for command in commands} == {sender.sender}


def test_an_answer_stops_the_repetition_and_counts_once(rig):
    node, sender, publisher, commands, _, reports = rig
    number = sender.send("where module", node.now())
    answer = CommandReport(link=LinkStamp(sender="unit", number=7), sender=sender.sender, text_number=number)
    publisher.publish(answer)
    publisher.publish(answer)
    publisher.publish(
        CommandReport(link=LinkStamp(sender="unit", number=8), sender="host/other/1f", text_number=number)
    )
    assert node.wait(lambda: len(reports) == 3 and commands, LIMIT)
    assert [sender.take(report, node.now()) for report in reports] == [True, False, False]
    assert sender.step(node.now() + 100.0) == []
    node.spin(0.2)
    assert len(commands) == 1
