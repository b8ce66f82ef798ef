"""Requests for authority, repeated until a report answers them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_values import report

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority import AuthorityClient, AuthorityMessage
from telerobot_nodes.plan.authority.authority_client import MAX_PAST_REPORTS, REPEAT

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


@pytest.fixture
def client():
    found = AuthorityClient("ann")
    found.on_report(report(authority="bob", epoch=3))
    return found


def ask(client, kind, now=1.0, peer=""):
    client.request(now, AuthorityMessage(kind, "ann", peer))


def sent(client, now):
    message = client.due(now, 0)
    return message.kind if message is not None else None


def test_heartbeats_carry_the_epoch(client):
    message = client.due(0.0, 3)
    assert (message.kind, message.agent, message.epoch) == (HEARTBEAT, "ann", 3)
    assert client.due(0.5 * REPEAT, 3) is None


def test_a_request_is_repeated_with_its_number_until_it_is_shown(client):
    ask(client, REQUEST)
    first, second = client.due(1.0, 0), client.due(1.0 + REPEAT, 0)
    assert first == second
    assert first.number > 0
    client.on_report(report(authority="bob", asker="ann"))
    assert sent(client, 2.0) is HEARTBEAT


def test_each_request_has_a_higher_number(client):
    ask(client, REQUEST)
    first = client.due(1.0, 0).number
    ask(client, RELEASE)
    assert client.due(1.0, 0).number > first


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (REQUEST, {"authority": "ann"}),
        (REQUEST, {"authority": "bob", "asker": "eve", "waiting": ("ann",)}),
        (CONSENT, {"authority": "ann", "asker": "bob", "granted": True}),
        (CONSENT, {"authority": "bob"}),
        (REFUSE, {"authority": "ann"}),
        (TAKE, {"authority": "bob", "asker": "ann", "granted": True}),
        (TAKE, {"authority": "ann"}),
        (RELEASE, {"authority": "bob"}),
    ],
)
def test_a_request_ends_when_the_report_shows_its_success(client, kind, answer):
    ask(client, kind)
    client.on_report(report(**answer))
    assert sent(client, 5.0) is HEARTBEAT


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (REQUEST, {"authority": "bob"}),
        (CONSENT, {"authority": "ann", "asker": "bob"}),
        (REFUSE, {"authority": "ann", "asker": "bob"}),
        (TAKE, {"authority": "bob", "asker": "ann"}),
        (RELEASE, {"authority": "ann"}),
        (RELEASE, {"authority": "bob", "asker": "eve", "waiting": ("ann",)}),
    ],
)
def test_a_request_is_repeated_while_the_report_does_not_show_it(client, kind, answer):
    ask(client, kind)
    client.on_report(report(**answer))
    assert sent(client, 5.0) is kind


def test_a_denial_of_this_request_ends_it_with_its_reason(client):
    ask(client, TAKE)
    number = client.due(1.0, 0).number
    denied = {"authority": "bob", "denied_agent": "ann", "denial": "not a supervisor"}
    assert client.on_report(report(**denied, denied_number=number - 1)) == []
    (message,) = client.on_report(report(**denied, denied_number=number))
    assert (message.kind, message.reason) == (REFUSE, "not a supervisor")
    assert sent(client, 5.0) is HEARTBEAT


def test_another_agents_request_is_derived_from_the_report():
    client = AuthorityClient("ann")
    client.on_report(report(authority="ann"))
    (message,) = client.on_report(report(authority="ann", asker="bob"))
    assert (message.kind, message.agent, message.peer) == (REQUEST, "bob", "ann")
    assert client.on_report(report(authority="ann", asker="bob")) == []


@pytest.mark.parametrize(("forced", "kind", "agent"), [(False, CONSENT, "bob"), (True, TAKE, "supervisor")])
def test_a_grant_is_derived_from_the_report(client, forced, kind, agent):
    client.on_report(report(authority="bob", asker="ann"))
    (message,) = client.on_report(report(authority="bob", asker="ann", granted=True, forced=forced))
    assert (message.kind, message.agent) == (kind, agent)


@pytest.mark.parametrize("turn", [{"asker": "ann"}, {"asker": "eve", "waiting": ("ann",)}])
def test_a_refusal_is_derived_from_the_report(client, turn):
    client.on_report(report(authority="bob", **turn))
    (message,) = client.on_report(report(authority="bob", asker=turn["asker"].replace("ann", "")))
    assert (message.kind, message.agent) == (REFUSE, "bob")


def test_a_request_that_waits_is_not_refused_when_the_holder_releases_or_the_turn_changes(client):
    for state in (
        {"authority": "bob", "asker": "eve", "waiting": ("ann",)},
        {"authority": "bob", "asker": "ann"},
        {"authority": "bob", "asker": "joe", "granted": True, "forced": True, "waiting": ("ann",)},
        {"authority": "", "waiting": ("ann",)},
        {"authority": ""},
    ):
        assert client.on_report(report(**state)) == []


def told(client, **state):
    return [(message.kind, message.agent, message.reason) for message in client.on_report(report(**state))]


def test_who_has_withdrawn_its_request_is_not_told_that_it_was_refused(client):
    client.on_report(report(authority="bob", asker="ann"))
    ask(client, RELEASE)
    assert told(client, authority="bob") == []


def test_who_is_refused_between_two_reports_and_loses_the_free_plan_to_another_is_told(client):
    client.on_report(report(authority="bob", asker="ann"))
    assert told(client, authority="") == []  # it may claim
    assert told(client, authority="eve") == [(REFUSE, "eve", "no longer in line")]
    assert told(client, authority="eve") == []


@pytest.mark.parametrize("before", [{"asker": "ann"}, {"asker": "ann", "granted": True, "forced": True}])
@pytest.mark.parametrize("holder", ["bob", ""])
def test_who_must_stand_back_for_a_supervisors_choice_is_told_so(client, before, holder):
    client.on_report(report(authority=holder, **before))
    (refusal,) = told(client, authority=holder, asker="dora", granted=True, forced=True)
    assert (refusal[0], refusal[2]) == (REFUSE, "a supervisor gives control to dora")


def test_a_consent_ends_when_the_turn_is_anothers(client):
    client.on_report(report(authority="bob", asker="ann", granted=True))
    assert told(client, authority="bob", asker="ann", granted=True) == []
    assert told(client, authority="bob", asker="eve", waiting=("ann",)) == [(REQUEST, "ann", "")]
    assert told(client, authority="bob", asker="ann", granted=True) == [(CONSENT, "bob", "")]


def test_the_consent_of_one_holder_is_not_that_of_the_next(client):
    client.on_report(report(authority="bob", epoch=3, asker="ann", granted=True))
    assert told(client, authority="", epoch=4, waiting=("ann",)) == []  # it claims now, without consent
    consent = report(authority="eve", epoch=5, asker="ann", granted=True)
    assert [message.kind for message in client.on_report(consent)] == [REQUEST, CONSENT]


def test_a_report_that_a_later_one_has_overtaken_is_ignored(client):
    client.on_report(report(authority="bob", asker="ann", number=7))
    assert told(client, authority="bob", number=6) == []
    assert told(client, authority="bob", asker="ann", number=8) == []
    assert client.report.number == 8


def test_a_robot_that_was_restarted_has_lost_the_line_and_the_holder_is_not_blamed(client):
    client.on_report(report(authority="bob", asker="ann", number=900))
    numbers = range(1, MAX_PAST_REPORTS + 2)
    found = [message for number in numbers for message in told(client, authority="bob", number=number)]
    assert found == [(REFUSE, "bob", "no longer in line")]
    assert client.report.number == MAX_PAST_REPORTS + 1


STATES = st.fixed_dictionaries(
    {
        "authority": st.sampled_from(["", "ann", "bob"]),
        "asker": st.sampled_from(["", "ann", "eve"]),
        "waiting": st.sampled_from([(), ("joe",)]),
        "granted": st.booleans(),
        "forced": st.booleans(),
    }
)


@given(st.lists(STATES, max_size=12), st.data())
def test_reports_that_are_overtaken_or_doubled_tell_nothing(states, data):
    sent = [report(**state, epoch=number, number=number) for number, state in enumerate(states, 1)]
    arrived = data.draw(st.lists(st.sampled_from(sent), max_size=15)) if sent else []
    one, other, newest = AuthorityClient("ann"), AuthorityClient("ann"), 0
    for entry in arrived:
        found = one.on_report(entry)
        assert found == (other.on_report(entry) if entry.number > newest else [])
        newest = max(newest, entry.number)
    assert one.report == (sent[newest - 1] if newest else None)


@pytest.mark.parametrize(
    ("after", "repeated"), [(("bob", ("eve",)), True), (("eve", ()), False), (("eve", ("bob",)), True)]
)
def test_a_refusal_is_repeated_until_the_refused_agent_requests_no_more(after, repeated):
    client = AuthorityClient("ann")
    client.on_report(report(authority="ann", asker="bob", waiting=("eve",)))
    ask(client, REFUSE)
    client.on_report(report(authority="ann", asker=after[0], waiting=after[1]))
    assert (sent(client, 5.0) is REFUSE) == repeated


@pytest.mark.parametrize(
    ("kind", "state", "why"),
    [
        (CONSENT, {"authority": "bob"}, "bob has it"),
        (REFUSE, {"authority": ""}, "nobody has it"),
        (CONSENT, {"authority": "ann"}, "no request"),
        (REQUEST, {"authority": "ann"}, "this agent has it"),
    ],
)
def test_a_message_without_an_object_is_refused(client, kind, state, why):
    client.on_report(report(**state))
    with pytest.raises(InvalidValueError, match=why):
        client.check(kind)


@pytest.mark.parametrize("kind", [CONSENT, REFUSE])
def test_an_answer_names_the_agent_that_the_report_shows_unless_it_names_one(client, kind):
    client.on_report(report(authority="ann", asker="bob"))
    ask(client, kind)
    assert client.due(1.0, 4).peer == "bob"
    ask(client, kind, peer="eve")
    message = client.due(1.0, 4)
    assert (message.peer, message.epoch) == ("eve", 4)
