"""The workcell of the claims of [JPL-RTC]: everything is real but the arms (`test/support/rtc_harness.py`)."""

from pathlib import Path

import pytest
import rtc_harness

from telerobot_nodes.rtc.skills import load_library


@pytest.fixture(scope="session")
def config():
    return Path(__file__).parents[2] / "config" / "rtc"


@pytest.fixture(scope="session")
def library(config):
    return load_library(config)


@pytest.fixture
def make_cell(library, config):
    return lambda **options: rtc_harness.Cell(library, config, **options)


@pytest.fixture
def cell(make_cell):
    return make_cell()


@pytest.fixture
def steps():
    """Names of the steps whose primitives were sent."""
    return lambda cell: [primitive.step for primitive in cell.executor.sent]
