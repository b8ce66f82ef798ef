"""The run-time control of two simple arms with everything real but the hardware: see `harness.py`."""

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONFIG = HERE.parents[1] / "config" / "rtc"


def _harness():
    """test/ is no package: the module beside this file is loaded by its path, once."""
    if "rtc_harness" not in sys.modules:
        spec = importlib.util.spec_from_file_location("rtc_harness", HERE / "harness.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["rtc_harness"] = module
        spec.loader.exec_module(module)
    return sys.modules["rtc_harness"]


@pytest.fixture(scope="session")
def config():
    return CONFIG


@pytest.fixture(scope="session")
def library():
    from telerobot_nodes.rtc.skill_files import load_library

    return load_library(CONFIG)


@pytest.fixture
def cell(library):
    """A workcell with the real modules and a kinematic executor."""
    return _harness().Cell(library, CONFIG)


@pytest.fixture
def make_cell(library):
    return lambda **options: _harness().Cell(library, CONFIG, **options)


@pytest.fixture(scope="session")
def harness():
    return _harness()
