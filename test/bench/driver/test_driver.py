"""The benchmark of the driver: a stop and a return over the stand-in, and goals that can be missed."""

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.bench.driver import driver
from telerobot_nodes.errors import InvalidValueError


@pytest.mark.lengthy
@pytest.mark.timing("the arm is served on the wall clock")
@pytest.mark.nightly
def test_a_stopped_arm_returns_without_a_jump(tmp_path):
    result = driver.run({"stops": 2, "demo": "0", "robots": "ur5", "rates": "500", "folder": tmp_path})
    found = result["figures"]["ur5_500"]
    assert (found["stops"], found["returned"], found["clean"]) == (2, 2, 2)
    assert 0.0 < found["largest_step_rad"] < driver.JUMP
    assert [goal["met"] for goal in result["goals"]] == [True]


def test_goals_are_missed_by_a_jump_by_a_large_error_and_by_a_demo_that_failed():
    figures = {
        "a": {"stops": 3, "clean": 2, "demo": {"rms_error_m": 2e-3}},
        "b": {"stops": 3, "clean": 3, "demo": {"error": "not ready"}},
        "c": {"stops": 3, "clean": 3, "demo": {"rms_error_m": 5e-4}},
    }
    assert [goal["met"] for goal in driver._goals(figures)] == [False, False, True, False, True, True]


@pytest.mark.parametrize(("option", "value"), [("stops", "-1"), ("rates", "5")])
def test_options_that_cannot_be_are_refused(option, value):
    with pytest.raises(InvalidValueError, match=option):
        driver.run({option: value})
