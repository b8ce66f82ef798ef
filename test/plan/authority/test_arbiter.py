"""The arbiter of authority: one agent at a time; asked for, consented, taken, released."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import AuthorityKind, OperationKind
from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.authority import AuthorityArbiter, AuthorityMessage
from telerobot_nodes.plan.authority.arbiter import (
    AGENTS,
    HEARTBEAT_TIMEOUT,
    MOST_WAITING,
    TABLE,
    ArbiterEvent,
    ArbiterState,
)
from telerobot_nodes.plan.log import Operation, Receiver

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


class Place:
    """A robot's arbiter and receiver together."""

    def __init__(self, **kwargs):
        self.arbiter = AuthorityArbiter(frozenset({"boss"}), **kwargs)
        self.receiver = Receiver(may_open=self.arbiter.may_open)
        self.now = 0.0

    def say(self, kind, agent, peer=None, number=0, epoch=0):
        self.now += 0.1
        answers = self.arbiter.asker if kind in (CONSENT, REFUSE) else ""
        message = AuthorityMessage(kind, agent, answers if peer is None else peer, epoch, number)
        self.arbiter.handle(self.now, message, self.receiver)

    def claim(self, agent, epoch=None):
        epoch = self.receiver.position.epoch + 1 if epoch is None else epoch
        (delivery,) = self.receiver.receive(self.now, [Operation(epoch, 1, OperationKind.AUTHORITY, agent)])
        return delivery.refusal

    @property
    def holder(self):
        return self.receiver.position.authority


@pytest.fixture
def place():
    place = Place()
    assert place.claim("ann") == ""
    return place


def test_a_free_plan_goes_to_the_first_who_claims_it(place):
    assert place.holder == "ann"
    assert "ann holds it" in place.claim("bob")
    assert place.holder == "ann"


def test_a_request_with_consent_lets_the_asker_claim(place):
    place.say(REQUEST, "bob")
    assert place.claim("bob") != ""
    place.say(CONSENT, "ann", "bob")
    assert place.claim("bob") == ""
    assert place.holder == "bob"
    assert place.arbiter.state is ArbiterState.HELD


def test_a_refused_request_leaves_everything_as_it_was(place):
    place.say(REQUEST, "bob")
    place.say(REFUSE, "ann")
    assert place.claim("bob") != ""
    place.say(REQUEST, "eve")
    assert place.arbiter.asker == "eve"


def test_consent_can_be_withdrawn_before_the_claim(place):
    place.say(REQUEST, "bob")
    place.say(CONSENT, "ann")
    place.say(REFUSE, "ann")
    assert place.claim("bob") != ""


@pytest.fixture
def line(place):
    """Bob, eve and joe have requested control from ann."""
    for n in range(3):
        for agent in ("bob", "eve", "joe"):
            place.say(REQUEST, agent, number=n % 2)  # decided each time, or copies
    assert (place.arbiter.asker, place.arbiter.waiting) == ("bob", ["eve", "joe"])
    return place


def test_who_requests_later_has_its_turn_when_the_one_before_has_claimed(line):
    line.say(CONSENT, "ann")
    assert line.claim("eve") != ""
    assert line.claim("bob") == ""
    assert (line.arbiter.state, line.arbiter.asker, line.arbiter.waiting) == (ArbiterState.ASKED, "eve", ["joe"])
    with pytest.raises(AuthorityError, match="bob holds authority"):
        line.say(CONSENT, "ann")
    line.say(CONSENT, "bob")
    assert line.claim("eve") == ""
    assert (line.arbiter.asker, line.arbiter.waiting) == ("joe", [])


@pytest.mark.parametrize(("kind", "agent"), [(REFUSE, "ann"), (RELEASE, "bob")])
@pytest.mark.parametrize("granted", [False, True])
def test_who_requests_later_has_its_turn_when_the_one_before_is_refused_or_gives_up(line, kind, agent, granted):
    if granted:
        line.say(CONSENT, "ann")
    line.say(kind, agent)
    assert (line.arbiter.state, line.arbiter.asker, line.arbiter.waiting) == (ArbiterState.ASKED, "eve", ["joe"])
    assert line.claim("bob") != ""
    assert line.claim("eve") != ""  # nobody has consented to it


def test_who_waits_may_give_up_its_turn(line):
    line.say(RELEASE, "eve")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("bob", ["joe"])


def test_an_armed_robot_grants_each_in_its_turn(line):
    line.arbiter.armed = True
    line.say(REFUSE, "ann")
    for agent in ("eve", "joe"):
        assert line.claim(agent) == ""


def test_a_supervisor_may_choose_one_of_those_who_wait(line):
    line.say(TAKE, "boss", "joe")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("joe", ["eve"])
    assert line.claim("joe") == ""
    assert (line.arbiter.holder, line.arbiter.asker) == ("joe", "eve")


