"""One agent's stage on the way to authority."""

import pytest

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.plan.authority import AuthorityMessage
from telerobot_nodes.plan.authority.handoff import ClaimStage, Handoff

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


@pytest.fixture
def waiting():
    handoff = Handoff("ann")
    handoff.message(REQUEST, "", 3)
    return handoff


def hear(handoff, kind, agent="bob", peer="ann", reason=""):
    return handoff.on_message(AuthorityMessage(kind, agent, peer, reason=reason))


def test_a_request_waits_for_consent_and_then_for_the_meeting(waiting):
    assert waiting.stage is ClaimStage.CONSENT
    assert "bob consents" in hear(waiting, CONSENT)
    assert waiting.stage is ClaimStage.MEETING


def test_a_message_names_agent_peer_and_epoch():
    message = Handoff("ann").message(CONSENT, "bob", 3)
    assert (message.agent, message.peer, message.epoch) == ("ann", "bob", 3)


def test_consent_for_another_agent_is_ignored(waiting):
    assert hear(waiting, CONSENT, peer="eve") == ""
    assert waiting.stage is ClaimStage.CONSENT


def test_consent_without_a_request_is_ignored():
    handoff = Handoff("ann")
    assert hear(handoff, CONSENT) == ""
    assert handoff.stage is ClaimStage.NONE


def test_a_refusal_ends_the_request_and_gives_its_reason(waiting):
    assert hear(waiting, REFUSE, reason="busy") == "refused: busy"
    assert waiting.stage is ClaimStage.NONE


def test_a_refusal_after_the_claim_ends_it_too(waiting):
    waiting.settled()
    assert waiting.claimed
    assert hear(waiting, REFUSE, peer="") == "bob refuses"
    assert not waiting.claimed


def test_a_supervisor_allows_the_claim_at_once(waiting):
    assert "gives you control" in hear(waiting, TAKE, "boss")
    assert waiting.stage is ClaimStage.ALLOWED


@pytest.mark.parametrize(
    ("peer", "stage"), [("", ClaimStage.ALLOWED), ("ann", ClaimStage.ALLOWED), ("bob", ClaimStage.NONE)]
)
def test_a_supervisor_takes_for_itself_or_for_another(peer, stage):
    boss = Handoff("ann")
    boss.message(TAKE, peer, 0)
    assert boss.stage is stage


def test_a_release_withdraws_the_request(waiting):
    waiting.message(RELEASE, "", 3)
    assert waiting.stage is ClaimStage.NONE


def test_a_request_of_another_agent_is_remembered_until_it_is_answered():
    handoff = Handoff("ann")
    assert hear(handoff, REQUEST) == "bob requests control"
    assert handoff.asker == "bob"
    handoff.message(CONSENT, "bob", 3)
    assert handoff.asker == ""


def test_own_messages_are_ignored(waiting):
    for kind in (REFUSE, REQUEST):
        assert hear(waiting, kind, agent="ann") == ""
        assert waiting.stage is ClaimStage.CONSENT


@pytest.mark.parametrize(("kind", "claims"), [(CONSENT, False), (TAKE, False), (CONSENT, True)])
def test_a_request_that_stands_without_the_consent_that_was_given_waits_for_consent_again(waiting, kind, claims):
    hear(waiting, kind)
    if claims:
        waiting.settled()
    assert "the consent is void" in hear(waiting, REQUEST, agent="ann", peer="bob")
    assert (waiting.stage, waiting.claimed) == (ClaimStage.CONSENT, False)
    hear(waiting, CONSENT)
    assert waiting.stage is ClaimStage.MEETING
