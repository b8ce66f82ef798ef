"""Checks of the installation: Python, packages, messages, compiled functions."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from importlib.util import find_spec

from telerobot_nodes._numba_cache import is_compiled
from telerobot_nodes.doctor.findings import Finding, Verdict, judged

PYTHONS = ((3, 10), (3, 13))
_EXTRA = re.compile(r";.*\bextra\b")


def python() -> Finding:
    """The version of Python."""
    found = ".".join(map(str, sys.version_info[:3]))
    right = PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]
    return judged("python", found, None if right else Verdict.WRONG, "Python 3.10 to 3.13 is needed")


def packages() -> Finding:
    """Packages that the project requires."""
    required = [_name(line) for line in metadata.requires("telerobot") or () if not _EXTRA.search(line)]
    missing = [name for name in required if not _is_installed(name)]
    found = f"missing: {', '.join(missing)}" if missing else f"{len(required)} packages"
    return judged("packages", found, Verdict.WRONG if missing else None, "run `make setup`, or pip install them")


def messages() -> Finding:
    """The messages, services and actions, built for this Python."""
    built = find_spec("telerobot") is not None and find_spec("telerobot.msg") is not None
    found = "built" if built else "not found"
    advice = "run `make build`, or `colcon build` and source install/setup.bash"
    return judged("messages", found, None if built else Verdict.WRONG, advice)


def compiled() -> Finding:
    """The compiled functions of the control loop, for these sources."""
    done = is_compiled("demo")
    advice = "the first start compiles for minutes: let `telerobot demo` do it before the arm is needed"
    return judged("compiled", "yes" if done else "not yet", None if done else Verdict.CARE, advice)


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