def test_a_plan_that_is_released_is_kept_for_those_who_wait_in_their_order(line):
    line.say(RELEASE, "ann")
    assert (line.holder, line.arbiter.asker, line.arbiter.waiting) == ("", "", ["bob", "eve", "joe"])
    for agent in ("ann", "eve", "sue"):
        assert "bob requested it first" in line.claim(agent)
    assert line.claim("bob") == ""
    assert (line.arbiter.asker, line.arbiter.waiting) == ("eve", ["joe"])


def test_a_turn_is_lost_by_silence_when_the_plan_is_free(line):
    line.say(RELEASE, "ann")
    line.now += 0.9 * HEARTBEAT_TIMEOUT
    line.say(HEARTBEAT, "joe")
    assert line.claim("eve") != ""
    line.now += 0.2 * HEARTBEAT_TIMEOUT
    assert "joe requested it first" in line.claim("eve")
    line.now += HEARTBEAT_TIMEOUT
    assert line.claim("sue") == ""
    assert (line.arbiter.asker, line.arbiter.waiting) == ("bob", ["eve", "joe"])


def test_a_line_that_is_full_is_told(place):
    place.say(REQUEST, "bob")
    for n in range(MOST_WAITING):
        place.say(REQUEST, f"agent {n}")
    with pytest.raises(AuthorityError, match=f"request of eve: {MOST_WAITING} wait; allowed: {MOST_WAITING}"):
        place.say(REQUEST, "eve")
    assert len(place.arbiter.waiting) == MOST_WAITING


def test_consent_when_nobody_asks_is_refused_and_changes_nothing(place):
    with pytest.raises(TransitionError):
        place.say(CONSENT, "ann")
    assert place.arbiter.state is ArbiterState.HELD


@pytest.mark.parametrize("kind", [CONSENT, REFUSE, RELEASE])
def test_only_the_holder_decides(place, kind):
    place.say(REQUEST, "bob")
    with pytest.raises(AuthorityError, match="ann holds authority"):
        place.say(kind, "eve")
    assert place.arbiter.state is ArbiterState.ASKED


def test_a_supervisor_takes_by_force_and_nobody_else_can(place):
    with pytest.raises(AuthorityError, match="not a supervisor; allowed: boss"):
        place.say(TAKE, "bob")
    place.say(TAKE, "boss", "bob")
    with pytest.raises(AuthorityError, match="a supervisor decided"):
        place.say(REFUSE, "ann")
    assert "ann" not in place.claim("bob")
    assert place.holder == "bob"


def test_a_supervisor_who_has_control_takes_nothing_and_leaves_requests_alone(place):
    place.say(TAKE, "boss")
    assert place.claim("boss") == ""
    place.say(REQUEST, "bob")
    place.say(TAKE, "boss")  # still on its way from before
    assert (place.arbiter.state, place.arbiter.asker) == (ArbiterState.ASKED, "bob")
    place.say(CONSENT, "boss")
    place.say(TAKE, "boss")
    assert place.claim("bob") != ""


def test_a_saying_is_decided_once_whatever_of_it_is_still_on_the_way(place):
    place.say(REQUEST, "bob", number=7)
    place.say(REFUSE, "ann", number=3)
    place.say(REQUEST, "bob", number=7)
    assert place.arbiter.asker == ""
    place.say(REQUEST, "bob", number=8)
    assert place.arbiter.asker == "bob"
    place.say(REFUSE, "ann", number=3)
    assert place.arbiter.asker == "bob"


def test_a_request_made_while_nobody_had_control_still_stands_when_somebody_has():
    place = Place()
    place.say(REQUEST, "bob", number=1)
    place.claim("ann")
    place.say(REQUEST, "bob", number=1)
    assert place.arbiter.asker == "bob"


def test_who_was_refused_is_told_which_saying_and_why_also_when_others_were_refused_since(place):
    for agent in ("bob", "eve", "bob"):  # the last one is a repeat
        with contextlib.suppress(AuthorityError):
            place.say(TAKE, agent, number=5)
    denial = place.arbiter.denial
    assert (denial.agent, denial.number) == ("bob", 5)
    assert "take of bob: not a supervisor; allowed: boss" in denial.reason


def test_an_armed_holder_consents_at_once():
    place = Place(armed=True)
    place.claim("ann")
    place.say(REQUEST, "bob")
    assert place.claim("bob") == ""


def test_a_release_frees_the_plan_and_the_next_claim_gets_it(place):
    place.say(RELEASE, "ann")
    assert place.holder == ""
    assert place.claim("bob") == ""


def test_an_asker_can_give_up(place):
    place.say(REQUEST, "bob")
    place.say(RELEASE, "bob")
    assert place.arbiter.state is ArbiterState.HELD
    assert place.holder == "ann"


