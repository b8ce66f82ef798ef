import pytest

from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.motion.primitives import Executive, PrimitiveQueue, PrimitiveRequest
from telerobot_nodes.motion.primitives.executive_queue import CAPACITY


@pytest.fixture(scope="module")
def executive(arm):
    return Executive(arm, 0.005)


@pytest.fixture
def queue(executive):
    return PrimitiveQueue(executive)


def request(number, name="gcm", **values):
    return PrimitiveRequest(number, name, values)


def test_requests_leave_in_the_order_of_arrival(queue):
    queue.submit([request(1), request(2)])
    queue.submit([request(5)])
    assert [queue.next().id for _ in range(3)] == [1, 2, 5]
    assert queue.next() is None


def test_ids_must_increase_even_after_a_request_has_left(queue):
    queue.submit([request(3)])
    queue.next()
    with pytest.raises(InvalidValueError, match="id"):
        queue.submit([request(3)])


def test_one_invalid_request_rejects_all(queue):
    with pytest.raises(InvalidValueError, match="nosuch"):
        queue.submit([request(1), request(2, nosuch=1.0)])
    assert len(queue) == 0
    queue.submit([request(1)])


def test_one_that_goes_first_is_before_all_others_and_checked_as_they_are(queue):
    queue.submit([request(1), request(2)])
    queue.submit_first(request(3))
    assert [queue.next().id for _ in range(3)] == [3, 1, 2]
    with pytest.raises(InvalidValueError, match="nosuch"):
        queue.submit_first(request(4, nosuch=1.0))
    with pytest.raises(InvalidValueError, match="above 3"):
        queue.submit_first(request(3))
    assert len(queue) == 0


@pytest.mark.lengthy
def test_a_full_queue_rejects(queue):
    queue.submit([request(k + 1) for k in range(CAPACITY)])
    with pytest.raises(QueueFullError, match=str(CAPACITY)):
        queue.submit([request(CAPACITY + 1)])


def test_a_waiting_request_can_be_removed_alone_and_all_at_once(queue):
    queue.submit([request(1), request(2), request(3)])
    assert queue.remove(2).id == 2
    assert queue.remove(2) is None
    assert [waiting.id for waiting in queue.clear()] == [1, 3]
    assert len(queue) == 0
