"""Says in one sentence what this machine lacks to build Telerobot. Runs under any Python 3."""

import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path


def missing() -> str:
    """The sentence, empty when nothing is missing."""
    found = "{}.{}".format(*sys.version_info[:2])
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return f"Python 3.10 to 3.13 is needed, this is {found}: name another one with `make PYTHON=python3.12 setup`"
    packages = []
    if shutil.which(os.environ.get("CXX", "c++")) is None or shutil.which(os.environ.get("CC", "cc")) is None:
        packages.append("g++")
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        packages.append("python3-dev")
    if find_spec("ensurepip") is None:
        packages.append("python3-venv")
    if packages:
        return "missing on this machine: {0}; on Debian or Ubuntu: sudo apt-get install {0}".format(" ".join(packages))
    return ""


if __name__ == "__main__":
    sentence = missing()
    if sentence:
        sys.exit("telerobot: " + sentence)
