"""The channels of requests over the link between two hosts."""

import pytest
from simulated_net import CELL, DESK, NUMBER, Net

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.graph import Priority
from telerobot_nodes.link.requests import ANSWERS, REQUESTS, STOPS
from telerobot_nodes.link.requests.channels import LATE

REQUEST, STOP = NUMBER[REQUESTS.name], NUMBER[STOPS.name]


def met(**line):
    net = Net(**line)
    net.run(2.0)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH
    return net


@pytest.mark.lengthy
def test_a_large_request_crosses_a_line_that_loses_and_smaller_ones_do_not_wait_for_it():
    net = met(delay=0.1, loss=0.05)
    large, small = bytes(range(256)) * 1200, b"small"
    net.send(DESK, REQUEST, large)
    net.send(DESK, REQUEST, small)
    net.run(4.0)
    got = net.messages(CELL, REQUEST)
    assert [len(message) for message in got] == [len(small), len(large)]
    assert got[1] == large


def test_a_request_does_not_come_after_a_cut_that_made_it_old_and_a_young_one_does():
    net = met()
    net.cut = {DESK}
    net.send(DESK, REQUEST, b"old")
    net.run(LATE - 1.0)
    net.send(DESK, REQUEST, b"young")
    net.run(2.0)
    net.cut = set()
    net.run(3.0)
    assert net.messages(CELL, REQUEST) == [b"young"]


def test_after_a_cut_what_withdraws_a_request_comes_before_it():
    net = met(delay=0.2)
    net.cut = {DESK}
    net.send(DESK, REQUEST, b"begin")
    net.run(10.0)
    net.cut = set()
    net.send(DESK, STOP, b"withdraw")
    net.run(3.0)
    arrived = [message for _, host, topic, message in net.got if host is CELL and topic in (REQUEST, STOP)]
    assert arrived == [b"withdraw", b"begin"]


def test_what_stops_passes_while_the_operator_hears_nothing_and_what_moves_does_not():
    net = met()
    net.cut = {CELL}
    net.run(1.0)
    net.send(DESK, REQUEST, b"move")
    net.send(DESK, STOP, b"stop")
    net.run(0.2)
    assert net.messages(CELL, STOP) == [b"stop"]
    assert net.messages(CELL, REQUEST) == []


def test_what_stops_leaves_first_and_what_moves_with_the_commands():
    assert STOPS.crosses.priority is Priority.HALT
    assert REQUESTS.crosses.priority is Priority.OPERATIONS
    assert (REQUESTS.crosses.moves, STOPS.crosses.moves, STOPS.crosses.late) == (True, False, 0.0)
    assert ANSWERS.crosses.priority > REQUESTS.crosses.priority
