"""Requests while the delay of the link grows: the link lives, though no answer comes for long."""

import pytest
from simulated_net import CELL, DESK, NUMBER, Net

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link.requests import ANSWERS, CHANNELS, Asker, Over, RequestEnd, Runner
from telerobot_nodes.link.requests.asker import DOWN_AFTER, UNANSWERED_AFTER

NAME = "gcmsf_control/execute"
UP = [NUMBER[entry.name] for entry, upward in CHANNELS.items() if upward]


class Ends:
    """An operator and a robot that does at once what it is asked, on a simulated net."""

    def __init__(self):
        self.net = Net()
        self.asker, self.runner = Asker(1, 0.0), Runner(2, [NAME])
        self.begun, self.overs, self.mute = [], {}, False
        self.run(2.0)

    def ask(self):
        return self.asker.ask(self.net.now, NAME, b"move")

    def run(self, seconds):
        end = self.net.now + seconds
        while self.net.now < end:
            self.step()

    def step(self):
        net, now = self.net, self.net.now
        watch = net.session(DESK).watch
        self.asker.note_link(now, watch.silence(now + 86_400.0))
        self.asker.poll(now)
        for channel, data in self.asker.take_out():
            net.send(DESK, NUMBER[channel.name], data)
        for data in self.runner.take_out():
            net.send(CELL, NUMBER[ANSWERS.name], data)
        net.run(0.05)
        for _, _, channel, data in net.got:
            if channel == NUMBER[ANSWERS.name]:
                self.asker.receive(net.now, data)
            elif channel in UP and not self.mute:
                for act in self.runner.receive(net.now, data):
                    self.begun.append(act.ticket.number)
                    self.runner.end(act.ticket, RequestEnd.DONE)
        net.got.clear()
        net.taps.clear()
        self.overs |= {event.number: event for event in self.asker.take_events() if isinstance(event, Over)}


@pytest.mark.parametrize("after", [-0.1, 1.0, 3.5, 5.5, 7.0])
def test_a_request_around_a_step_of_the_delay_is_done_once(after):
    ends = Ends()
    numbers = []
    if after < 0.0:
        numbers.append(ends.ask())
    ends.net.delay = 3.0  # each way: 6 s without an answer
    ends.run(max(after, 0.0))
    if after >= 0.0:
        numbers.append(ends.ask())
    ends.run(30.0)
    assert [ends.overs[number].end for number in numbers] == [RequestEnd.DONE]
    assert ends.begun == numbers


def test_after_a_step_longer_than_the_silence_that_counts_as_down_requests_are_taken_as_soon_as_the_link_is_fresh():
    ends = Ends()
    ends.net.delay = 6.0
    ends.run(7.0)
    while ends.net.state(DESK) is not LinkState.FRESH:
        ends.step()
    ends.step()  # the link is asked once more
    number = ends.ask()
    ends.run(30.0)
    assert ends.overs[number].end is RequestEnd.DONE
    assert ends.begun == [number]


def test_a_link_that_is_cut_is_down_as_soon_as_before():
    ends = Ends()
    ends.net.cut = {CELL, DESK}
    ends.run(DOWN_AFTER - 0.5)
    number = ends.ask()
    assert number not in ends.overs
    ends.run(1.0)
    assert ends.overs[number].end is RequestEnd.LINK_DOWN
    assert f"{DOWN_AFTER:g} s" in ends.overs[number].reason


def test_a_link_of_which_one_way_is_cut_is_down_too():
    ends = Ends()
    ends.net.cut = {DESK}
    ends.run(DOWN_AFTER + 0.7)
    number = ends.ask()
    ends.run(0.1)
    assert ends.overs[number].end is RequestEnd.LINK_DOWN


def test_a_robot_whose_link_lives_and_that_does_not_answer_is_down_later():
    ends = Ends()
    ends.mute = True
    number = ends.ask()
    ends.run(UNANSWERED_AFTER - 1.0)
    assert number not in ends.overs
    ends.run(2.0)
    assert ends.overs[number].end is RequestEnd.LINK_DOWN
    assert f"{UNANSWERED_AFTER:g} s" in ends.overs[number].reason
