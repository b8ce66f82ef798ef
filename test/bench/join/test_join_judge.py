"""The figures of `telerobot bench join`, from records that are known."""

import pytest

from telerobot_nodes.bench.faults import Loop
from telerobot_nodes.bench.join.join import growing_texts, more_goals
from telerobot_nodes.bench.join.judge import Record, Setpoint, figures_of, goals_of, stops
from telerobot_nodes.core.protocol import ControlState, HardwareState
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.primitives import values_from

HOLDING, STOPPING = int(ControlState.HOLDING), int(ControlState.STOPPING)
READY, OTHER = int(HardwareState.READY), max(map(int, HardwareState))


def record(made, received, missed=(0, 0), states=(HOLDING, HOLDING), hardware=(READY, READY)):
    numbers = range(2, 2 * len(made) + 2, 2)
    return Record(
        [Setpoint(*row) for row in zip(received, made, numbers, strict=True)],
        [
            Loop(0.02 * at, state, 5 * at, lost, False)
            for at, (state, lost) in enumerate(zip(states, missed, strict=True))
        ],
        [(0.1 * at, state) for at, state in enumerate(hardware)],
    )


def missed_of(figures):
    return [goal["name"] for goal in goals_of("join", figures) if not goal["met"]]


def test_setpoints_each_four_milliseconds_and_no_missed_period_meet_every_goal():
    times = [0.004 * at for at in range(100)]
    figures = figures_of(record(times, times))
    assert figures["gap_made_ms"] == figures["gap_received_ms"] == 4.0
    assert (figures["setpoints"], figures["not_received"], figures["stops"]) == (100, 0, 0)
    assert missed_of(figures) == []


def test_a_gap_at_the_observer_alone_is_told_from_one_in_the_loop():
    made = [0.004 * at for at in range(4)]
    figures = figures_of(record(made, [0.0, 0.004, 0.054, 0.055]))
    assert (figures["gap_made_ms"], figures["gap_received_ms"]) == (4.0, 50.0)
    assert figures["gaps_over_20_ms_received"] == 1
    assert missed_of(figures) == ["join: longest gap, as received"]


def test_setpoints_that_never_arrived_are_counted_by_their_numbers():
    one = record([0.0, 0.004], [0.0, 0.004])
    one.setpoints.append(Setpoint(0.02, 0.02, 12))
    figures = figures_of(one)
    assert figures["not_received"] == 3
    assert figures["gap_made_ms"] == pytest.approx(4.0)  # of the loop; the observer waited longer
    assert figures["gap_received_ms"] == pytest.approx(16.0)


def test_more_than_two_periods_at_once_and_a_stop_miss_their_goals():
    figures = figures_of(record([0.0, 0.004], [0.0, 0.004], missed=(0, 3), states=(HOLDING, STOPPING)))
    assert (figures["missed"], figures["most_missed_at_once"], figures["stops"]) == (3, 3, 1)
    assert missed_of(figures) == ["join: stops", "join: most periods missed at once"]


def test_a_stop_is_counted_once_however_long_it_is_reported_and_of_the_hardware_too():
    states = (HOLDING, STOPPING, STOPPING, HOLDING, STOPPING)
    assert stops(record([], [], missed=(0,) * 5, states=states, hardware=(READY, OTHER, OTHER))) == 3
    stopped_before = record([], [], missed=(0,) * 3, states=(STOPPING, STOPPING, HOLDING))
    assert stops(stopped_before) == 0


def test_a_part_is_judged_by_what_was_received_in_its_time():
    times = [0.0, 0.004, 1.0, 1.004]
    part = record(times, times).between(0.9, 2.0)
    assert figures_of(part)["gap_made_ms"] == 4.0
    assert part.loop == part.hardware == []


@pytest.mark.parametrize("text", growing_texts())
def test_each_growing_text_is_small_and_is_refused_before_it_has_grown(text):
    assert len(text) <= 200_000
    with pytest.raises(InvalidValueError, match="velocity"):
        values_from(["velocity"], [text])


def test_processes_that_did_not_all_join_and_an_arm_that_stood_miss_their_goals():
    goals = more_goals("join", {"joined": 199, "ended_in_disorder": 0, "moving_share": 0.4}, {})
    assert [goal["met"] for goal in goals] == [False, False, True]
    assert all(
        goal["met"]
        for goal in more_goals("join", {"joined": 9, "ended_in_disorder": 0, "moving_share": 0.9}, {"processes": "9"})
    )
