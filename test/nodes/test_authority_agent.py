"""Programs that request control in a line with people: no plan is kept for a program that does not want it."""

import contextlib
from dataclasses import replace

import pytest
from arbiter_place import Place
from hypothesis import given
from hypothesis import strategies as st
from plan_models import Link
from plan_values import report

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import AuthorityError, TransitionError
from telerobot_nodes.nodes.decision.authority_agent import AuthorityAgent, HandOver

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind
PERIOD = 0.05  # [s]


class Rig:
    """A robot's arbiter and the decision unit's agent, with a link between them."""

    def __init__(self, delay=0.0, jitter=0.0, loss=0.0):
        self.place, self.agent = Place(), AuthorityAgent()
        self.up, self.down = (Link(seed, delay, jitter, loss) for seed in (1, 2))
        self.outcomes = []
        self.number = 0

    def run(self, seconds, *heard):
        """Let time pass; `heard` send heartbeats."""
        for _ in range(round(seconds / PERIOD)):
            self.step(heard)

    def step(self, heard):
        self.place.now += PERIOD
        for message, claim in self.up.arrived(self.place.now):
            self.take(message, claim)
        for name in heard:
            self.say(HEARTBEAT, name)
        self.number += 1
        self.down.send(self.place.now, self.report())
        for entry in self.down.arrived(self.place.now):
            over = self.agent.on_report(self.place.now, entry)
            self.outcomes += [over] if over is not None else []
        self.up.send(self.place.now, self.agent.due(self.place.now))

    def take(self, message, claim):
        if message is not None:
            with contextlib.suppress(AuthorityError, TransitionError):
                self.place.arbiter.handle(self.place.now, message, self.place.receiver)
        if claim is not None:
            self.place.receiver.receive(self.place.now, [claim])

    def say(self, kind, name, peer=None):
        now = self.place.now
        with contextlib.suppress(AuthorityError, TransitionError):
            self.place.say(kind, name, peer)
        self.place.now = now

    def report(self):
        position = self.place.receiver.position
        fields = self.place.arbiter.report_fields(self.place.now)
        return report(epoch=position.epoch, authority=position.authority, number=self.number, **fields)

    @property
    def line(self):
        return self.report().requests


@pytest.fixture
def rig():
    """Ann has the plan, and the program has requested it."""
    rig = Rig()
    rig.place.claim("ann")
    rig.run(0.5)
    assert rig.agent.begin(rig.place.now, HandOver(4, True)) == ""
    rig.run(0.5)
    assert rig.line == ("program",)
    return rig


def test_a_decision_unit_that_was_restarted_gives_its_place_in_the_line_back(rig):
    rig.agent = AuthorityAgent()
    rig.run(1.0)
    assert rig.line == ()
    rig.say(RELEASE, "ann")
    assert rig.place.claim("bob") == ""


def test_a_program_that_was_told_a_denial_keeps_no_place_in_the_line(rig):
    """Reports without numbers, of a robot of before: an old one is taken for the latest."""
    rig.agent.on_report(rig.place.now, replace(rig.report(), number=0, asker=""))
    assert rig.agent.wish is None
    rig.run(1.0)
    assert rig.line == ()


def test_a_report_that_was_overtaken_is_no_denial(rig):
    assert rig.agent.on_report(rig.place.now, replace(rig.report(), number=1, asker="")) is None
    assert rig.agent.report.requests == ("program",)
    rig.say(CONSENT, "ann")
    rig.run(1.0)
    assert rig.outcomes == [(4, "granted")]


def test_a_place_in_the_line_is_given_back_with_one_request():
    agent = AuthorityAgent()
    agent.on_report(0.0, report(authority="ann", asker="program", number=1))
    first, _ = agent.due(0.0)
    agent.on_report(0.1, report(authority="ann", asker="program", number=2))
    again, _ = agent.due(0.3)
    assert first == again
    assert first.kind is RELEASE


def test_a_program_that_begins_while_the_plan_is_kept_for_another_waits_behind_it():
    rig = Rig()
    rig.place.claim("ann")
    rig.say(REQUEST, "bob")
    rig.say(RELEASE, "ann")
    rig.run(0.2)
    assert rig.agent.begin(rig.place.now, HandOver(4, True)) == ""
    rig.run(1.0, "bob")
    assert rig.line == ("bob", "program")
    assert rig.place.claim("bob") == ""
    rig.run(60.0, "bob")
    assert rig.line == ("program",)
    rig.say(CONSENT, "bob")
    rig.run(1.0)
    assert rig.outcomes == [(4, "granted")]


def test_a_program_declines_control_that_no_primitive_asked_for():
    rig = Rig()
    rig.place.claim("ann")
    rig.say(TAKE, "boss", "program")
    rig.run(1.0)
    assert rig.line == ()


@pytest.mark.parametrize("returns", [False, True])
def test_a_plan_that_was_granted_after_the_program_had_given_it_up_is_released(returns):
    rig = Rig(delay=0.3)
    rig.run(1.0)
    rig.agent.begin(rig.place.now, HandOver(4, True))
    rig.run(0.25)  # the claim is on its way
    rig.agent.give_up(rig.place.now)
    if returns:
        rig.agent.begin(rig.place.now, HandOver(5, False))  # over at once: it has no plan yet
    rig.run(0.2)
    assert rig.place.holder == "program"
    rig.run(2.0)
    assert rig.place.holder == ""


def test_a_plan_that_a_program_has_stays_until_a_program_gives_it_back(rig):
    rig.say(RELEASE, "ann")
    rig.run(1.0)
    rig.say(REQUEST, "bob")
    rig.run(1.0, "bob")
    assert (rig.place.holder, rig.line) == ("program", ())  # bob is refused
    rig.agent.begin(rig.place.now, HandOver(5, False))
    rig.run(1.0)
    assert rig.place.holder == ""


PEOPLE = st.sampled_from(["ann", "bob", "boss"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([REQUEST, CONSENT, REFUSE, RELEASE]), PEOPLE),
        st.tuples(st.just(TAKE), st.just("boss"), st.sampled_from(["boss", "program", "ann"])),
        st.tuples(st.just("claim"), PEOPLE),
        st.tuples(st.sampled_from(["begin", "return", "give up", "restart"])),
        st.tuples(st.just("run"), st.sampled_from([0.1, 0.4, 1.0, 4.0])),
    ),
    max_size=15,
)


@given(STEPS, st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.4]))
def test_whatever_has_happened_a_program_that_ends_its_wish_is_soon_in_nobodys_way(steps, delay, jitter, loss):
    rig = Rig(delay, jitter, loss)
    rig.run(1.0)
    latest = 0  # wish for the plan of this process; what its predecessor had is a supervisor's business
    for number, (kind, *rest) in enumerate(steps, 1):
        now = rig.place.now
        if kind == "run":
            rig.run(*rest)
        elif kind == "claim":
            rig.place.claim(*rest)
        elif kind == "begin" and rig.agent.wish is None:
            latest = latest if rig.agent.holds else number
            rig.agent.begin(now, HandOver(number, True))
        elif kind == "return" and rig.agent.wish is None:
            rig.agent.begin(now, HandOver(number, False))
        elif kind == "give up":
            rig.agent.give_up(now)
        elif kind == "restart":
            rig.agent, latest = AuthorityAgent(), 0
        elif isinstance(kind, AuthorityKind):
            rig.say(kind, *rest)
    rig.agent.give_up(rig.place.now)
    rig.run(15.0)
    assert "program" not in rig.line
    if rig.place.holder == "program" and latest:
        assert (latest, "granted") in rig.outcomes