def test_silence_of_the_holder_is_shown_and_gives_nothing_away(place):
    place.say(HEARTBEAT, "ann")
    place.now += 100 * HEARTBEAT_TIMEOUT
    assert place.arbiter.report_fields(place.now)["holder_silent"]
    assert place.claim("bob") != ""
    assert place.holder == "ann"


def test_a_restart_of_the_holder_keeps_the_request_of_the_other(place):
    place.say(REQUEST, "bob")
    assert place.claim("ann") == ""
    assert place.arbiter.asker == "bob"


def test_an_answer_to_an_agent_that_has_given_up_is_not_given_to_the_next(place):
    place.say(REQUEST, "bob")
    place.say(RELEASE, "bob")
    place.say(REQUEST, "eve")
    for kind in (CONSENT, REFUSE):
        with pytest.raises(AuthorityError, match=f"{kind.name} for bob: eve requests control"):
            place.say(kind, "ann", "bob")
        with pytest.raises(AuthorityError, match="nobody by name: eve requests control"):
            place.say(kind, "ann", "")
    assert (place.arbiter.state, place.arbiter.asker) == (ArbiterState.ASKED, "eve")


def test_a_second_operator_of_the_holders_name_is_denied_while_the_first_is_heard(place):
    first = place.receiver.position.epoch
    place.say(HEARTBEAT, "ann", epoch=first)
    assert "another operator is named ann" in place.claim("ann", first + 7)
    assert (place.arbiter.denial.agent, place.arbiter.denial.number) == ("ann", first + 7)
    place.now += 0.9 * HEARTBEAT_TIMEOUT
    place.say(HEARTBEAT, "ann")  # of the second one, which has no epoch
    assert "another operator is named ann" in place.claim("ann", first + 7)
    place.now += 0.2 * HEARTBEAT_TIMEOUT
    assert place.claim("ann", first + 7) == ""


def test_agents_that_asked_long_ago_are_forgotten(place):
    for n in range(3 * AGENTS):
        with contextlib.suppress(AuthorityError):
            place.say(TAKE, f"agent {n}", number=1)
        place.say(REQUEST, "bob", number=5)
    assert len(place.arbiter._settled) == AGENTS
    place.say(RELEASE, "bob", number=6)
    place.say(REQUEST, "bob", number=5)  # a copy
    assert place.arbiter.asker == ""


@pytest.mark.parametrize("field", ["agent", "peer"])
def test_a_name_of_a_megabyte_is_refused(field):
    with pytest.raises(InvalidValueError, match=rf"authority\.{field}.*1000000 characters.*1 to 255"):
        AuthorityMessage(REQUEST, **{"agent": "ann", field: "n" * 1_000_000})


def test_a_message_without_a_name_is_refused():
    with pytest.raises(InvalidValueError, match=r"authority\.agent"):
        AuthorityMessage(REQUEST, "")


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(list(AuthorityKind)), st.sampled_from(["ann", "bob", "eve", "boss"])),
            st.tuples(st.just("claim"), st.sampled_from(["ann", "bob", "eve"])),
        ),
        max_size=40,
    )
)
def test_authority_changes_only_to_who_was_free_to_take_it_consented_or_forced(steps):
    place = Place()
    may, line, forced = set(), [], False  # who may claim, by a model of the rules; who requests, in order
    heard = {}  # [s]
    for kind, agent in steps:
        before = place.holder
        if kind == "claim":
            admitted = place.claim(agent) == ""
            first = [name for name in line if place.now - heard.get(name, -10.0) < HEARTBEAT_TIMEOUT]
            turn = not before and agent in (first[:1] or [agent])
            assert admitted == (agent in may or (not forced and (agent == before or turn)))
            if admitted and agent != before:
                may, line, forced = set(), [name for name in line if name != agent], False
            continue
        heard[agent] = place.now + 0.1
        try:
            place.say(kind, agent)
        except (AuthorityError, TransitionError):
            assert place.holder == before
            continue
        if kind is REQUEST and (before or may) and agent != before and agent not in line:
            line.append(agent)
        elif kind is CONSENT:
            may = {line[0]}
        elif kind is REFUSE:
            may, line = set(), line[1:]
        elif kind is TAKE:
            rest = line[1:] if may or before else line  # who had the turn has lost it
            may, line, forced = {agent}, [agent, *(name for name in rest if name != agent)], True
        elif kind is RELEASE:
            assert place.holder == ("" if agent == before else before)
            if agent == before or line[:1] == [agent]:
                may, forced = set(), False
            line = [name for name in line if name != agent]
        else:
            assert place.holder == before
        assert [name for name in (place.arbiter.asker, *place.arbiter.waiting) if name] == line


def test_every_state_of_the_table_is_reached_and_left():
    assert {state for state, _ in TABLE} == set(ArbiterState)
    assert set(TABLE.values()) == set(ArbiterState)
    assert {event for _, event in TABLE} == set(ArbiterEvent)
