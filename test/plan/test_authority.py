"""Authority: one agent at a time; asked for, consented, taken, released; hand-off where simulations meet."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_agents import Far, Two, at, sweep

from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.authority import (
    HEARTBEAT_TIMEOUT,
    TABLE,
    AuthorityDesk,
    AuthorityKind,
    AuthorityMessage,
    DeskEvent,
    DeskState,
)
from telerobot_nodes.plan.operations import Operation, OperationKind
from telerobot_nodes.plan.receiver import LogPosition, Receiver

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


class Place:
    """A robot's desk and receiver together."""

    def __init__(self, **kwargs):
        self.desk = AuthorityDesk(frozenset({"boss"}), **kwargs)
        self.receiver = Receiver(may_open=self.desk.may_open)
        self.now = 0.0

    def say(self, kind, agent, peer="", number=0):
        self.now += 0.1
        self.desk.handle(self.now, AuthorityMessage(kind, agent, peer, number=number), self.receiver)

    def claim(self, agent, epoch=None):
        epoch = self.receiver.position.epoch + 1 if epoch is None else epoch
        (delivery,) = self.receiver.receive(0.0, [Operation(epoch, 1, OperationKind.AUTHORITY, agent)])
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
    assert place.desk.state is DeskState.HELD


def test_a_refused_request_leaves_everything_as_it_was(place):
    place.say(REQUEST, "bob")
    place.say(REFUSE, "ann")
    assert place.claim("bob") != ""
    place.say(REQUEST, "eve")
    assert place.desk.asker == "eve"


def test_consent_can_be_withdrawn_before_the_claim(place):
    place.say(REQUEST, "bob")
    place.say(CONSENT, "ann")
    place.say(REFUSE, "ann")
    assert place.claim("bob") != ""


def test_of_two_who_ask_at_once_the_first_is_served_and_the_second_is_told(place):
    place.say(REQUEST, "bob")
    with pytest.raises(AuthorityError, match="bob asked first"):
        place.say(REQUEST, "eve")
    assert place.desk.asker == "bob"


def test_consent_when_nobody_asks_is_refused_and_changes_nothing(place):
    with pytest.raises(TransitionError):
        place.say(CONSENT, "ann")
    assert place.desk.state is DeskState.HELD


@pytest.mark.parametrize("kind", [CONSENT, REFUSE, RELEASE])
def test_only_the_holder_decides(place, kind):
    place.say(REQUEST, "bob")
    with pytest.raises(AuthorityError, match="ann holds authority"):
        place.say(kind, "eve")
    assert place.desk.state is DeskState.ASKED


def test_a_supervisor_takes_by_force_and_nobody_else_can(place):
    with pytest.raises(AuthorityError, match="no supervisor; allowed: boss"):
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
    assert (place.desk.state, place.desk.asker) == (DeskState.ASKED, "bob")
    place.say(CONSENT, "boss")
    place.say(TAKE, "boss")
    assert place.claim("bob") != ""


def test_a_saying_is_decided_once_whatever_of_it_is_still_on_the_way(place):
    place.say(REQUEST, "bob", number=7)
    place.say(REFUSE, "ann", number=3)
    place.say(REQUEST, "bob", number=7)
    assert place.desk.asker == ""
    place.say(REQUEST, "bob", number=8)
    assert place.desk.asker == "bob"
    place.say(REFUSE, "ann", number=3)
    assert place.desk.asker == "bob"


def test_a_request_made_while_nobody_had_control_still_stands_when_somebody_has():
    place = Place()
    place.say(REQUEST, "bob", number=1)
    place.claim("ann")
    place.say(REQUEST, "bob", number=1)
    assert place.desk.asker == "bob"


def test_who_was_refused_is_told_which_saying_and_why_also_when_others_were_refused_since(place):
    for agent in ("bob", "eve", "bob"):  # the last one is a repeat
        with contextlib.suppress(AuthorityError):
            place.say(TAKE, agent, number=5)
    denial = place.desk.denial
    assert (denial.agent, denial.number) == ("bob", 5)
    assert "take of bob: it is no supervisor; allowed: boss" in denial.reason


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
    assert place.desk.state is DeskState.HELD
    assert place.holder == "ann"


def test_silence_of_the_holder_is_shown_and_gives_nothing_away(place):
    place.say(HEARTBEAT, "ann")
    place.now += 100 * HEARTBEAT_TIMEOUT
    assert place.desk.silent(place.now)
    assert place.claim("bob") != ""
    assert place.holder == "ann"


def test_a_restart_of_the_holder_keeps_the_request_of_the_other(place):
    place.say(REQUEST, "bob")
    assert place.claim("ann") == ""
    assert place.desk.asker == "bob"


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
    assert {state for state, _ in TABLE} == set(DeskState)
    assert set(TABLE.values()) == set(DeskState)
    assert {event for _, event in TABLE} == set(DeskEvent)


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
    two.desk.handle(two.now, message, two.robot.receiver)
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
    assert "bob asks for control" in two.state("ann").notice


def test_what_there_is_nothing_to_say_about_is_refused_before_it_is_sent():
    two = Far()
    two.run(1.5)
    for name, kind, why in (("ann", CONSENT, "nobody asks"), ("bob", REFUSE, "ann has it"), ("ann", REQUEST, "here")):
        with pytest.raises(InvalidValueError, match=why):
            two.talks[name].check(kind)
    two.talks["bob"].check(REQUEST)
    two.say("bob", REQUEST)
    two.run(1.0)
    two.talks["ann"].check(CONSENT)


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_control_taken_by_who_is_no_supervisor_is_refused_once_and_asked_for_no_more(loss):
    two = Far(0.1)
    two.run(1.0)
    for _, up, down in two.sides.values():
        up.loss = down.loss = loss
    two.say("bob", TAKE)
    two.run(2.5, ann=sweep(two.now))
    assert two.state("bob").notice == "refused: take of bob: it is no supervisor; allowed: boss"
    assert two.talks["bob"].due(two.now + 1.0).kind is HEARTBEAT
    assert two.sides["bob"][0].poll(two.now) == []  # claims nothing any more
    assert two.robot.receiver.position.authority == "ann"
    assert len(two.robot.executed) > 50
    two.say("bob", REQUEST)  # may be asked for as before
    two.run(1.0)
    assert two.desk.asker == "bob"


def test_the_second_of_two_who_ask_is_told_so_and_may_ask_again_when_that_is_settled():
    two = Far(0.1)
    two.run(1.0)
    two.desk.handle(two.now, AuthorityMessage(REQUEST, "eve"), two.robot.receiver)
    two.say("bob", REQUEST)
    two.run(0.6)
    assert "eve asked first" in two.state("bob").notice
    two.say("ann", REFUSE)
    two.run(0.6)
    assert two.desk.asker == ""  # not bob all of a sudden
    two.say("bob", REQUEST)
    two.run(0.6)
    assert two.desk.asker == "bob"
