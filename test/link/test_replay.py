"""The replay window against a set of everything that was seen."""

from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.link.replay import WIDTH, ReplayWindow


@given(st.integers(0, 10), st.lists(st.integers(0, 3 * WIDTH), max_size=200))
def test_each_number_is_accepted_once_and_none_from_before_the_first(first, numbers):
    window, seen, latest = ReplayWindow(first), {first}, first
    for number in numbers:
        expected = number > first and number not in seen and number > latest - WIDTH
        assert window.accept(number) is expected, number
        seen.add(number)
        latest = max(latest, number)


def test_numbers_far_ahead_close_the_window_behind_them():
    window = ReplayWindow(1)
    assert window.accept(2**63)
    assert not window.accept(2)
    assert window.accept(2**63 - WIDTH + 1)
