"""What tests rely on: a ROS domain that nobody else has, the probe of the machine's lateness, a browser under CI."""

import os
import re
import subprocess
import sys

import pytest
from browser import without_browser
from ros_domains import FOLDER, NoDomainError, lock_domain

from telerobot_nodes.doctor.scheduling_lateness import PERIOD, TYPICAL, WORK, WORST, measure, probe


def test_two_processes_never_have_the_same_domain(tmp_path, root):
    script = "from ros_domains import *; import sys; from pathlib import Path; print(lock_domain(Path(sys.argv[1]))[0])"
    first, lock = lock_domain(tmp_path)

    def other():
        command = [sys.executable, "-c", script, str(tmp_path)]
        return int(subprocess.check_output(command, text=True, cwd=root / "test" / "support"))

    assert (first, other()) == (1, 2)
    lock.close()
    assert other() == 1


def test_when_every_domain_is_in_use_that_is_the_error(tmp_path):
    held = [lock_domain(tmp_path, range(1, 4)) for _ in range(3)]
    assert [domain for domain, _ in held] == [1, 2, 3]
    with pytest.raises(NoDomainError, match="1 to 3 are all in use"):
        lock_domain(tmp_path, range(1, 4))


def test_this_process_has_its_domain():
    domain = int(os.environ["ROS_DOMAIN_ID"])
    assert 1 <= domain <= 100
    with pytest.raises(NoDomainError):
        lock_domain(FOLDER, range(domain, domain + 1))


class Machine:
    """A clock that a test moves; every `stall_every`-th period the machine does something else for `stall` [s]."""

    def __init__(self, stall=0.0, stall_every=50):
        self.time, self.periods, self.stall, self.stall_every = 0.0, 0, stall, stall_every

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds

    def work(self, seconds):
        self.periods += 1
        self.time += seconds + (self.stall if self.periods % self.stall_every == 0 else 0.0)

    def measure(self, seconds=5.0):
        return measure(seconds, self.now, self.sleep, self.work)


def test_a_machine_in_time_is_not_busy():
    late = Machine().measure()
    assert (late.p99, late.worst) == (pytest.approx(0.0, abs=1e-9), pytest.approx(0.0, abs=1e-9))
    assert late.kept == pytest.approx(1.0, abs=0.01)
    assert not late.busy
    assert str(late) == "scheduling lateness: p99 0.0 ms, worst 0.0 ms, 100% of the periods kept"


def test_one_long_stall_is_the_worst_lateness_and_makes_the_machine_busy():
    late = Machine(stall=WORST + 0.01, stall_every=500).measure()
    assert late.worst == pytest.approx(WORST + 0.01)
    assert late.p99 < TYPICAL
    assert late.busy
    assert "MACHINE TOO BUSY" in str(late)
    assert "110.0 ms" in str(late)


def test_a_machine_that_misses_periods_is_busy_even_when_each_is_only_a_little_late():
    late = Machine(stall=2 * PERIOD, stall_every=2).measure()
    assert late.worst < TYPICAL
    assert late.kept == pytest.approx(0.57, abs=0.05)
    assert late.busy


def test_less_lateness_than_a_period_has_to_spare_is_no_miss():
    assert not Machine(stall=0.9 * (PERIOD - WORK), stall_every=2).measure().busy


def test_the_probe_reports_the_worst_of_its_processes():
    late = probe(0.05)
    assert 0.0 <= late.p99 <= late.worst
    assert 0.0 < late.kept <= 1.0


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_test_without_its_browser_fails_under_ci_and_is_skipped_elsewhere(monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no chromium"):
        without_browser("no chromium on this machine")


@pytest.mark.lengthy
def test_of_the_cases_of_a_brief_test_some_are_kept_and_the_others_are_nightly(pytester_cases):
    kept = pytester_cases((9, 3, ()), (2, 5, ()), (4, 1, ()), (6, 2, (0, 1)))
    assert kept == [[0, 4, 8], [0, 1], [0], [2, 5]]


@pytest.fixture
def pytester_cases(tmp_path, root):
    """Which cases of some tests, each (cases, brief, nightly ones), run by day, as a run of pytest collects them."""

    def run(*tests):
        (tmp_path / "conftest.py").write_text(
            f"import sys\nsys.path.append({str(root / 'test' / 'support')!r})\n"
            "from brief import leave_to_the_night\n"
            "def pytest_collection_modifyitems(items):\n    leave_to_the_night(items)\n"
        )
        lines = ["import pytest", "night = [pytest.mark.nightly]"]
        for number, (cases, brief, nightly) in enumerate(tests):
            params = f"[pytest.param(k, marks=night * (k in {nightly})) for k in range({cases})]"
            lines += [f"@pytest.mark.brief({brief})", f"@pytest.mark.parametrize('k', {params})"]
            lines += [f"def test_{number}(k): pass"]
        (tmp_path / "test_it.py").write_text("\n".join(lines))
        words = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "not nightly", str(tmp_path)]
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they only take time here
        command = [sys.executable, *words]
        found = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
        return [[int(k) for k in re.findall(rf"test_{n}\[(\d+)\]", found.stdout)] for n in range(len(tests))]

    return run
