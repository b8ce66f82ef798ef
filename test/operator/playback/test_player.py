"""Position in a recording: play, speed, seek, events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.playback import Player

TIMES = st.lists(st.floats(0.0, 10.0), max_size=8).map(sorted)


def test_it_plays_at_its_speed_and_ends_with_the_recording():
    player = Player(10.0)
    player.advance(100.0)
    player.play(True)
    player.set_speed(2.0)
    assert player.advance(101.5) == pytest.approx(3.0)
    assert player.advance(120.0) == 10.0
    assert not player.playing


def test_paused_it_stays_and_time_that_passed_is_not_made_up_for():
    player = Player(10.0)
    player.seek(4.0)
    player.advance(0.0)
    assert player.advance(50.0) == 4.0
    player.play(True)
    assert player.advance(51.0) == pytest.approx(5.0)


def test_played_again_at_the_end_it_begins_anew():
    player = Player(10.0)
    player.seek(99.0)
    player.play(True)
    assert player.position == 0.0


@given(TIMES, st.floats(0.0, 10.0))
def test_the_next_event_is_the_first_later_one_and_the_previous_the_last_earlier(times, start):
    player = Player(10.0, times)
    player.seek(start)
    player.step(True)
    later = [time for time in times if time > start + 1e-6]
    assert player.position == (later[0] if later else start)
    player.seek(start)
    player.step(False)
    earlier = [time for time in times if time < start - 1e-6]
    assert player.position == (earlier[-1] if earlier else start)


@pytest.mark.parametrize("speed", [0.0, -1.0, 1e6, float("nan")])
def test_a_speed_out_of_range_is_refused(speed):
    with pytest.raises(InvalidValueError, match="speed"):
        Player(10.0).set_speed(speed)


def test_a_position_outside_the_recording_is_its_end():
    player = Player(10.0)
    player.seek(-5.0)
    assert player.position == 0.0
    player.seek(50.0)
    assert player.position == 10.0
