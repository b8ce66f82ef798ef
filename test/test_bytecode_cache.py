"""A process that may leave no bytecode beside the sources keeps it in the user's cache folder."""

import os
import subprocess
import sys

import pytest

ASKED = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


def prefix(home, **environment):
    """What a new process that imports a module of the package has for `sys.pycache_prefix`."""
    code = "import telerobot_nodes.errors, sys; print(sys.pycache_prefix)"
    env = {key: value for key, value in os.environ.items() if key not in ASKED}
    env |= {"XDG_CACHE_HOME": str(home)} | environment
    return subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout[:-1]


@pytest.mark.lengthy
def test_bytecode_goes_to_the_cache_when_none_may_lie_beside_the_sources(tmp_path):
    assert prefix(tmp_path, PYTHONDONTWRITEBYTECODE="1") == str(tmp_path / "telerobot" / "bytecode")
    assert list(tmp_path.rglob("telerobot_nodes/errors.*.pyc"))


@pytest.mark.lengthy
@pytest.mark.parametrize("folder", ["", "named"])
def test_what_the_user_chose_stays(tmp_path, folder):
    named = str(tmp_path / folder)
    chosen = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": named} if folder else {}
    assert prefix(tmp_path / "home", **chosen) == (named if folder else "None")
    assert not (tmp_path / "home" / "telerobot" / "bytecode").exists()


def test_without_a_folder_to_write_to_python_parses_as_before(tmp_path):
    (tmp_path / "telerobot").write_text("a file where the folder would be")
    assert prefix(tmp_path, PYTHONDONTWRITEBYTECODE="1", NUMBA_CACHE_DIR=str(tmp_path)) == "None"
