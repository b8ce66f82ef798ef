"""Authority: one agent at a time; asked for, consented, taken, released; hand-off where simulations meet."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_models import Link
from two_agents import Far, Two, at, sweep

from telerobot_nodes.core.protocol import AuthorityKind, OperationKind
from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.authority import AuthorityArbiter, AuthorityClient, AuthorityMessage
from telerobot_nodes.plan.authority.arbiter import AGENTS, HEARTBEAT_TIMEOUT, TABLE, ArbiterEvent, ArbiterState
from telerobot_nodes.plan.log import LogPosition, Operation, Receiver
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig

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


def test_of_two_who_ask_at_once_the_first_is_served_and_the_second_is_told(place):
    place.say(REQUEST, "bob")
    with pytest.raises(AuthorityError, match="bob requested first"):
        place.say(REQUEST, "eve")
    assert place.arbiter.asker == "bob"


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
    assert place.arbiter.silent(place.now)
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
    may, asker, forced = set(), "", False  # who may claim, by a model of the rules
    for kind, agent in steps:
        before = place.holder
        if kind == "claim":
            admitted = place.claim(agent) == ""
            assert admitted == (agent in may or (not forced and before in ("", agent)))
            if admitted and (agent != before or agent in may):
                may, asker, forced = set(), "", False
            continue
        try:
            place.say(kind, agent)
        except (AuthorityError, TransitionError):
            assert place.holder == before
            continue
        if kind is REQUEST and before and agent != before and agent not in (asker, *may):
            asker = agent
        elif kind is CONSENT:
            may = {asker}
        elif kind is REFUSE:
            may, asker = set(), ""
        elif kind is TAKE:
            may, asker, forced = {agent}, agent, True
        elif kind is RELEASE:
            assert place.holder == ("" if agent == before != asker else before)
            may, asker, forced = set(), "", False
        else:
            assert place.holder == before


def test_every_state_of_the_table_is_reached_and_left():
    assert {state for state, _ in TABLE} == set(ArbiterState)
    assert set(TABLE.values()) == set(ArbiterState)
    assert {event for _, event in TABLE} == set(ArbiterEvent)


def test_control_passes_where_the_simulated_tool_meets_the_active_plan():
    two = Two()
    two.run(1.5)
    assert two.state("ann").has_authority
    assert not two.state("bob").has_authority
    two.robot.rate = 0.3  # a long plan ahead of the arm
    two.run(6.0, ann=sweep(two.now), bob=at(0.5, 0.3))
    two.say("bob", REQUEST)
    two.say("ann", CONSENT)
    two.run(1.0, ann=sweep(101.5), bob=at(0.5, 0.3))
    assert two.robot.receiver.position.authority == "ann"  # 10 cm away
    two.run(1.5, ann=sweep(101.5), bob=at(0.41, 0.3))
    two.run(1.0, bob=at(0.41, 0.3))
    assert two.robot.receiver.position.authority == "bob"
    assert two.state("bob").has_authority
    assert two.state("bob").position_clutch
    assert not two.state("ann").has_authority
    two.robot.rate = 1.0
    two.run(10.0, bob=at(0.5, 0.2))
    two.run(5.0)
    authors = [author for _, author in two.robot.executed]
    change = authors.index("bob")
    assert set(authors[:change]) == {"ann"}
    assert set(authors[change:]) == {"bob"}
    assert two.robot.refused == []
    assert np.allclose(two.robot.pose[:3], [0.5, 0.2, 0.4], atol=1e-3)
    seqs = [seq for seq, _ in two.robot.executed]
    assert seqs == sorted(set(seqs))


def test_the_plan_after_the_meeting_point_is_dropped_and_a_link_joins_the_two():
    two = Two()
    two.run(1.5)
    two.robot.rate = 0.3
    two.run(6.0, ann=sweep(two.now), bob=at(0.42, 0.3))
    two.say("bob", REQUEST)
    two.say("ann", CONSENT)
    poses = []
    two.robot.rate = 1.0
    for _ in range(1500):
        two.step({"bob": at(0.42, 0.3)})
        poses.append(two.robot.pose[:3].copy())
    poses = np.array(poses)
    assert poses[:, 1].max() < 0.33
    assert np.linalg.norm(np.diff(poses, axis=0), axis=1).max() < 0.011
    assert two.robot.executed[-1][1] == "bob"


def test_of_two_operators_of_one_name_the_second_is_told_and_the_first_goes_on():
    far = Far(0.2)
    far.run(3.0)
    first, queue = far.sides["ann"][0], PathPlanQueue(QueueConfig(agent="ann"), lambda pose: None)
    assert first.has_authority
    epoch = far.robot.receiver.position.epoch
    far.sides["second"] = (queue, Link(5, 0.2), Link(6, 0.2))
    far.clients["second"] = AuthorityClient("ann")
    far.run(4.0, ann=at(0.45, 0.05))
    assert far.robot.receiver.position.epoch == epoch
    assert first.has_authority
    assert not queue.has_authority
    assert "another operator is named ann" in queue.state(far.now).notice
    assert "another operator is named ann" in first.state(far.now).notice
    del far.sides["ann"]  # the first one ends: now the second counts as its restart
    far.run(HEARTBEAT_TIMEOUT + 4.0)
    assert queue.has_authority


def test_nothing_passes_without_consent_even_at_the_meeting():
    two = Two()
    two.run(1.5)
    two.run(3.0, ann=sweep(two.now), bob=at(0.4, 0.2))
    two.say("bob", REQUEST)
    two.run(3.0, ann=sweep(101.5), bob=at(0.4, 0.2))
    assert two.robot.receiver.position.authority == "ann"


def test_forced_by_a_supervisor_the_arm_finishes_and_the_other_goes_on():
    two = Two()
    two.run(1.5)
    two.run(2.0, ann=sweep(two.now))
    message = AuthorityMessage(TAKE, "boss", "bob")
    two.arbiter.handle(two.now, message, two.robot.receiver)
    for queue, *_ in two.sides.values():
        queue.on_authority(message)
    two.run(6.0)
    assert two.state("bob").has_authority
    two.run(2.0, bob=at(0.5, 0.0))
    two.run(3.0)
    assert two.robot.executed[-1][1] == "bob"
    assert two.robot.refused == []


def test_after_a_release_a_stand_by_that_wants_control_gets_it():
    two = Two()
    two.run(1.5)
    two.say("ann", RELEASE)
    two.run(2.0)
    assert two.robot.receiver.position == LogPosition(3, "bob", 1) or two.state("bob").has_authority
    assert not two.state("ann").has_authority


def test_the_holder_is_told_who_asks():
    two = Two()
    two.run(1.5)
    two.say("bob", REQUEST)
    assert "bob requests control" in two.state("ann").notice


def test_what_there_is_nothing_to_say_about_is_refused_before_it_is_sent():
    two = Far()
    two.run(1.5)
    for name, kind, why in (("ann", CONSENT, "no request"), ("bob", REFUSE, "ann has it"), ("ann", REQUEST, "has it")):
        with pytest.raises(InvalidValueError, match=why):
            two.clients[name].check(kind)
    two.clients["bob"].check(REQUEST)
    two.say("bob", REQUEST)
    two.run(1.0)
    two.clients["ann"].check(CONSENT)


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_control_taken_by_who_is_no_supervisor_is_refused_once_and_asked_for_no_more(loss):
    two = Far(0.1)
    two.run(1.0)
    for _, up, down in two.sides.values():
        up.loss = down.loss = loss
    two.say("bob", TAKE)
    two.run(2.5, ann=sweep(two.now))
    assert two.state("bob").notice == "refused: take of bob: not a supervisor; allowed: boss"
    assert two.clients["bob"].due(two.now + 1.0, 0).kind is HEARTBEAT
    assert two.sides["bob"][0].poll(two.now) == []  # claims nothing any more
    assert two.robot.receiver.position.authority == "ann"
    assert len(two.robot.executed) > 50
    two.say("bob", REQUEST)  # may be asked for as before
    two.run(1.0)
    assert two.arbiter.asker == "bob"


def test_the_second_of_two_who_ask_is_told_so_and_may_ask_again_when_that_is_settled():
    two = Far(0.1)
    two.run(1.0)
    two.arbiter.handle(two.now, AuthorityMessage(REQUEST, "eve"), two.robot.receiver)
    two.say("bob", REQUEST)
    two.run(0.6)
    assert "eve requested first" in two.state("bob").notice
    two.say("ann", REFUSE)
    two.run(0.6)
    assert two.arbiter.asker == ""  # not bob all of a sudden
    two.say("bob", REQUEST)
    two.run(0.6)
    assert two.arbiter.asker == "bob"
