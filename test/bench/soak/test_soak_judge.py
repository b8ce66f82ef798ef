"""The figures of `telerobot bench soak`, from samples that are known."""

import math
import os
import subprocess
import sys

import pytest

from telerobot_nodes.bench.faults import Loop
from telerobot_nodes.bench.soak.judge import Growth, figures_of, goals_of, growth, growths, untold
from telerobot_nodes.bench.soak.usage import Sample, Usage, family, shared_memory, usage_of

PERIOD = 0.004


def test_a_slope_is_per_hour_and_does_not_see_the_warm_up():
    times = [10.0 * at for at in range(40)]
    values = [100.0 if at < 10 else 5.0 + 0.01 * at for at in range(40)]
    found = growth(times, values)
    assert found.per_hour == pytest.approx(3.6)
    assert (found.first, found.last) == pytest.approx((5.1, 5.39))
    assert found.in_run(400.0) == pytest.approx(0.4)
    assert math.isnan(growth(times[:5], values[:5]).per_hour)


def samples(leak, count=40, shared=0.0, dead_from=99):
    rows = []
    for at in range(count):
        processes = {"robot link": Usage(80.0 + leak * at, 30, 9)}
        if at < dead_from:
            processes["robot plan_executor"] = Usage(90.0, 20, 8)
        rows.append(Sample(2.0 * at, processes, 10.0 + shared * at, 12))
    return rows


def missed(rows, seconds=80.0):
    return [goal["name"] for goal in goals_of(growths(rows), seconds) if not goal["met"]]


def test_a_leak_of_any_process_and_of_shared_memory_misses_its_goal():
    assert missed(samples(0.0)) == []
    assert missed(samples(2.0)) == ["most growth of a process's memory"]
    assert missed(samples(0.0, shared=1.0)) == ["growth of /dev/shm"]
    assert figures_of(growths(samples(0.0)))["robot link"]["memory"] == {"first": 80.0, "last": 80.0, "per_hour": 0.0}


def test_a_process_that_ended_meanwhile_has_no_slope():
    assert "robot plan_executor" not in growths(samples(0.0, dead_from=20))


def test_too_few_samples_meet_no_goal():
    assert len(missed(samples(0.0, count=3))) == 4
    assert math.isnan(Growth(0.0, 0.0, math.nan).in_run(10.0))


def states(lost_at=10**9, lost=0, counted=0, late=0.0):
    rows = []
    for at in range(1_000):
        gone = at >= lost_at
        steps = 5 * at - lost * gone
        rows.append(Loop(0.02 * at + late * (at % 7), 1, steps, counted * gone, False))
    return rows


def test_periods_that_were_neither_stepped_nor_counted_are_found_and_late_messages_are_none():
    assert untold(states(), PERIOD) == 0.0
    assert untold(states(late=0.01), PERIOD) == 0.0
    assert untold(states(500, lost=5), PERIOD) == pytest.approx(4.0)
    assert untold(states(500, lost=5, counted=5), PERIOD) == 0.0
    assert math.isnan(untold(states()[:1], PERIOD))


def test_the_usage_of_a_process_includes_those_that_it_started():
    script = "import subprocess as s; p = s.Popen(['cat'], stdin=s.PIPE); print(p.pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        assert family(parent.pid) == [parent.pid, child]
        whole, alone = usage_of(parent.pid), usage_of(parent.pid, alone=True)
        parent.stdin.close()
    assert whole.threads == alone.threads + 1
    assert whole.memory > alone.memory > 0.0
    assert whole.descriptors > alone.descriptors
    assert usage_of(parent.pid) is None


def test_shared_memory_is_what_the_files_of_a_folder_use(tmp_path):
    (tmp_path / "segment").write_bytes(os.urandom(1_000_000))
    megabytes, files = shared_memory(tmp_path)
    assert files == 1
    assert megabytes == pytest.approx(1.0, abs=0.1)
    assert shared_memory(tmp_path / "none") == (0.0, 0)
