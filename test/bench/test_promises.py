"""The bench of the plan's promises, on its shortest: each part has its goals, and misses them where one breaks."""

import numpy as np
import pytest

from telerobot_nodes.bench.study import promises
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority import StandBy


def met(result):
    return [goal["met"] for goal in result["goals"]]


@pytest.mark.lengthy
def test_tool_walls_and_hand_off_keep_what_is_promised():
    result = promises.run({"parts": "lag,walls,handoff", "trials": 2, "hours": 1.0, "handoffs": 10})
    assert set(result["figures"]) == {"lag", "walls", "handoff"}
    assert len(result["goals"]) == 5
    assert all(met(result))


@pytest.mark.nightly
def test_a_pause_passes_the_points_that_wait():
    result = promises.run({"parts": "pause"})
    assert len(result["goals"]) == 6
    assert all(met(result))


def test_a_late_tool_is_seen_and_a_jump_is_not_taken_for_it():
    time = promises.STEP * np.arange(300)
    hand = np.stack([0.05 * np.sin(2.0 * time), 0.03 * np.cos(3.0 * time), 0.0 * time], axis=1)
    late = np.vstack([np.tile(hand[0], (4, 1)), hand[:-4]])
    assert {round(value / promises.STEP) for value in promises._lags(hand, late)} == {4}
    jumped = hand + np.array([0.06, 0.0, 0.0]) * (time > 3.0)[:, None]
    assert set(promises._lags(jumped, hand)) == {0.0}


def test_a_stand_by_that_meets_too_far_away_is_found(monkeypatch):
    class Careless(StandBy):
        def __init__(self, agent, capacity, distance, angle):
            super().__init__(agent, capacity, 4.0 * distance, 4.0 * angle)

    monkeypatch.setattr(promises, "StandBy", Careless)
    _, goals = promises.handoff(0.1, 20, 1)
    assert not goals[0]["met"]


def test_an_unknown_part_is_refused():
    with pytest.raises(InvalidValueError, match="parts"):
        promises.run({"parts": "luck"})
