"""The computer: left-over segments, disks, rights; a check changes nothing."""

import mmap
import os
import subprocess
import sys

import pytest

from telerobot_nodes.doctor import Lateness, Verdict
from telerobot_nodes.doctor import host_checks as checks


def test_segments_that_nobody_uses_are_counted_and_those_in_use_are_not(tmp_path):
    used, opened, left = tmp_path / "fastrtps_used", tmp_path / "fastrtps_opened", tmp_path / "fastrtps_left"
    for file in (used, opened, left, tmp_path / "something_else"):
        file.write_bytes(bytes(1_000_000))
    with used.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    with opened.open("rb"):
        finding = checks.shared_memory(tmp_path)
    mapped.close()
    assert "1 segments left over, 1.0 MB" in finding.found
    assert left.exists()


def test_many_left_over_segments_are_named_with_how_to_remove_them(tmp_path):
    with (tmp_path / "fastrtps_big").open("wb") as file:
        file.truncate(int(1e6 * (checks.SHARED_LEFT + 1)))
    finding = checks.shared_memory(tmp_path)
    assert finding.verdict is Verdict.CARE
    assert f"rm {tmp_path}/fastrtps_*" in finding.advice


def test_a_host_without_shared_memory_is_named(tmp_path):
    assert checks.shared_memory(tmp_path / "none").verdict is Verdict.CARE


def test_a_folder_is_measured_and_left_as_it_was(tmp_path):
    finding = checks.disk(tmp_path)
    assert str(tmp_path) in finding.found
    assert "ms" in finding.found
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_wrong(tmp_path):
    finding = checks.disk(tmp_path / "none")
    assert finding.verdict is Verdict.WRONG
    assert "none" in finding.found


def test_the_real_time_rights_are_those_that_a_process_of_this_user_has():
    script = "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(50)); os.setpriority(0, 0, -15)"
    allowed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0
    before = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
    finding = checks.real_time()
    assert (finding.verdict is Verdict.OK) == allowed
    assert bool(finding.advice) != allowed
    assert (os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)) == before


def test_processors_and_clock_are_reported():
    assert checks.processors().found.startswith(f"{len(os.sched_getaffinity(0))} cores")
    assert "synchronised" in checks.clock().found


@pytest.mark.parametrize(
    ("lateness", "verdict"), [(Lateness(0.001, 0.01, 1.0), Verdict.OK), (Lateness(0.001, 0.2, 1.0), Verdict.WRONG)]
)
def test_scheduling_is_judged_by_the_probe(monkeypatch, lateness, verdict):
    monkeypatch.setattr(checks, "probe", lambda seconds: lateness)
    finding = checks.scheduling()
    assert finding.verdict is verdict
    assert f"worst {1e3 * lateness.worst:.1f} ms" in finding.found


def test_the_rights_asked_for_are_those_that_nodes_use():
    pytest.importorskip("rclpy")
    from telerobot_nodes.motion.loop import PRIORITY
    from telerobot_nodes.nodes.framework import URGENT_NICENESS

    assert (checks.REAL_TIME_PRIORITY, checks.NICENESS) == (PRIORITY, URGENT_NICENESS)
