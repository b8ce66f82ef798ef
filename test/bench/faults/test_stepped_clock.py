"""The clock that the fault runner steps: the C library's times and timed waits of a process follow it."""

import os
import shutil
import subprocess
import sys

import pytest

from telerobot_nodes.bench.faults.hosts import HOUR, step_clock, stepped_clock

LIMIT = 30.0  # [s]; without the step the wait below lasts an hour
WAITS = """
import ctypes, sys, time
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.sem_init(semaphore, 0, 0)
before = time.time()
end = before + float(sys.argv[1])  # made before the line, since the test steps the clock as soon as it reads that
print(int(before), flush=True)
libc.sem_timedwait(semaphore, (ctypes.c_long * 2)(int(end), int(end % 1 * 1e9)))
print(int(time.time()), flush=True)
"""


@pytest.fixture
def waiting(tmp_path):
    """A process that waits for seconds of its wall clock, and the file that steps it."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    with stepped_clock(tmp_path) as (environment, offset):

        def start(seconds, first):
            step_clock(offset, first)
            command = [sys.executable, "-S", "-c", WAITS, str(seconds)]
            return subprocess.Popen(
                command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
            ), offset

        yield start


def test_a_wait_ends_when_the_clock_steps_past_its_end(waiting):
    process, offset = waiting(HOUR, 0.0)
    before = int(process.stdout.readline())
    step_clock(offset, 2.0 * HOUR)
    after, _ = process.communicate(timeout=LIMIT)
    assert int(after) - before >= 2.0 * HOUR


def test_a_wait_that_begins_after_a_step_lasts_no_longer(waiting):
    process, _ = waiting(0.1, HOUR)
    before = int(process.stdout.readline())
    after, _ = process.communicate(timeout=LIMIT)
    assert int(after) - before < LIMIT
