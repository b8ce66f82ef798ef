"""After a failed `make test`: keeps and reports what failed, and runs the tests marked `timing` among it once more.

Prints nothing after pytest's closing lines. Exits with 0 only when both runs of pytest came to their end, and every
failed test is marked `timing` and passes now.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "tests"
KEPT = RESULTS / "first-failure"
PYTEST = [ROOT / ".venv" / "bin" / "python", "-m", "pytest"]
SELECTED = ["-m", "timing", "--last-failed", "--last-failed-no-failures", "none"]
RUNS = ("units.xml", "graphs.xml")  # each written at the end of its run
CLOSING = re.compile(r"^=* ?.*\d+ (?:passed|failed|errors?|deselected)\b.* in [\d.]+s.*$", re.M)


def last_failed() -> list[str]:
    """Names of the tests that failed, as pytest keeps them."""
    file = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
    return sorted(json.loads(file.read_text())) if file.is_file() else []


def keep() -> None:
    """Copy JUnit files and log of the first try aside."""
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(parents=True)
    for file in RESULTS.glob("*.*"):
        shutil.copy(file, KEPT)


def timing_among_failed() -> int:
    """How many of the failed tests are marked `timing`."""
    command = [*PYTEST, *SELECTED, "--collect-only", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return sum("::" in line for line in done.stdout.splitlines())


def passed_again(expected: int) -> bool:
    """Run them once more; True when as many as expected ran and none failed."""
    result = RESULTS / "again.xml"
    result.unlink(missing_ok=True)
    code = subprocess.run([*PYTEST, *SELECTED, f"--junitxml={result}"], cwd=ROOT, check=False).returncode
    suites = ElementTree.parse(result).getroot().iter("testsuite") if result.is_file() else ()
    return code == 0 and sum(int(suite.get("tests", 0)) - int(suite.get("skipped", 0)) for suite in suites) == expected


def main() -> int:
    """Exit code of the whole run."""
    failed = last_failed()
    keep()
    print(f"ci: {len(failed)} failed at the first try; kept in {KEPT.relative_to(ROOT)}")
    for name in failed:
        print(f"ci:   {name}")
    cut_off = [name for name in RUNS if not (KEPT / name).is_file()]
    for name in cut_off:
        print(f"ci: the run that writes {name} did not come to its end")
    timing = timing_among_failed() if failed and not cut_off else 0
    if timing:
        print(f"ci: {timing} of them marked `timing`: run once more", flush=True)
        return 0 if passed_again(timing) and timing == len(failed) else 1
    log = KEPT / "test.log"
    closing = CLOSING.findall(log.read_text(errors="replace")) if log.is_file() else []
    print(closing[-1] if closing else "ci: no test was run")
    return 1


if __name__ == "__main__":
    sys.exit(main())
