"""A recorded delay: the file, and what it gives at each time."""

import math

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link import DelayLine, EmulatedLink, LinkOptions, LinkSettings, load_profile

BOTH = "t[s],delay[s]\n10,1\n12,3\n"
EACH = "t[s],up[s],down[s]\n0,0.5,2\n1,lost,2\n2,0.5,2\n3,0.7,2\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        file = tmp_path / "delay.csv"
        file.write_text(text)
        return file

    return write


def test_between_samples_the_delay_is_interpolated_and_after_the_end_it_begins_again(written):
    profile = load_profile(written(BOTH))
    assert [profile.delay(at, True) for at in (0.0, 0.5, 1.5, 2.5)] == [1.0, 1.5, 2.5, 1.5]
    assert profile.delay(0.5, False) == 1.5
    assert (profile.mean, profile.deviation) == (2.0, 1.0)


def test_each_way_has_its_own_column_and_nothing_passes_between_lost_samples(written):
    profile = load_profile(written(EACH))
    assert [profile.delay(at, True) for at in (0.5, 1.5)] == [math.inf, math.inf]
    assert profile.delay(2.5, True) == pytest.approx(0.6)
    assert [profile.delay(at, False) for at in (0.5, 1.5, 2.5)] == [2.0, 2.0, 2.0]


def test_a_line_delivers_by_the_profile_and_counts_what_is_lost(written):
    profile = load_profile(written(EACH))
    line = DelayLine(LinkSettings(), upward=True, seed=1)
    line.delay_at = lambda now: profile.delay(now - 100.0, True)
    line.push(101.5, "lost", 1)
    line.push(102.5, "passes", 1)
    assert (line.counts.lost_by_outage, line.next_due()) == (1, pytest.approx(103.1))
    assert line.due(103.2) == ["passes"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("t,delay\n0,1\n1,1\n", "delay.csv:1: columns"),
        ("t[s],delay[s]\n0,1\n1\n", "delay.csv:3: columns"),
        ("t[s],delay[s]\n0,1\n1,fast\n", r"delay.csv:3: delay\[s\]: 'fast' is not allowed; allowed: a number or lost"),
        ("t[s],delay[s]\n0,1\n1,-1\n", r"delay.csv:3: delay\[s\]"),
        ("t[s],delay[s]\n0,1\n1,61\n", r"delay.csv:3: delay\[s\]"),
        ("t[s],delay[s]\n0,1\n1,nan\n", r"delay.csv:3: delay\[s\]"),
        ("t[s],delay[s]\n0,1\nlost,1\n", r"delay.csv:3: t\[s\]"),
        ("t[s],delay[s]\n1,1\n1,1\n", r"delay.csv:3: t\[s\]: '1' is not allowed; allowed: after 1"),
        ("t[s],delay[s]\n1,1\n", "delay.csv: samples"),
        ("t[s],delay[s]\n1,lost\n2,lost\n", "delay.csv: delays"),
        ("", "delay.csv:1: columns"),
    ],
)
def test_a_bad_profile_is_refused_with_file_line_and_column(written, text, named):
    with pytest.raises(InvalidValueError, match=named):
        load_profile(written(text))


def test_a_profile_that_is_missing_is_named(tmp_path):
    with pytest.raises(InvalidValueError, match=r"profile: .*none.csv.* allowed: a CSV file; No such file"):
        load_profile(tmp_path / "none.csv")


def test_options_take_the_place_of_what_the_file_says_and_leave_the_rest(written):
    file = EmulatedLink(1.0, 0.05, 0.02)
    assert LinkOptions(loss=0.1).over(file) == EmulatedLink(1.0, 0.05, 0.1)
    assert LinkOptions(delay=0.0).over(file) == EmulatedLink(0.0, 0.0, 0.02)
    assert LinkOptions(delay=4.0, jitter=0.3).over(file) == EmulatedLink(2.0, 0.3, 0.02)
    recorded = LinkOptions(profile=written(BOTH)).over(file)
    assert recorded == EmulatedLink(loss=0.02, profile=str(written(BOTH)))
    assert LinkOptions(delay=2.0).over(recorded) == EmulatedLink(1.0, loss=0.02)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"delay": -1.0}, "delay"),
        ({"delay": 121.0}, "delay"),
        ({"delay": 1.0, "jitter": 0.6}, "jitter"),
        ({"loss": 1.5}, "loss"),
        ({"profile": "none.csv"}, "profile"),
        ({"profile": BOTH, "delay": 1.0}, "profile"),
        ({"profile": BOTH, "jitter": 0.1}, "profile"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(written, tmp_path, options, field):
    files = {BOTH: written(BOTH), "none.csv": tmp_path / "none.csv"}
    given = {name: files.get(value, value) for name, value in options.items()}
    with pytest.raises(InvalidValueError) as refusal:
        LinkOptions(**given).over(EmulatedLink())
    assert refusal.value.field == field
