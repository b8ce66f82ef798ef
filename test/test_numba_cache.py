"""The cache of compiled functions belongs to the sources it was made from."""

import os
import subprocess
import sys

from telerobot_nodes import _numba_cache as compiled


def test_a_change_in_any_compiled_source_means_another_cache(tmp_path, monkeypatch):
    source = tmp_path / "telerobot_nodes" / "core" / "kernel.py"
    source.parent.mkdir(parents=True)
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "telerobot_nodes" / "compiled.py"))
    source.write_text("import numba\nx = 1\n")
    first = compiled.cache_folder()
    source.write_text("import numba\nx = 2\n")
    second = compiled.cache_folder()
    (source.parent / "plain.py").write_text("x = 1\n")
    assert first != second == compiled.cache_folder()


def test_a_copy_of_the_package_elsewhere_has_a_cache_of_its_own(tmp_path, monkeypatch):
    """Numba keeps compiled code under the path of its source: a copy would find nothing there."""
    folders = []
    for name in ("one", "other"):
        source = tmp_path / name / "telerobot_nodes" / "kernel.py"
        source.parent.mkdir(parents=True)
        source.write_text("import numba\n")
        monkeypatch.setattr(compiled, "__file__", str(source.with_name("compiled.py")))
        folders.append(compiled.cache_folder())
    assert folders[0] != folders[1]


def _folder(**environment):
    code = "import telerobot_nodes, os; print(os.environ.get('NUMBA_CACHE_DIR', ''))"
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"} | environment
    return subprocess.run(
        [sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_importing_the_package_names_the_cache_before_numba_is_imported(tmp_path):
    assert _folder(XDG_CACHE_HOME=str(tmp_path)).startswith(str(tmp_path / "telerobot"))


def test_a_cache_the_user_named_is_kept():
    assert _folder(NUMBA_CACHE_DIR="somewhere") == "somewhere"


def test_without_a_place_to_write_the_package_still_imports(tmp_path):
    (tmp_path / "file").write_text("")
    assert _folder(XDG_CACHE_HOME=str(tmp_path / "file")) == ""
