"""Where data files lie: the source tree first, then each prefix; what is missing is named with every place searched."""

import os

import pytest

from telerobot_nodes.core.config import example_robot_data, share_path
from telerobot_nodes.errors import ModelError


@pytest.fixture
def prefixes(tmp_path, monkeypatch):
    """Two prefixes in the environment, the second with a file of the package."""
    share = tmp_path / "second" / "share" / "telerobot" / "config"
    share.mkdir(parents=True)
    (share / "own.yaml").write_text("a: 1")
    (share / "demo.yaml").write_text("not that of the source tree")
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join([str(tmp_path / "first"), "", str(tmp_path / "second")]))
    return tmp_path


def test_the_source_tree_comes_first(prefixes, root):
    assert share_path("config/demo.yaml") == root / "config" / "demo.yaml"


def test_a_prefix_has_what_the_source_tree_does_not(prefixes):
    assert share_path("config/own.yaml") == prefixes / "second" / "share" / "telerobot" / "config" / "own.yaml"


def test_a_folder_is_found_like_a_file(root):
    assert share_path("config/tasks") == root / "config" / "tasks"


def test_a_missing_file_is_rejected_with_every_place_that_was_searched(prefixes):
    with pytest.raises(ModelError) as caught:
        share_path("config/nothing.yaml")
    assert str(caught.value).startswith("config/nothing.yaml: not found in ")
    for prefix in ("first", "second"):
        assert str(prefixes / prefix / "share" / "telerobot") in str(caught.value)


def test_the_example_robots_are_a_folder_of_robots():
    assert (example_robot_data() / "robots").is_dir()
