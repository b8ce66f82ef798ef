"""The delay line: what comes out, when, in what order, and that nothing is unaccounted for."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link.delay_line import DelayLine, LinkSettings

probability = st.floats(0.0, 1.0)


@st.composite
def link_settings(draw, **fixed):
    delay = draw(st.floats(0.0, 5.0))
    values = {
        "delay": delay,
        "jitter": delay * draw(st.floats(0.0, 1.0)),
        "loss": draw(probability),
        "duplicate": draw(probability),
        "reorder": draw(st.booleans()),
        "up": draw(st.booleans()),
        **fixed,
    }
    return LinkSettings(**values)


pushes = st.lists(st.tuples(st.floats(0.0, 0.5), st.integers(1, 1000)), max_size=60)


def run(line, steps, drain_every=1):
    """Push numbered payloads after the given waits; return (push time, delivery time, number) in delivery order."""
    now, pushed, out = 0.0, {}, []
    for number, (wait, size) in enumerate(steps):
        now += wait
        while (due := line.next_due()) is not None and due <= now:
            out += [(pushed[item], due, item) for item in line.due(due)]
        pushed[number] = now
        line.push(now, number, size)
    while (due := line.next_due()) is not None:
        out += [(pushed[item], due, item) for item in line.due(due)]
    return out


@given(link_settings(), pushes, st.integers(0, 9))
def test_every_message_is_delivered_lost_or_still_held(settings, steps, seed):
    line = DelayLine(settings, upward=True, seed=seed, capacity=20, capacity_bytes=5000)
    for wait, size in steps:
        line.push(wait, "x", size)
        counts = line.counts
        assert counts.received + counts.duplicated == counts.delivered + counts.lost + len(line)
    line.due(math.inf)
    assert line.counts.received + line.counts.duplicated == line.counts.delivered + line.counts.lost
    assert len(line) == 0
    assert line.next_due() is None


@given(link_settings(reorder=False), pushes, st.integers(0, 9))
def test_without_reorder_messages_come_out_in_the_order_they_went_in(settings, steps, seed):
    numbers = [number for _, _, number in run(DelayLine(settings, True, seed), steps)]
    assert numbers == sorted(numbers)


@given(link_settings(), pushes, st.integers(0, 9))
def test_nothing_comes_out_before_it_went_in(settings, steps, seed):
    assert all(out >= into for into, out, _ in run(DelayLine(settings, True, seed), steps))


@given(link_settings(), pushes, st.integers(0, 9))
def test_the_same_seed_gives_the_same_link(settings, steps, seed):
    assert run(DelayLine(settings, True, seed), steps) == run(DelayLine(settings, True, seed), steps)


@given(link_settings(loss=0.0, duplicate=0.0, up=True), pushes, st.integers(0, 9))
def test_a_link_without_loss_delivers_each_message_once(settings, steps, seed):
    numbers = [number for _, _, number in run(DelayLine(settings, True, seed), steps)]
    assert sorted(numbers) == list(range(len(steps)))


@given(pushes)
def test_full_duplication_delivers_each_message_twice(steps):
    numbers = [number for _, _, number in run(DelayLine(LinkSettings(duplicate=1.0), True, 0), steps)]
    assert sorted(numbers) == sorted(list(range(len(steps))) * 2)


@pytest.mark.parametrize("upward", [True, False])
def test_an_outage_stops_its_own_direction_only(upward):
    line = DelayLine(LinkSettings(up=False), upward, seed=0)
    line.push(0.0, "x", 1)
    assert line.due(1.0) == ([] if upward else ["x"])
    assert line.counts.lost_by_outage == (1 if upward else 0)


def test_messages_in_flight_keep_the_delay_they_started_with():
    line = DelayLine(LinkSettings(delay=2.0, reorder=True), True, seed=0)
    line.push(0.0, "slow", 1)
    line.settings = LinkSettings(delay=0.5, reorder=True)
    line.push(0.1, "quick", 1)
    assert line.due(0.6) == ["quick"]
    assert line.due(1.99) == []
    assert line.due(2.0) == ["slow"]


def test_a_shorter_delay_does_not_overtake_when_order_is_kept():
    line = DelayLine(LinkSettings(delay=2.0), True, seed=0)
    line.push(0.0, "first", 1)
    line.settings = LinkSettings(delay=0.5)
    line.push(0.1, "second", 1)
    assert line.due(1.0) == []
    assert line.due(2.0) == ["first", "second"]


def test_delay_has_the_mean_and_deviation_that_were_set():
    line = DelayLine(LinkSettings(delay=1.0, jitter=0.2, reorder=True), True, seed=1)
    delays = [out - into for into, out, _ in run(line, [(0.01, 1)] * 5000)]
    assert statistics.mean(delays) == pytest.approx(1.0, abs=0.01)
    assert statistics.stdev(delays) == pytest.approx(0.2, abs=0.01)


def test_loss_has_the_probability_that_was_set():
    line = DelayLine(LinkSettings(loss=0.05), True, seed=1)
    delivered = len(run(line, [(0.01, 1)] * 5000))
    assert line.counts.lost_by_chance == 5000 - delivered
    assert delivered / 5000 == pytest.approx(0.95, abs=0.01)


def test_bounds_on_count_and_bytes_drop_new_messages_and_count_them():
    line = DelayLine(LinkSettings(delay=1.0), True, seed=0, capacity=2, capacity_bytes=100)
    for number, size in enumerate([90, 20, 10, 1]):
        line.push(0.0, number, size)
    assert line.due(1.0) == [0, 2]
    assert line.counts.lost_by_bound == 2
    line.push(1.0, 4, 100)
    assert line.due(2.0) == [4]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"delay": -0.1}, "delay"),
        ({"delay": 61.0}, "delay"),
        ({"delay": math.nan}, "delay"),
        ({"delay": 1.0, "jitter": 1.1}, "jitter"),
        ({"delay": 1.0, "jitter": math.inf}, "jitter"),
        ({"loss": 1.1}, "loss"),
        ({"loss": -0.1}, "loss"),
        ({"duplicate": math.nan}, "duplicate"),
        ({"up": 1}, "up"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(values, field):
    with pytest.raises(InvalidValueError, match=f"^{field}:"):
        LinkSettings(**values)
