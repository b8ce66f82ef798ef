from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.hardware.ros2_control.stamp_clock import DRIFT, StampClock


@given(st.lists(st.floats(0.0, 0.05), min_size=1, max_size=50), st.floats(-1e6, 1e6))
def test_times_are_those_of_the_measurements_whatever_the_clock_and_the_delays(delays, ahead):
    clock, fastest = StampClock(), min(delays)
    times = []
    for k, delay in enumerate(delays):
        made = 10.0 + 0.1 * k
        times.append((made, clock.arrival(made + ahead, made + delay)))
    made, last = times[-1]
    assert fastest - 1e-6 <= last - made <= fastest + DRIFT * 0.1 * len(delays) + 1e-6


def test_a_repeated_or_older_stamp_is_no_new_measurement():
    clock = StampClock()
    assert clock.arrival(5.0, 1.0) == 1.0
    assert clock.arrival(5.0, 1.1) is None and clock.arrival(4.99, 1.2) is None
    assert clock.arrival(5.25, 1.25) == 1.25


def test_a_clock_that_goes_back_is_told_from_a_message_out_of_order():
    clock = StampClock()
    clock.arrival(50.0, 1.0)
    assert not clock.began_again(49.9, 1.1) and clock.began_again(3.0, 1.1)
    clock.reset()
    assert clock.arrival(3.0, 2.0) == 2.0


def test_a_driver_that_died_and_counts_anew_from_near_the_last_stamp_is_not_taken_for_late():
    """Its offset is larger by the time it was away: each of its messages would be that old for ever."""
    clock = StampClock()
    for k in range(100):
        clock.arrival(1000.0 + 0.01 * k, 5.0 + 0.01 * k)
    for stamp in (1000.8, 1000.995, 1001.2):  # a little behind, and ahead
        assert clock.began_again(stamp, 9.0)
    assert not clock.began_again(1000.99, 9.0)  # stands still
    assert not clock.began_again(1001.0, 6.0)  # in time
    assert not clock.began_again(1000.5, 6.0)  # delayed by half a second, without a silence before it
    clock.reset()
    assert clock.arrival(1001.2, 9.0) == 9.0
