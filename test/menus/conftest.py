"""Folders of menus made in a test."""

import textwrap

import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.menus import read_menus

HEAD = "menu: m\norder: 1\ndoc: d\nentries:\n"


@pytest.fixture(scope="session")
def arm():
    return load_robot("arm")


@pytest.fixture(scope="session")
def shipped(arm):
    """The menus of the package."""
    return read_menus(share_path("config/menus"), arm)


@pytest.fixture
def write(tmp_path, arm):
    """Writes menu files by name, and reads the folder."""
    folder = tmp_path / "menus"
    folder.mkdir()

    def write(**texts):
        for name, text in texts.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        return read_menus(folder, arm)

    write.folder = folder
    return write


@pytest.fixture
def leaf(write):
    """The one leaf of a menu whose only entry is this YAML."""

    def read(text):
        entry = textwrap.indent(textwrap.dedent(text), "    ").replace("    ", "  - ", 1)
        folder = write(m=HEAD + entry)
        assert folder.broken == {}, folder.broken
        return next(iter(folder.leaves.values()))

    return read
