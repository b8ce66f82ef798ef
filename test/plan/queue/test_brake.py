"""The time brake and the committed stretch when an operation arrives."""

import pytest
from plan_values import report

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.queue.brake import TimeBrake, committed_on_arrival


def test_the_cutoff_runs_backward_from_the_head():
    brake = TimeBrake(0.1, 20.0)
    brake.set(10.0, 2.0, head_time=8.0)
    assert brake.engaged
    assert brake.cutoff(11.5) == pytest.approx(5.0)
    assert brake.cutoff(9.0) == 8.0  # never ahead of the head


@pytest.mark.parametrize("rate", [0.05, 21.0, -1.0, float("nan")])
def test_a_rate_out_of_range_changes_nothing(rate):
    brake = TimeBrake(0.1, 20.0)
    brake.set(10.0, 2.0, head_time=8.0)
    with pytest.raises(InvalidValueError, match="brake_rate"):
        brake.set(11.0, rate, head_time=1.0)
    assert (brake.rate, brake.cutoff(11.0)) == (2.0, 6.0)


def test_a_released_brake_deletes_nothing():
    brake = TimeBrake(0.1, 20.0)
    brake.set(10.0, 2.0, head_time=8.0)
    brake.release()
    assert not brake.engaged
    assert brake.cutoff(99.0) == 8.0


@pytest.mark.parametrize("mode", [ExecutorMode.RUNNING, ExecutorMode.IDLE])
def test_a_running_robot_commits_more_until_the_operation_arrives(mode):
    found = committed_on_arrival(report(mode=mode, committed_time=5.0, rate=1.0, rate_goal=2.0), 0.1, 0.4, 0.2)
    assert found == pytest.approx(5.0 + 2.0 * 0.7)


def test_an_unknown_round_trip_counts_as_none():
    running = report(mode=ExecutorMode.RUNNING, committed_time=5.0, rate=1.0)
    assert committed_on_arrival(running, 0.1, -1.0, 0.2) == pytest.approx(5.3)


@pytest.mark.parametrize("mode", [ExecutorMode.PAUSED, ExecutorMode.HALTED, ExecutorMode.FAULT])
def test_a_stopped_robot_commits_no_more(mode):
    assert committed_on_arrival(report(mode=mode, committed_time=5.0, rate=1.0), 9.0, 9.0, 9.0) == 5.0
