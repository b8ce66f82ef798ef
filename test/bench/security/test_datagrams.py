"""The attacks that `telerobot bench security` makes: each is what it says, and none is an authentic datagram."""

from random import Random

import pytest

from telerobot_nodes.bench.security import datagrams as made
from telerobot_nodes.link import Data, Fault, Frame, Kind, decode, encode

KEY, OTHER = b"k" * 32, b"o" * 32
FRAMES = [Frame(Kind.DATA, 1, b"12345678", 7, at + 1, 1.0, Data(1, at + 1, 0, 1, b"x" * at).pack()) for at in range(9)]
RECORDED = [encode(frame, KEY) for frame in FRAMES]


def test_recorded_datagrams_are_opened_with_their_key_only():
    assert made.opened(RECORDED, KEY) == FRAMES
    assert made.opened(RECORDED, OTHER) == []
    assert made.opened(RECORDED, KEY, Kind.HELLO) == []


def test_no_altered_datagram_is_one_that_was_recorded_or_has_a_right_code():
    altered = made.altered(Random(1), RECORDED, 400)
    assert len(altered) == 400
    assert not set(altered) & set(RECORDED)
    assert made.opened(altered, KEY) == []
    lengths = {len(one) for one in RECORDED}
    assert min(map(len, altered)) < min(lengths)
    assert max(map(len, altered)) > max(lengths)


def test_replays_are_the_recorded_bytes_as_often_as_asked_and_need_some():
    assert made.repeated(RECORDED, 20) == RECORDED * 2 + RECORDED[:2]
    with pytest.raises(ValueError, match="recorded"):
        made.repeated([], 3)


def test_forged_commands_would_be_taken_if_the_key_were_right():
    wanted = [made.Command(3, b"halt"), made.Command(4, b"take")]
    assert made.opened(made.forged(FRAMES[-1], wanted, OTHER, 10), KEY) == []
    frames = made.opened(made.forged(FRAMES[-1], wanted, KEY, 10), KEY)
    bodies = [Data.unpack(frame.body) for frame in frames]
    assert [(one.topic, one.payload) for one in bodies[:2]] == [(3, b"halt"), (4, b"take")]
    assert len({one.number for one in bodies}) == 10
    assert min(frame.number for frame in frames) > FRAMES[-1].number
    assert {frame.life for frame in frames} == {7}


def test_datagrams_of_another_role_have_a_right_code_and_what_was_asked():
    renamed = made.opened(made.renamed(FRAMES, KEY, life=99), KEY)
    assert [frame.life for frame in renamed] == [99] * 9
    redirected = made.opened(made.redirected(FRAMES, KEY, 5), KEY)
    assert [Data.unpack(frame.body).topic for frame in redirected] == [5] * 9
    assert [frame.number for frame in redirected] == [frame.number for frame in FRAMES]


def test_noise_is_refused_whatever_it_begins_with():
    assert all(isinstance(decode(one, KEY), Fault) for one in made.noise(Random(1), 200))
