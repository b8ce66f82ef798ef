"""The main job, end to end: a hand drives the arm through the plan queue over a slow link, judged from the bag."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from telerobot_nodes.operator.recording import BagReader

pytestmark = [
    pytest.mark.system,
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

KEYS = {
    "points_planned",
    "points_executed",
    "duplicates",
    "lost",
    "rms_error_m",
    "max_error_m",
    "limit_violations",
    "forward_sim_lead_s",
    "bag",
    "picture",
}
QUICK = ("sink_4",)  # one of those with the largest jumps
ALL = sorted(
    [f"cube_pick_{i}" for i in range(1, 7)] + ["pick_box_1", "pick_box_2"] + [f"sink_{i}" for i in range(1, 6)]
)


def run_demo(folder: Path, *arguments: str) -> dict:
    """What `telerobot demo --headless` says of itself."""
    command = [sys.executable, "-m", "telerobot_nodes", "demo", "--headless", "--folder", str(folder)]
    done = subprocess.run(
        [*command, "--json", str(folder / "out.json"), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )
    log = folder / "nodes.log"
    assert (folder / "out.json").is_file(), (
        done.stdout + done.stderr + (log.read_text()[-4000:] if log.exists() else "")
    )
    return json.loads((folder / "out.json").read_text())


def check_main_job(summary: dict) -> None:
    """What the main job must reach, on any hand."""
    assert summary["points_planned"] > 50
    assert summary["points_executed"] == summary["points_planned"]
    assert summary["duplicates"] == summary["lost"] == summary["out_of_order"] == 0
    assert summary["limit_violations"] == 0
    assert summary["rms_error_m"] < 0.001
    assert summary["max_error_m"] < 0.003
    assert summary["forward_sim_lead_s"] > 1.0  # one way of the link at least: the operator is ahead of the robot


@pytest.mark.timeout(300)
def test_the_demos_own_hand_is_executed_as_planned_and_recorded(tmp_path):
    summary = run_demo(tmp_path / "run", "--delay", "2.0")
    assert set(summary) >= KEYS
    check_main_job(summary)
    assert summary["jumps_absorbed"] >= 1
    assert summary["samples_received"] == summary["samples_sent"] > 0
    assert Path(summary["picture"]).stat().st_size > 10_000
    reader = BagReader(Path(summary["bag"]))
    topics = {topic for topic, _, _ in reader.messages()}
    assert {
        "/path_plan_queue/plan",
        "/plan_executor/executed",
        "/joint_states",
        "/operator_side/plan_executor/state",
    } <= topics


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in ALL])
def test_a_recorded_hand_is_executed_as_planned_over_two_seconds_of_delay_and_loss(name, hands, tmp_path):
    check_main_job(run_demo(tmp_path / name, "--delay", "2.0", "--hand", str(hands / f"{name}.csv")))


@pytest.mark.timeout(300)
@pytest.mark.nightly
def test_the_same_hand_drives_a_seven_joint_arm(tmp_path):
    check_main_job(run_demo(tmp_path / "panda", "--delay", "0.5", "--robot", "panda"))


@pytest.mark.timeout(300)
@pytest.mark.nightly
def test_with_the_time_clutch_engaged_the_plan_takes_as_long_as_the_hand(tmp_path):
    summary = run_demo(tmp_path / "synced", "--delay", "0.5", "--time-clutch")
    assert summary["points_executed"] == summary["points_planned"] > 0
    assert summary["duplicates"] == summary["lost"] == summary["limit_violations"] == 0
    hand_seconds = 10.0  # length of the demo's own recording
    assert summary["points_planned"] * 0.02 == pytest.approx(hand_seconds, rel=0.15)
