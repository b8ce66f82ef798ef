#!/usr/bin/env python3
"""Installs what the Makefile asks for into .venv, and reports progress with the time left. Any Python 3.10 or newer.

    set_up.py run       the wheels of requirements.lock
    set_up.py build     the ROS interfaces and the package, and the compiled code of the demo beside them
    set_up.py build all the same, and the compiled code of planner and tasks too
    set_up.py develop   the wheels of requirements-dev.lock
    set_up.py compiled  the compiled code of planner and tasks, where the sources changed since
    set_up.py robots    the wheels that hold other robots' models

The output of each step is kept in build/setup-STEP.log and printed when the step fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
LOGS = ROOT / "build"
PERIOD = 5.0  # [s] between lines of progress
COMPILED = {  # what is said of it, and how long it takes [s]
    "demo": ("compiling the control loop", 60.0),
    "all": ("compiling control loop, planner and tasks", 200.0),
}
COUNT = re.compile(r"\[(\d+)/(\d+)\]")
PARTS = ("demo", "planner")  # of compiled code
ROBOTS = ("example-robot-data", "jrl-cmakemodules", "pycollada")


@dataclass
class Step:
    """One command that runs, how long it takes on two quiet cores, and how far it is."""

    name: str
    words: str
    command: list[str]
    expected: float  # [s]
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    done: int = 0
    pace: float = 0.0  # [s] a part

    @property
    def log(self) -> Path:
        """What the step prints."""
        return LOGS / f"setup-{self.name}.log"

    def start(self) -> None:
        """Run it in the background."""
        environment = os.environ | {
            "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
            "PYTHONUNBUFFERED": "1",
            "NINJA_STATUS": "[%f/%t] ",
        }
        self.began = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def left(self) -> float:
        """Seconds left, from the pace so far once a quarter is done, else from what is expected."""
        elapsed = time.monotonic() - self.began
        done, total = self.count()
        if done != self.done:
            self.done, self.pace = done, elapsed / done
        whole = self.pace * total if 4 * done > total > 0 else self.expected
        return max(whole - elapsed, 1.0)

    def count(self) -> tuple[int, int]:
        """Parts done, parts in all; 0, 0 when the step does not count."""
        found = COUNT.findall(self.log.read_text(errors="replace"))
        return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)

    def progress(self) -> str:
        """What it does, and how far it is."""
        done, total = self.count()
        return f"{self.words} ({100 * done // total} %)" if total else self.words


def report(text: str) -> None:
    """One line for the person who waits."""
    print(f"telerobot: {text}", flush=True)


def run(steps: list[Step]) -> None:
    """Run the steps beside each other, report until all have ended; exits with the log of one that failed."""
    LOGS.mkdir(exist_ok=True)
    began = time.monotonic()
    for step in steps:
        step.start()
    expected = max(step.expected for step in steps)
    report(f"{'; '.join(step.words for step in steps)} (about {expected:.0f} s on two quiet cores)")
    told = began
    while any(step.process is not None and step.process.poll() is None for step in steps):
        time.sleep(0.2)
        if time.monotonic() - told >= PERIOD:
            told = time.monotonic()
            busy = [step for step in steps if step.process is not None and step.process.poll() is None]
            words = "; ".join(step.progress() for step in busy)
            left = max((step.left() for step in busy), default=0.0)
            if busy:
                rest = f"about {left:.0f} s left" if left > 1.0 else "this machine is slower or busier than expected"
                report(f"[{told - began:3.0f} s] {words}: {rest}")
    for step in steps:
        if step.process is not None and step.process.returncode:
            print(step.log.read_text(errors="replace")[-6000:], file=sys.stderr)
            sys.exit(f"telerobot: {step.words} failed; the whole output is in {step.log.relative_to(ROOT)}")


def make_environment() -> None:
    """The virtual environment, and uv in it where it can be had: it installs several times faster than pip."""
    if not PYTHON.exists():
        report("making .venv")
        subprocess.run([sys.executable, "-m", "venv", ROOT / ".venv"], check=True)
    if not Path(PYTHON.parent, "uv").exists():
        pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        subprocess.run([*pip, "--no-deps", "--requirement", ROOT / ".ci" / "uv.lock"], check=False)


def wheels(lock: Path) -> list[str]:
    """The command that installs a lock: uv, and pip where uv fails, as behind an index that only pip knows."""
    pip = f"'{PYTHON}' -m pip install --no-compile --no-deps --require-hashes --requirement '{lock}'"
    uv = Path(PYTHON.parent, "uv")
    fast = f"'{uv}' pip install --python '{PYTHON}' --no-deps --require-hashes --requirement '{lock}'"
    return ["sh", "-c", f"{fast} || {pip}" if uv.exists() else pip]


def compiled(parts: str) -> list[str]:
    """The command that compiles these parts ahead."""
    return [str(PYTHON), "-m", "telerobot_nodes.runtime.precompile", parts]


def install_run() -> None:
    """Wheels to build and to run."""
    make_environment()
    lock = ROOT / "requirements.lock"
    run([Step("wheels", "installing the wheels of requirements.lock, 1.3 GB once", wheels(lock), 60.0)])


def build(parts: str = "demo") -> None:
    """The package with its interfaces, and the code that the demo compiles, or all of it, on one core each."""
    install = "-m pip install --no-deps --no-build-isolation --disable-pip-version-check --verbose --editable ."
    words, expected = COMPILED[parts]
    run(
        [
            Step("build", "building the ROS interfaces", [str(PYTHON), *install.split()], 45.0),
            Step("compile", words, compiled(parts), expected),
        ]
    )


def develop() -> None:
    """What testing needs besides."""
    lock = ROOT / "requirements-dev.lock"
    run([Step("develop", "installing the wheels of requirements-dev.lock", wheels(lock), 30.0)])


def compile_changed() -> None:
    """Compile all parts, unless the cache of the present sources holds them."""
    check = f"from telerobot_nodes import _numba_cache; exit(not all(map(_numba_cache.is_compiled, {PARTS})))"
    if subprocess.run([PYTHON, "-c", check], cwd=ROOT, check=False).returncode:
        words, expected = COMPILED["all"]
        run([Step("compile", words, compiled("all"), expected)])


def robots() -> None:
    """The wheels of the extra `robots`, out of the development lock."""
    entries = re.findall(r"^\S[^\\\n]*(?:\\\n +--hash=\S+ ?)*\n", Path(ROOT, "requirements-dev.lock").read_text(), re.M)
    lock = LOGS / "robots.lock"
    LOGS.mkdir(exist_ok=True)
    lock.write_text("".join(entry for entry in entries if entry.startswith(tuple(f"{name}==" for name in ROBOTS))))
    run([Step("robots", "installing the models of other robots, 400 MB", wheels(lock), 20.0)])


STEPS = {"run": install_run, "build": build, "develop": develop, "compiled": compile_changed, "robots": robots}

if __name__ == "__main__":
    os.environ.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None)  # marks of another environment's ROS wheels
    STEPS[sys.argv[1]](*sys.argv[2:])
