"""Messages of requests: bytes and back; other bytes are nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.link.requests.channels import CHANNELS, MOST_REQUEST
from telerobot_nodes.link.requests.messages import (
    MOST_HEAD,
    Begin,
    Check,
    Ended,
    Feedback,
    RequestEnd,
    States,
    unpack_answer,
    unpack_request,
)

REQUESTS = [
    Begin(1, 2, 3, "gcmsf_control/execute", b"body"),
    Begin(2**64 - 1, 0, 2**64 - 1, "", b""),
    Check(1, 2, 9, (3, 4)),
    Check(1, 2, 9, (), withdraw=True),
]
ANSWERS = [
    States(1, 2, ((3, True), (4, False))),
    States(1, 2),
    Feedback(1, 2, 3, 4, b"body"),
    Ended(1, 2, 3, RequestEnd.REFUSED, "weil: nicht möglich", b"body"),
]


@pytest.mark.parametrize("message", REQUESTS)
def test_requests_come_back_as_they_were(message):
    assert unpack_request(message.pack()) == message
    assert unpack_answer(message.pack()) is None


@pytest.mark.parametrize("message", ANSWERS)
def test_answers_come_back_as_they_were(message):
    assert unpack_answer(message.pack()) == message
    assert unpack_request(message.pack()) is None


@given(st.binary(max_size=100))
def test_any_bytes_are_a_message_or_nothing(data):
    for unpack in (unpack_request, unpack_answer):
        message = unpack(data)
        assert message is None or unpack(message.pack()) == message


@pytest.mark.parametrize("message", [*REQUESTS, *ANSWERS])
def test_a_message_that_is_cut_in_its_head_is_nothing(message):
    for length in range(17):
        assert unpack_request(message.pack()[:length]) is unpack_answer(message.pack()[:length]) is None


def test_a_request_of_the_greatest_size_fits_its_channel():
    data = Begin(1, 2, 3, "n" * 255, bytes(MOST_REQUEST - MOST_HEAD)).pack()
    assert len(data) <= next(iter(CHANNELS)).crosses.size
