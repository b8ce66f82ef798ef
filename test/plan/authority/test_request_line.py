"""Several who request control: each has its turn, nobody waits for the dead, a free plan is kept for a while."""

import pytest

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import AuthorityError
from telerobot_nodes.plan.authority.arbiter import ArbiterState
from telerobot_nodes.plan.authority.request_line import HEARTBEAT_TIMEOUT, MOST_WAITING, TURN

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


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
    assert (line.arbiter.asker, line.arbiter.waiting) == ("joe", ["bob", "eve"])
    assert line.claim("joe") == ""
    assert (line.arbiter.holder, line.arbiter.asker, line.arbiter.waiting) == ("joe", "bob", ["eve"])


@pytest.mark.parametrize("granted", [False, True])
def test_who_had_the_turn_keeps_its_place_when_a_supervisor_takes_control(line, granted):
    if granted:
        line.say(CONSENT, "ann")
    line.say(TAKE, "boss")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("boss", ["bob", "eve", "joe"])
    assert line.claim("bob") != ""
    assert line.claim("boss") == ""
    assert (line.arbiter.state, line.arbiter.asker) == (ArbiterState.ASKED, "bob")  # of the supervisor now


def test_a_supervisor_who_decides_anew_leaves_nothing_to_whom_it_gave_control_before(line):
    line.say(TAKE, "boss", "carl")
    line.say(TAKE, "boss", "dora")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("dora", ["bob", "eve", "joe"])
    assert line.claim("carl") != ""
    assert line.claim("dora") == ""


@pytest.mark.parametrize("granted", [False, True])
def test_who_is_silent_holds_up_nobody_who_is_heard_and_keeps_its_place(line, granted):
    if granted:
        line.say(CONSENT, "ann")
    line.now += 0.7 * HEARTBEAT_TIMEOUT
    for agent in ("ann", "joe"):
        line.say(HEARTBEAT, agent)
    assert line.arbiter.asker == "bob"  # was heard
    line.now += 0.4 * HEARTBEAT_TIMEOUT
    line.say(HEARTBEAT, "ann")
    assert (line.arbiter.state, line.arbiter.asker) == (ArbiterState.ASKED, "joe")
    assert line.arbiter.waiting == ["bob", "eve"]
    assert line.claim("bob") != ""
    with pytest.raises(AuthorityError, match="CONSENT for bob: joe requests control"):
        line.say(CONSENT, "ann", "bob")
    for agent in ("bob", "eve"):
        line.say(HEARTBEAT, agent)
    line.say(REFUSE, "ann")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("bob", ["eve"])


def test_while_nobody_who_waits_is_heard_the_turn_stays(line):
    line.now += 2.0 * HEARTBEAT_TIMEOUT
    line.say(HEARTBEAT, "ann")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("bob", ["eve", "joe"])


def test_silence_of_whom_a_supervisor_chose_changes_nothing(line):
    line.say(TAKE, "boss", "carl")
    line.now += 2.0 * HEARTBEAT_TIMEOUT
    line.say(HEARTBEAT, "bob")
    assert (line.arbiter.asker, line.arbiter.waiting) == ("carl", ["bob", "eve", "joe"])


def keep(place, seconds, *agents):
    """The agents send heartbeats for so long, and nothing else."""
    for _ in range(round(seconds / 0.5)):
        place.now += 0.5 - 0.1 * len(agents)
        for agent in agents:
            place.say(HEARTBEAT, agent)


def test_a_plan_is_not_kept_for_ever_for_who_does_not_claim_it(line):
    line.say(RELEASE, "ann")
    keep(line, TURN - 1.0, "bob", "joe")
    assert "bob requested it first" in line.claim("sue")
    keep(line, 1.5, "bob", "joe")
    assert "joe requested it first" in line.claim("sue")
    assert line.arbiter.waiting == ["eve", "joe"]
    keep(line, TURN, "bob", "joe")
    assert line.claim("sue") == ""
    assert (line.arbiter.asker, line.arbiter.waiting) == ("eve", [])  # silent, it has had no turn


def test_a_plan_given_to_who_does_not_want_it_is_free_soon_after_the_holder_released_it(place):
    place.say(TAKE, "boss", "carl")
    place.say(HEARTBEAT, "carl")
    place.say(RELEASE, "ann")
    keep(place, TURN + 1.0, "carl")
    assert place.claim("bob") == ""
    assert place.arbiter.asker == ""


def test_the_time_of_a_turn_begins_anew_when_the_plan_is_released_again(line):
    for holder in ("ann", "boss"):
        line.say(RELEASE, holder)
        keep(line, 0.7 * TURN, "bob")
        assert "bob requested it first" in line.claim("sue")
        line.say(TAKE, "boss")
        assert line.claim("boss") == ""


def test_who_has_lost_its_place_asks_again_at_the_end_of_the_line(line):
    line.say(REQUEST, "bob", number=7)
    line.say(RELEASE, "ann")
    keep(line, TURN + 0.5, "bob", "joe")
    line.say(REQUEST, "bob", number=7)  # a copy
    assert line.arbiter.waiting == ["eve", "joe"]
    assert line.arbiter.denial.agent == "bob"
    assert "bob has not claimed it" in line.arbiter.denial.reason
    line.say(REQUEST, "bob", number=8)
    assert line.arbiter.waiting == ["eve", "joe", "bob"]


def test_a_claim_out_of_turn_is_told_why_it_was_refused(line):
    line.say(RELEASE, "ann")
    epoch = line.receiver.position.epoch + 5
    reason = line.claim("eve", epoch)
    fields = line.arbiter.report_fields(line.now)
    assert (fields["denied_agent"], fields["denied_number"], fields["denial"]) == ("eve", epoch, reason)
    assert "bob requested it first" in reason


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


def test_who_requests_a_plan_that_is_kept_for_another_waits_behind_it(line):
    line.say(RELEASE, "ann")
    line.say(REQUEST, "sue", number=1)
    assert line.claim("bob") == ""
    assert (line.arbiter.asker, line.arbiter.waiting) == ("eve", ["joe", "sue"])


def test_who_had_a_part_of_its_turn_has_a_whole_one_when_the_plan_is_free_again(line):
    line.say(RELEASE, "ann")
    keep(line, 0.7 * TURN, "joe")
    line.now += HEARTBEAT_TIMEOUT
    assert line.claim("bob") == ""
    assert (line.arbiter.asker, line.arbiter.waiting) == ("eve", ["joe"])
    line.say(RELEASE, "bob")
    keep(line, 0.7 * TURN, "joe")
    assert "joe requested it first" in line.claim("sue")
