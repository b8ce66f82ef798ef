"""Folders of macros made in a test."""

import textwrap

import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.macros import read_macros


@pytest.fixture(scope="session")
def arm():
    return load_robot("arm")


@pytest.fixture
def write(tmp_path):
    """Writes macro files by name, and reads the folder."""

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
        return read_macros(tmp_path)

    return write


BACK = """\
    macro: back
    version: 1
    doc: Move back.
    motion: relative
    parameters:
      way: {unit: m, low: 0.01, high: 0.2, default: 0.05}
    steps:
      - step: back
        primitive: cartesian_guarded
        values: {tr_rel_dest: [0, 0, "${-way}", 0, 0, 0, 1]}
"""


@pytest.fixture
def back():
    return BACK
