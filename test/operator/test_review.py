"""The offline checker: a good run passes, and each thing that can be wrong is found and counted."""

import json

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.history import laid_over_time
from telerobot_nodes.operator.report import review_bag, summary_lines
from telerobot_nodes.operator.run_record import Executed, PlanChange
from telerobot_nodes.operator.timeline_plot import read_sides

SAME = ("points_planned", "points_executed", "duplicates", "lost", "out_of_order", "unknown", "limit_violations")


def test_a_good_run_is_found_as_planned(make_run):
    summary, _ = review_bag(make_run())
    assert summary.passed
    assert summary.robot == "arm"
    assert [getattr(summary, name) for name in SAME] == [200, 200, 0, 0, 0, 0, 0]
    assert summary.rms_error_m < 2e-5
    assert summary.max_error_m < 5e-5
    assert summary.path_samples > 700
    assert summary.forward_sim_lead_s == pytest.approx(1.0 + 2.0, abs=0.05)
    assert summary.jumps_absorbed == 1
    assert summary.device_scale == 0.5
    assert summary.round_trip_s == 2.0


def test_delays_are_measured_by_message_number(make_run):
    summary, _ = review_bag(make_run())
    for delay in (summary.up_delay_s, summary.down_delay_s):
        assert delay["median"] == pytest.approx(1.0, abs=1e-6)
    assert (summary.down_delay_s["sent"], summary.down_delay_s["arrived"]) == (100, 90)


@pytest.mark.parametrize(
    ("fault", "field", "count"),
    [
        ("lost", "lost", 2),
        ("twice", "duplicates", 2),
        ("out of order", "out_of_order", 2),
        ("unknown", "unknown", 2),
    ],
)
def test_each_fault_of_the_history_is_found_and_only_that(make_run, fault, field, count):
    summary, _ = review_bag(make_run(fault))
    good, _ = review_bag(make_run())
    assert getattr(summary, field) == count
    assert not summary.passed
    unchanged = set(SAME) - {field, "points_executed"}
    assert all(getattr(summary, name) == getattr(good, name) for name in unchanged)


def test_a_setpoint_above_a_limit_is_counted_by_value_and_by_difference(make_run):
    summary, _ = review_bag(make_run("too fast"))
    checks = summary.limits["hardware_interface"]
    assert checks["velocity"] == 1
    assert checks["difference"] == 2
    assert checks["pairs"] == checks["samples"] - 1
    assert summary.velocity_use == pytest.approx(1.5)
    assert not summary.passed


def test_a_tool_off_the_path_is_measured(make_run):
    summary, _ = review_bag(make_run("off the path"))
    assert 0.003 < summary.max_error_m < 0.03
    assert summary.rms_error_m > 0.001


def test_refusals_and_events_are_on_the_timeline(make_run):
    summary, events = review_bag(make_run())
    assert summary.refusals["path_plan_queue"] == ["points.pose[3]: nan is not allowed; allowed: finite numbers"]
    texts = [event.text for event in events]
    assert "time clutch disengaged" in texts
    assert "tracking" in texts
    assert "delay 1 s, jitter 0 s, loss 0.0%" in texts
    assert [event.time for event in events] == sorted(event.time for event in events)


def test_json_and_picture_are_written_and_hold_what_the_issue_asks_for(make_run, tmp_path):
    review_bag(make_run(), json=tmp_path / "out" / "run.json", picture=tmp_path / "out" / "run.png")
    found = json.loads((tmp_path / "out" / "run.json").read_text())
    wanted = {"points_planned", "points_executed", "duplicates", "lost", "rms_error_m", "max_error_m"}
    wanted |= {"limit_violations", "forward_sim_lead_s", "bag", "picture"}
    assert wanted <= set(found)
    assert found["picture"].endswith("run.png")
    assert (tmp_path / "out" / "run.png").read_bytes().startswith(b"\x89PNG")


def test_the_timeline_shows_every_operator_that_was_recorded(make_run, tmp_path):
    bag = make_run()
    review_bag(bag, timeline=tmp_path / "who.png", others=[make_run("lost")])
    assert (tmp_path / "who.png").read_bytes().startswith(b"\x89PNG")
    (side,) = read_sides([bag])
    assert (side.agent, side.lead.max() > 1.0, side.free.min()) == ("operator", True, 1.0)


def test_a_recording_of_another_operator_that_is_none_is_refused_by_name(make_run, tmp_path):
    with pytest.raises(InvalidValueError, match="nowhere"):
        review_bag(make_run(), timeline=tmp_path / "who.png", others=[tmp_path / "nowhere"])


def test_what_is_laid_and_taken_back_is_counted_over_time():
    def change(time, kind, first, count, after=0):
        return PlanChange(time, kind, first, 0.02 * np.arange(count), np.zeros((count, 3)), after)

    changes = [change(0.0, 0, 1, 10), change(1.0, 1, 0, 0, after=4), change(2.0, 2, 50, 3)]
    time, count = laid_over_time(changes, [Executed(1.5, 1, 2)])
    assert time.tolist() == [0.0, 1.0, 2.0]
    assert count.tolist() == [10, 4, 5]


def test_json_has_no_numbers_that_json_does_not_know(make_run):
    summary, _ = review_bag(make_run())
    assert "NaN" not in summary.to_json()
    assert np.isfinite(json.loads(summary.to_json())["rms_error_m"])


def test_every_line_for_people_has_a_text(make_run):
    lines = dict(summary_lines(review_bag(make_run())[0]))
    assert lines["points"] == "200 planned, 200 executed, 0 lost (0 pending)"
    assert all(lines.values())


def test_a_bag_of_another_robot_is_refused(make_run):
    with pytest.raises(InvalidValueError, match=r"joint_states\.name|length"):
        review_bag(make_run(), robot="ur5")


def test_a_bag_of_another_arm_is_refused_by_namespace(make_run):
    with pytest.raises(InvalidValueError, match="arms"):
        review_bag(make_run(), namespace="left")
