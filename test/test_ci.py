"""What CI does after a failure: only tests marked `timing` run once more, and each of them gives its reason."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FLAG = "from pathlib import Path\nimport pytest\n"
LATE = (
    FLAG
    + """
@pytest.mark.timing("meets a deadline of 1 ms")
def test_late():
    flag = Path(__file__).with_name("once")
    first = not flag.exists()
    flag.touch()
    assert not first
"""
)
WRONG = "def test_wrong():\n    assert False\n"


def marks_without_reason(text):
    """Lines on which `timing` is used without a sentence as its argument."""
    tree = ast.parse(text)
    is_mark = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n) == "pytest.mark.timing"]
    reasoned = [
        call.func
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Constant)
        and len(str(call.args[0].value).split()) >= 3
    ]
    return [mark.lineno for mark in is_mark if not any(mark is func for func in reasoned)]


@pytest.mark.lengthy
def test_every_test_marked_timing_gives_its_reason(root):
    for path in (root / "test").rglob("*.py"):
        text = path.read_text()
        if path != Path(__file__) and "mark.timing" in text:
            assert not marks_without_reason(text), path


@pytest.mark.parametrize("mark", ["pytest.mark.timing", "pytest.mark.timing()", "pytest.mark.timing('late')"])
def test_a_mark_without_a_sentence_is_found(mark):
    assert marks_without_reason(f"import pytest\n\n@{mark}\ndef test(): pass\n") == [3]


def test_a_mark_with_a_sentence_is_accepted():
    assert not marks_without_reason("import pytest\n\n@pytest.mark.timing('sleeps 5 ms')\ndef test(): pass\n")


@pytest.fixture
def project(root, tmp_path, monkeypatch):
    """A project of its own with CI's script, and what `make test` leaves in it."""

    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they only take time here

    def make(graphs=True, **files):
        shutil.copytree(root / ".ci", tmp_path / ".ci")
        (tmp_path / ".venv").symlink_to(sys.prefix)
        (tmp_path / "build" / "tests").mkdir(parents=True)
        if graphs:
            (tmp_path / "build" / "tests" / "graphs.xml").touch()
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    timing(reason): late\n")
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        with (tmp_path / "build" / "tests" / "test.log").open("w") as log:
            command = [sys.executable, "-m", "pytest", "--junitxml=build/tests/units.xml"]
            assert subprocess.run(command, cwd=tmp_path, stdout=log, check=False).returncode == 1
        done = subprocess.run(
            [sys.executable, ".ci/again.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()

    return make


@pytest.mark.lengthy
def test_a_late_test_runs_once_more_and_its_first_failure_is_kept(project, tmp_path):
    code, lines = project(test_late=LATE)
    assert code == 0
    assert lines[0] == "ci: 1 failed at the first try; kept in build/tests/first-failure"
    assert lines[1] == "ci:   test_late.py::test_late"
    assert "1 passed" in lines[-1]
    assert 'failures="1"' in (tmp_path / "build/tests/first-failure/units.xml").read_text()


@pytest.mark.lengthy
def test_a_wrong_test_fails_beside_a_late_one(project):
    code, lines = project(test_late=LATE, test_wrong=WRONG)
    assert code == 1
    assert lines[0].startswith("ci: 2 failed")
    assert lines[-1].startswith("=")


@pytest.mark.nightly
@pytest.mark.lengthy
def test_a_late_test_that_fails_twice_fails(project):
    code, lines = project(test_late=LATE.replace("flag.touch()", "pass"))
    assert code == 1
    assert "1 failed" in lines[-1]


@pytest.mark.lengthy
def test_a_run_that_was_cut_off_fails_whatever_else_is_late(project):
    code, lines = project(graphs=False, test_late=LATE)
    assert code == 1
    assert "ci: the run that writes graphs.xml did not come to its end" in lines
