"""The folder that outlives a graph."""

import os
import subprocess
import sys

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.runtime.state_folder import StateFolder


def test_a_missing_folder_is_made_and_stays(tmp_path):
    state = StateFolder(tmp_path / "cell" / "state")
    assert state.made
    (state.folder / "arm.journal").write_text("kept")
    state.close()
    state.close()
    again = StateFolder(tmp_path / "cell" / "state")
    assert not again.made
    assert (again.folder / "arm.journal").read_text() == "kept"
    again.close()


def test_without_a_folder_there_is_a_temporary_one():
    state = StateFolder(None)
    assert state.folder.is_dir()
    state.close()
    assert not state.folder.exists()


def test_a_place_that_cannot_be_a_folder_is_refused_by_name(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidValueError, match=r"state: .*file.* is not allowed; allowed: a folder that can be") as no:
        StateFolder(tmp_path / "file" / "state")
    assert no.value.field == "state"


def test_two_graphs_do_not_share_a_folder(tmp_path):
    state = StateFolder(tmp_path)
    with pytest.raises(InvalidValueError, match="that no running graph uses"):
        StateFolder(tmp_path, gives_up=lambda: True)
    state.close()
    StateFolder(tmp_path, gives_up=lambda: True).close()


def test_a_folder_is_free_only_when_the_last_node_has_ended(tmp_path):
    state = StateFolder(tmp_path)
    node = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, pass_fds=state.descriptors)
    os.close(state.descriptors[0])  # the supervisor is killed
    with pytest.raises(InvalidValueError):
        StateFolder(tmp_path, gives_up=lambda: True)
    node.communicate(b"\n")
    StateFolder(tmp_path, gives_up=lambda: True).close()
