"""No two holders of an exclusive resource, no deadlock, nobody starves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.rtc.skills import Answer, ResourceError, ResourceManager
from telerobot_nodes.rtc.skills.resources import Kind, Resource


@pytest.fixture
def manager():
    return ResourceManager(
        [
            Resource("left"),
            Resource("right"),
            Resource("camera", Kind.QUEUED),
            Resource("light", Kind.SHAREABLE, 2),
        ]
    )


def test_an_exclusive_resource_is_refused_or_queued_as_asked(manager):
    assert manager.request(1, ["left"]).answer is Answer.GRANTED
    reply = manager.request(2, ["left", "right"])
    assert (reply.answer, reply.blocked_by) == (Answer.REFUSED, (("left", 1),))
    assert manager.holders("right") == ()  # all or none
    assert manager.request(3, ["left"], wait=True).answer is Answer.WAITING
    assert manager.release(1) == (3,)
    assert manager.holders("left") == (3,)


def test_a_queued_resource_waits_unless_told_not_to(manager):
    manager.request(1, ["camera"])
    assert manager.request(2, ["camera"]).answer is Answer.WAITING
    assert manager.request(3, ["camera"], wait=False).answer is Answer.REFUSED
    assert manager.release(1) == (2,)


def test_a_shareable_resource_has_as_many_holders_as_its_capacity(manager):
    assert manager.request(1, ["light"]).answer is Answer.GRANTED
    assert manager.request(2, ["light"]).answer is Answer.GRANTED
    assert manager.request(3, ["light"]).answer is Answer.WAITING


def test_a_waiting_request_is_not_overtaken_on_what_it_waits_for(manager):
    manager.request(1, ["left"])
    manager.request(2, ["left", "right"], wait=True)
    assert manager.request(3, ["right"], wait=True).answer is Answer.WAITING
    assert manager.request(4, ["camera"]).answer is Answer.GRANTED
    assert manager.release(1) == (2,)
    assert manager.release(2) == (3,)


def test_a_request_that_is_given_up_lets_others_pass(manager):
    manager.request(1, ["left"])
    manager.request(2, ["left", "right"], wait=True)
    manager.request(3, ["right"], wait=True)
    assert manager.release(2) == (3,)


def test_unknown_resources_and_second_requests_are_refused(manager):
    with pytest.raises(ResourceError, match="did you mean left"):
        manager.request(1, ["lefd"])
    manager.request(1, ["left"])
    with pytest.raises(ResourceError, match="asked for its resources before"):
        manager.request(1, ["right"])
    with pytest.raises(ResourceError, match="held by command 1"):
        manager.declare(Resource("left", Kind.QUEUED))
    with pytest.raises(ResourceError, match="capacity"):
        Resource("left", Kind.EXCLUSIVE, 2)


NAMES = ["left", "right", "camera", "light"]
steps = st.lists(
    st.tuples(st.booleans(), st.sets(st.sampled_from(NAMES), min_size=1), st.sampled_from([None, True, False])),
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(steps, st.randoms(use_true_random=False))
@pytest.mark.lengthy
def test_any_sequence_keeps_the_rules_and_serves_everybody(sequence, random):
    manager = ResourceManager(
        [Resource("left"), Resource("right"), Resource("camera", Kind.QUEUED), Resource("light", Kind.SHAREABLE, 2)]
    )
    wanted, active = {}, set()
    for number, (ask, names, wait) in enumerate(sequence):
        if ask or not active:
            answer = manager.request(number, names, wait).answer
            wanted[number] = names
            if answer is Answer.GRANTED:
                active.add(number)
        else:
            done = random.choice(sorted(active))
            active.remove(done)
            active.update(manager.release(done))
        for name in NAMES:
            assert len(manager.holders(name)) <= manager.resources[name].capacity
        for number_ in active:
            assert manager.held_by(number_) == wanted[number_]
        assert not any(manager.held_by(number_) for number_ in manager.waiting)
    while active:  # everything ends as long as holders end: no deadlock
        active.update(manager.release(active.pop()))
    assert manager.waiting == ()
    assert not any(manager.holders(name) for name in NAMES)
