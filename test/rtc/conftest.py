"""The run-time control of two simple arms with everything real but the hardware: see `rtc_harness.py`."""

from pathlib import Path

import pytest
import rtc_harness

HERE = Path(__file__).parent
CONFIG = HERE.parents[1] / "config" / "rtc"


@pytest.fixture(scope="session")
def config():
    return CONFIG


@pytest.fixture(scope="session")
def library():
    from telerobot_nodes.rtc.skills import load_library

    return load_library(CONFIG)


@pytest.fixture
def cell(library):
    """A workcell with the real modules and a kinematic executor."""
    return rtc_harness.Cell(library, CONFIG)


@pytest.fixture
def make_cell(library):
    return lambda **options: rtc_harness.Cell(library, CONFIG, **options)


@pytest.fixture(scope="session")
def harness():
    return rtc_harness
