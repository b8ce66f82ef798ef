"""The arbiter of authority: one agent at a time; asked for, consented, taken, released."""

import contextlib

import pytest
from arbiter_place import Place

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.authority import AuthorityMessage
from telerobot_nodes.plan.authority.arbiter import TABLE, ArbiterEvent, ArbiterState
from telerobot_nodes.plan.authority.decided_requests import AGENTS
from telerobot_nodes.plan.authority.request_line import HEARTBEAT_TIMEOUT

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


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


def test_a_copy_of_a_request_that_was_refused_is_answered_with_the_refusal(place):
    place.say(REQUEST, "bob", number=4)
    place.say(REFUSE, "ann", number=9)
    with contextlib.suppress(AuthorityError):
        place.say(TAKE, "eve", number=5)
    place.say(REQUEST, "bob", number=4)
    fields = place.arbiter.report_fields(place.now)
    assert (fields["denied_agent"], fields["denied_number"], fields["denial"]) == ("bob", 4, "ann refuses")


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
    assert "bob requested it first" in place.claim("ann")
    place.now += HEARTBEAT_TIMEOUT
    assert place.claim("ann") == ""
    place.say(REQUEST, "bob", number=1)
    assert place.arbiter.asker == "bob"


def test_a_copy_of_a_request_made_while_nobody_had_control_asks_for_nothing_when_that_was_granted():
    place = Place()
    place.say(REQUEST, "bob", number=1)
    assert place.claim("bob") == ""
    place.say(RELEASE, "bob", number=2)
    assert place.claim("ann") == ""
    place.say(REQUEST, "bob", number=1)
    assert (place.arbiter.asker, place.arbiter.waiting) == ("", [])


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
    assert len(place.arbiter._decided) == AGENTS
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


def test_every_state_of_the_table_is_reached_and_left():
    assert {state for state, _ in TABLE} == set(ArbiterState)
    assert set(TABLE.values()) == set(ArbiterState)
    assert {event for _, event in TABLE} == set(ArbiterEvent)
