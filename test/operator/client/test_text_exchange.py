"""Texts over slow and lossy links: one answer each, nothing told that is not so, pace of the measured round trip."""

import heapq
import random

import pytest

from telerobot_nodes.operator.client import NO_ANSWER, TextExchange

STEP = 0.1  # [s]


class Link:
    """A decision unit at the far end: executes each text once, says its answers again; a command lasts `lasts` [s]."""

    def __init__(self, one_way, loss=0.0, lasts=None, seed=1):
        self.exchange, self.one_way, self.loss, self.lasts = TextExchange(), one_way, loss, lasts
        self.random = random.Random(seed)
        self.now, self.number, self.copies = 0.0, 0, 0
        self.way, self.answers, self.executed = [], {}, []
        self.heard, self.told = [], []

    def say(self, text):
        return self.put(self.exchange.send(text, self.now))

    def put(self, sent):
        self.copies += 1
        self.later("up", sent.number)
        return sent.number

    def later(self, way, what, after=0.0):
        if self.random.random() >= self.loss:
            heapq.heappush(self.way, (self.now + after + self.one_way, len(self.heard) + self.copies, way, what))

    def run(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.now += STEP
            while self.way and self.way[0][0] <= self.now:
                _, _, way, what = heapq.heappop(self.way)
                (self.arrive if way == "up" else self.hear)(what)
            for sent in self.exchange.due(self.now):
                self.put(sent)
            self.told += [sent.text for sent in self.exchange.late(self.now)]

    def arrive(self, text):
        if text not in self.answers:
            self.executed.append(text)
            self.answers[text] = [self.report("reply", text, 0.0)]
            if self.lasts is not None:
                self.answers[text].append(self.report("ended", text, self.lasts))
        for number, kind, text_, at in self.answers[text]:
            self.later("down", (number, kind, text_), max(0.0, at - self.now))

    def report(self, kind, text, after):
        self.number += 1
        return self.number, kind, text, self.now + after

    def hear(self, report):
        number, kind, text = report
        if not self.exchange.is_new("unit", number):
            return
        self.heard.append((kind, text))
        if kind == "reply":
            self.exchange.answered(text, "unit", self.lasts is not None, self.now)
        else:
            self.exchange.ended(text)


@pytest.mark.parametrize("one_way", [0.0, 0.2, 2.2, 10.0, 20.0, 60.0])
def test_no_text_is_told_to_be_without_an_answer_on_a_link_of_any_delay(one_way):
    """From 4.4 s of round trip it was."""
    link = Link(one_way)
    numbers = []
    for _ in range(5):
        numbers.append(link.say("where module"))
        link.run(30.0)
    link.run(NO_ANSWER)
    assert link.told == []
    assert [text for _, text in link.heard] == numbers
    assert link.executed == numbers


@pytest.mark.parametrize("before", [0.05, 20.0])
def test_the_pace_follows_the_round_trip_so_that_a_text_is_sent_once(before):
    """Also after the link has become slower or quicker: three texts at most are repeated."""
    link = Link(before)
    for one_way in (before, 10.0):
        link.one_way = one_way
        for _ in range(3):
            link.say("where module")
            link.run(60.0)
        copies = link.copies
        for _ in range(5):
            link.say("where module")
            link.run(60.0)
        assert link.copies == copies + 5


def test_answers_are_matched_by_number_and_not_by_order():
    link = Link(5.0)
    first, second = link.say("wait for 100 s"), link.say("where module")
    link.exchange.answered(second, "unit", False, 4.0)
    assert [sent.number for sent in link.exchange.due(1000.0)] == [first]


@pytest.mark.parametrize("seed", range(3))
def test_lost_messages_are_made_good_and_every_end_is_heard(seed):
    link = Link(1.0, loss=0.4, lasts=3.0, seed=seed)
    numbers = [link.say("move left_arm to home") for _ in range(20)]
    link.run(600.0)
    assert link.told == []
    assert sorted(link.heard) == sorted((kind, number) for number in numbers for kind in ("reply", "ended"))
    assert sorted(link.executed) == numbers
    copies = link.copies
    link.run(100.0)
    assert link.copies == copies  # nothing is asked after the answer


def test_a_dead_link_is_told_once_and_after_twice_the_longest_delay():
    link = Link(1.0, loss=1.0)
    link.say("where module")
    link.run(NO_ANSWER - 1.0)
    assert link.told == []
    link.run(100.0)
    assert link.told == ["where module"]


def test_a_halt_is_repeated_ten_times_a_second_at_first_whatever_the_link():
    link = Link(30.0)
    link.exchange.round_trip.measured(60.0)
    link.say("STOP!")
    link.run(0.5)
    assert link.copies >= 3
    link.run(10.0)
    assert link.copies >= 12


def test_a_text_that_was_answered_is_repeated_to_that_decision_unit_only():
    link = Link(1.0, lasts=1e9)
    link.say("hold left_arm")
    link.run(20.0)
    assert {sent.unit for sent in link.exchange.due(1000.0)} == {"unit"}


@pytest.mark.lengthy
def test_memory_is_bounded():
    exchange = TextExchange()
    for number in range(10_000):
        exchange.send("where module", 0.0)
        assert exchange.is_new("unit", number)
    assert len(exchange.due(1e6)) <= 200
    assert len(exchange._seen) <= 2000


def test_a_halt_is_not_given_up_for_a_flood_of_other_texts():
    exchange = TextExchange()
    halt = exchange.send("halt left_arm", 0.0)
    for _ in range(1000):
        exchange.send("status", 0.0)
    assert halt.number in {sent.number for sent in exchange.due(10.0)}
    exchange.answered(halt.number, "unit", False, 10.0)
    assert halt.number not in {sent.number for sent in exchange.due(100.0)}
