"""Processes that a bench has stopped go on after it, also when it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from telerobot_nodes.bench.rtc.halt_rig import hung

LIMIT = 20.0  # [s]
STOPS = "import sys, time; from telerobot_nodes.bench.rtc.halt_rig import hung\n"
STOPS += "with hung([int(sys.argv[1])]): print('stopped', flush=True); time.sleep(600)"


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def until(reached):
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


def test_a_process_is_stopped_inside_and_goes_on_after(sleeper):
    with hung([sleeper]):
        until(lambda: is_stopped(sleeper))
    assert not is_stopped(sleeper)


@pytest.mark.lengthy
def test_a_process_goes_on_when_the_bench_that_stopped_it_is_killed(sleeper):
    with subprocess.Popen([sys.executable, "-c", STOPS, str(sleeper)], stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout.readline() == "stopped\n"
        until(lambda: is_stopped(sleeper))
        os.kill(bench.pid, signal.SIGKILL)
    until(lambda: not is_stopped(sleeper))
