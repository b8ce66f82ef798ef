"""The offline checker: a good run passes, and each thing that can be wrong is found and counted."""

import json

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review import read_sides, review_bag, summary_lines
from telerobot_nodes.plotting import draw_run, draw_timeline

SAME = ("points_planned", "points_executed", "duplicates", "lost", "out_of_order", "unknown", "limit_violations")


@pytest.mark.lengthy
def test_a_good_run_is_found_as_planned(make_run):
    summary = review_bag(make_run()).summary
    assert summary.passed
    assert summary.robot == "arm"
    assert [getattr(summary, name) for name in SAME] == [200, 200, 0, 0, 0, 0, 0]
    assert summary.rms_error_m < 2e-5
    assert summary.max_error_m < 5e-5
    assert summary.path_samples > 700
    assert summary.forward_sim_lead_s == pytest.approx(1.0 + 2.0, abs=0.05)
    assert summary.jumps_absorbed == 1
    assert summary.device_scale == 0.5
    assert (summary.samples_sent, summary.samples_received, summary.samples_late) == (400, 399, 2)
    assert dict(summary_lines(summary))["samples"] == "399 of 400 samples received, 2 late by up to 85 ms"
    assert summary.round_trip_s == 2.0


@pytest.mark.lengthy
def test_delays_are_measured_by_message_number(make_run):
    summary = review_bag(make_run()).summary
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
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_each_fault_of_the_history_is_found_and_only_that(make_run, fault, field, count):
    summary = review_bag(make_run(fault)).summary
    good = review_bag(make_run()).summary
    assert getattr(summary, field) == count
    assert not summary.passed
    unchanged = set(SAME) - {field, "points_executed"}
    assert all(getattr(summary, name) == getattr(good, name) for name in unchanged)


@pytest.mark.nightly
@pytest.mark.lengthy
def test_a_setpoint_above_a_limit_is_counted_by_value_and_by_difference(make_run):
    summary = review_bag(make_run("too fast")).summary
    checks = summary.limits["hardware_interface"]
    assert checks["velocity"] == 1
    assert checks["difference"] == 2
    assert checks["pairs"] == checks["samples"] - 1
    assert summary.velocity_use == pytest.approx(1.5)
    assert not summary.passed


@pytest.mark.nightly
@pytest.mark.lengthy
def test_a_tool_off_the_path_is_measured(make_run):
    summary = review_bag(make_run("off the path")).summary
    assert 0.003 < summary.max_error_m < 0.03
    assert summary.rms_error_m > 0.001


@pytest.mark.lengthy
def test_refusals_and_events_are_on_the_timeline(make_run):
    found = review_bag(make_run())
    summary, events = found.summary, found.run.events
    assert summary.refusals["path_plan_queue"] == ["points.pose[3]: nan is not allowed; allowed: finite numbers"]
    texts = [event.text for event in events]
    assert "time clutch disengaged" in texts
    assert "orientation clutch disengaged" in texts
    assert "orientation clutch engaged" not in texts  # as always at the start: no event
    assert "the tool moves 0.5 and turns 1 times the hand" in texts
    assert "tracking" in texts
    assert "delay 1 s, jitter 0 s, loss 0.0%" in texts
    assert [event.time for event in events] == sorted(event.time for event in events)


@pytest.mark.lengthy
def test_json_and_picture_are_written_and_hold_what_the_issue_asks_for(make_run, tmp_path):
    draw_run(review_bag(make_run()), tmp_path / "out" / "run.png").write(tmp_path / "out" / "run.json")
    found = json.loads((tmp_path / "out" / "run.json").read_text())
    wanted = {"points_planned", "points_executed", "duplicates", "lost", "rms_error_m", "max_error_m"}
    wanted |= {"limit_violations", "forward_sim_lead_s", "bag", "picture"}
    assert wanted <= set(found)
    assert found["picture"].endswith("run.png")
    assert (tmp_path / "out" / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.nightly
@pytest.mark.lengthy
def test_the_timeline_shows_every_operator_that_was_recorded(make_run, tmp_path):
    bag = make_run()
    draw_timeline(review_bag(bag), read_sides([bag, make_run("lost")]), tmp_path / "who.png")
    assert (tmp_path / "who.png").read_bytes().startswith(b"\x89PNG")
    (side,) = read_sides([bag])
    assert (side.agent, side.lead.max() > 1.0, side.free.min()) == ("operator", True, 1.0)


@pytest.mark.lengthy
def test_a_recording_of_another_operator_that_is_none_is_refused_by_name(make_run, tmp_path):
    with pytest.raises(InvalidValueError, match="nowhere"):
        read_sides([make_run(), tmp_path / "nowhere"])


@pytest.mark.lengthy
def test_json_has_no_numbers_that_json_does_not_know(make_run):
    summary = review_bag(make_run()).summary
    assert "NaN" not in summary.to_json()
    assert np.isfinite(json.loads(summary.to_json())["rms_error_m"])


@pytest.mark.lengthy
def test_every_line_for_people_has_a_text(make_run):
    lines = dict(summary_lines(review_bag(make_run()).summary))
    assert lines["points"] == "200 planned, 200 executed, 0 lost (0 pending)"
    assert all(lines.values())


@pytest.mark.lengthy
def test_a_bag_of_another_robot_is_refused(make_run):
    with pytest.raises(InvalidValueError, match=r"joint_states\.name|length"):
        review_bag(make_run(), robot="ur5")


@pytest.mark.lengthy
def test_a_bag_of_another_arm_is_refused_by_namespace(make_run):
    with pytest.raises(InvalidValueError, match="arms"):
        review_bag(make_run(), namespace="left")


def test_a_summary_that_cannot_be_written_is_refused_with_its_file(make_run, tmp_path):
    with pytest.raises(InvalidValueError, match=r"json.*can be written"):
        review_bag(make_run()).summary.write(tmp_path)
