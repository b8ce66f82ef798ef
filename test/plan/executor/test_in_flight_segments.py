"""Windows sent to the control loop and not superseded there."""

import pytest

from telerobot_nodes.plan.executor.in_flight_segments import CAPACITY, InFlightSegments
from telerobot_nodes.plan.executor.profile import Profile


def rest(tau):
    return Profile.rest(0.0, tau)


@pytest.fixture
def segments():
    found = InFlightSegments(3, rest(1.0))
    for number, committed in ((4, 5.0), (5, 2.0), (6, 3.0)):
        found.add(number, rest(committed), committed, splice=float(number))
    return found


def test_everything_a_window_in_flight_may_reach_is_committed(segments):
    assert segments.committed == 5.0
    segments.confirm(5)
    assert segments.committed == 3.0
    assert segments.last_number == 6


def test_windows_before_the_one_in_use_are_dropped(segments):
    segments.confirm(5)
    assert segments.find(4) is None
    assert segments.find(5).profile.end_tau == 2.0


def test_an_unknown_window_confirms_nothing(segments):
    segments.confirm(99)
    assert segments.find(3) is not None


def test_a_window_is_overdue_only_after_its_splice_and_the_timeout(segments):
    assert not segments.overdue(now=6.2, after=5, timeout=0.3)
    assert segments.overdue(now=6.4, after=5, timeout=0.3)
    assert not segments.overdue(now=6.4, after=6, timeout=0.3)


def test_the_first_motion_is_never_overdue():
    assert not InFlightSegments(3, rest(1.0)).overdue(now=1e9, after=3, timeout=0.3)


def test_memory_is_bounded_and_forgets_no_commitment():
    segments = InFlightSegments(0, rest(9.0))
    for number in range(1, 3 * CAPACITY):
        segments.add(number, rest(1.0), 1.0, 0.0)
    assert segments.find(0) is None
    assert segments.committed == 9.0
