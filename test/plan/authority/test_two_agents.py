"""Two agents with a queue each: hand-off where simulations meet, requests, force, stand-by."""

import numpy as np
import pytest
from plan_models import Link
from queue_session import Within
from two_agents import Far, Two, at, sweep

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority import AuthorityClient, AuthorityMessage
from telerobot_nodes.plan.authority.handoff import ClaimStage
from telerobot_nodes.plan.authority.request_line import HEARTBEAT_TIMEOUT
from telerobot_nodes.plan.log import LogPosition
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind


@pytest.mark.lengthy
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


@pytest.mark.lengthy
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


@pytest.mark.lengthy
def test_of_two_operators_of_one_name_the_second_is_told_and_the_first_goes_on():
    far = Far(0.2)
    far.run(3.0)
    first, queue = far.sides["ann"][0], PathPlanQueue(QueueConfig(agent="ann"), Within())
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


@pytest.mark.lengthy
def test_nothing_passes_without_consent_even_at_the_meeting():
    two = Two()
    two.run(1.5)
    two.run(3.0, ann=sweep(two.now), bob=at(0.4, 0.2))
    two.say("bob", REQUEST)
    two.run(3.0, ann=sweep(101.5), bob=at(0.4, 0.2))
    assert two.robot.receiver.position.authority == "ann"


@pytest.mark.lengthy
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


@pytest.mark.lengthy
@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_the_second_of_two_who_ask_waits_and_has_its_turn_when_the_first_is_refused(loss):
    two = Far(0.1, loss)
    two.run(1.0)
    two.arbiter.handle(two.now, AuthorityMessage(REQUEST, "eve"), two.robot.receiver)
    two.say("bob", REQUEST)
    two.run(1.5)
    assert (two.arbiter.asker, two.arbiter.waiting) == ("eve", ["bob"])
    assert two.clients["bob"].due(two.now + 1.0, 0).kind is HEARTBEAT  # the request is answered: it waits
    two.say("ann", REFUSE)
    two.run(1.5)
    assert two.arbiter.asker == "bob"
    assert "bob requests control" in two.state("ann").notice
    assert two.clients["ann"].due(two.now + 1.0, 0).kind is HEARTBEAT  # eve is refused, bob is not
    two.say("ann", CONSENT)
    two.run(4.0, bob=at(0.4, 0.0), ann=at(0.4, 0.0))
    assert two.robot.receiver.position.authority == "bob"


def test_a_plan_that_is_released_goes_to_who_waits_who_is_not_told_that_it_was_refused():
    two = Far(0.1)
    two.run(1.0)
    two.say("bob", REQUEST)
    two.run(1.0)
    two.arbiter.handle(two.now, AuthorityMessage(REQUEST, "eve"), two.robot.receiver)
    two.say("ann", RELEASE)
    told = []
    for _ in range(200):
        two.run(0.01)
        told.append(two.state("bob").notice)
    assert not any("refuse" in notice for notice in told)
    assert two.state("bob").has_authority
    assert (two.arbiter.asker, two.arbiter.waiting) == ("eve", [])


@pytest.mark.lengthy
@pytest.mark.parametrize("claims", [False, True])
def test_a_consent_that_a_supervisor_overtakes_is_void_and_the_request_waits_for_the_next_one(claims):
    """`claims`: the claim is on its way when the supervisor decides."""
    two = Far(0.2)
    two.run(1.5, bob=at(0.4, 0.3))
    two.say("bob", REQUEST)
    two.run(1.0, bob=at(0.4, 0.3))
    two.say("ann", CONSENT)
    place = at(0.4, 0.0 if claims else 0.3)
    bob, handoff = two.sides["bob"][0], two.sides["bob"][0]._sync.standby.handoff
    while handoff.stage is not (ClaimStage.NONE if claims else ClaimStage.MEETING):
        two.run(0.01, bob=place)
    two.arbiter.handle(two.now, AuthorityMessage(TAKE, "boss", "eve"), two.robot.receiver)
    two.run(1.5, bob=at(0.4, 0.0))
    assert (two.arbiter.asker, two.arbiter.waiting) == ("eve", ["bob"])
    assert (handoff.stage, handoff.claimed) == (ClaimStage.CONSENT, False)
    assert bob.poll(two.now) == []  # claims nothing any more
    two.arbiter.handle(two.now, AuthorityMessage(RELEASE, "eve"), two.robot.receiver)
    two.run(1.0, bob=at(0.4, 0.0))
    assert two.robot.receiver.position.authority == "ann"
    two.say("ann", CONSENT)
    two.run(4.0, bob=at(0.4, 0.0))
    assert two.robot.receiver.position.authority == "bob"
