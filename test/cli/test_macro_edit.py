"""`telerobot macro edit`: the file changes only when what the editor left can run; what cannot is kept."""

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from telerobot_nodes.cli import main
from telerobot_nodes.core.config import share_path
from telerobot_nodes.macros import read_macros

MACRO = """\
macro: back
version: 3
doc: Move back.  # as far as it is safe
motion: relative
steps:
  - {step: go, primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, -0.05, 0, 0, 0, 1]}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "macros").mkdir()
    (tmp_path / "macros" / "back.yaml").write_text(MACRO)
    return tmp_path / "macros"


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """Sets an editor that replaces one text by another, or fails."""

    def use(old="", new="", code=0, also=""):
        program = tmp_path / "editor.py"
        program.write_text(
            "import sys\nfrom pathlib import Path\nfile = Path(sys.argv[1])\n"
            f"file.write_text(file.read_text().replace({old!r}, {new!r}))\n{also}\nraise SystemExit({code})\n"
        )
        monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(program)]))

    return use


def test_a_right_change_replaces_the_file_with_its_comments(folder, editor, capsys):
    editor("-0.05", "-0.07")
    assert main(["macro", "edit", "back"]) == 0
    assert "back.yaml: 1 steps" in capsys.readouterr().out
    assert (folder / "back.yaml").read_text() == MACRO.replace("-0.05", "-0.07")
    assert sorted(file.name for file in folder.iterdir()) == ["back.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("version", "verison", "back.yaml:2:1: verison"),
        ("tr_rel_dest", "tr_rel_dst", "tr_rel_dst"),
        ("macro: back", "macro: forth", "forth"),
    ],
)
def test_a_draft_that_cannot_run_leaves_the_file_and_is_kept(folder, editor, capsys, old, new, problem):
    editor(old, new)
    assert main(["macro", "edit", "back"]) == 1
    printed = capsys.readouterr()
    assert problem in printed.err
    assert (folder / "back.yaml").read_text() == MACRO
    kept = Path(printed.out.strip().rpartition("your draft: ")[2])
    assert kept.read_text() == MACRO.replace(old, new)


def test_an_editor_that_fails_leaves_the_file(folder, editor, capsys):
    editor("-0.05", "-0.07", code=3)
    assert main(["macro", "edit", "back"]) == 1
    assert "exit status 3" in capsys.readouterr().err
    assert (folder / "back.yaml").read_text() == MACRO


@pytest.mark.parametrize("theirs", [MACRO.replace("0.05", "0.03"), None])
def test_a_file_that_somebody_changed_meanwhile_is_left_and_the_draft_is_kept(folder, editor, capsys, theirs):
    file = folder / "back.yaml"
    change = f"write_text({theirs!r})" if theirs else "unlink()"
    editor("-0.05", "-0.07", also=f"Path({str(file)!r}).{change}")
    assert main(["macro", "edit", "back"]) == 1
    assert (file.read_text() if theirs else file.exists()) == (theirs or False)
    told, _, draft = capsys.readouterr().err.strip().partition("; your draft: ")
    assert "was changed meanwhile" in told
    assert Path(draft).read_text() == MACRO.replace("-0.05", "-0.07")


def test_a_draft_that_the_editor_deletes_is_not_told_as_kept(folder, editor, capsys):
    editor(also="file.unlink()")
    assert main(["macro", "edit", "back"]) == 1
    assert "your draft: none" in capsys.readouterr().out
    assert (folder / "back.yaml").read_text() == MACRO


def test_a_draft_that_cannot_run_is_opened_again_on_a_terminal(folder, tmp_path):
    """A real terminal: the editor makes a mistake first, the person answers yes, then it is right; then gives up."""
    program, count = tmp_path / "editor.py", tmp_path / "count"
    program.write_text(
        "import sys\nfrom pathlib import Path\n"
        f"file, count = Path(sys.argv[1]), Path({str(count)!r})\n"
        "times = len(count.read_text()) if count.exists() else 0\ncount.write_text('x' * (times + 1))\n"
        "old, new = ('version', 'verison') if times % 2 == 0 else ('verison: 3', 'version: 4')\n"
        "file.write_text(file.read_text().replace(old, new))\n"
    )
    environment = {**os.environ, "VISUAL": shlex.join([sys.executable, str(program)])}
    for answer, wanted, version in (("y", 0, "version: 4"), ("n", 1, "version: 4")):
        assert on_a_terminal(["macro", "edit", "back"], answer, environment, "edit it again?") == wanted
        assert version in (folder / "back.yaml").read_text()
        assert "verison" not in (folder / "back.yaml").read_text()


def on_a_terminal(words, answer, environment, question):
    """Exit code of a command in a terminal of its own, where a person answers the question."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "telerobot_nodes", *words]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while question.encode() not in shown:
            shown += os.read(ours, 4096)
        os.write(ours, f"{answer}\n".encode())
        code = process.wait(60.0)
    os.close(ours)
    return code


def test_nothing_changed_is_said(folder, editor, capsys):
    editor()
    assert main(["macro", "edit", "back"]) == 0
    assert "is as it was" in capsys.readouterr().out


def test_a_new_name_begins_with_a_macro_that_runs(folder, editor, capsys):
    editor()
    assert main(["macro", "edit", "fresh"]) == 0
    assert read_macros(folder).get("fresh").steps


def test_an_example_is_copied_before_it_is_changed(tmp_path, monkeypatch, editor):
    monkeypatch.chdir(tmp_path)
    example = share_path("config/macros/back_off.yaml")
    shipped = example.read_text()
    editor("version: 1", "version: 2")
    assert main(["macro", "edit", "back_off"]) == 0
    assert example.read_text() == shipped
    assert read_macros(tmp_path / "macros").get("back_off").version == 2


def test_a_macro_may_use_others_of_its_folder(folder, editor):
    editor("primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, -0.05, 0, 0, 0, 1]}", "macro: other")
    (folder / "other.yaml").write_text(MACRO.replace("macro: back", "macro: other"))
    assert main(["macro", "edit", "back"]) == 0
    assert "macro: other" in (folder / "back.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "visual", "problem"),
    [
        ("no name", None, "allowed: letters, digits and _"),
        ("back", "no_such_editor -w", "allowed: a program"),
        ("back", "'", "allowed: a program"),
    ],
)
def test_a_wrong_name_and_a_missing_editor_are_refused(folder, editor, capsys, monkeypatch, name, visual, problem):
    editor()
    if visual:
        monkeypatch.setenv("VISUAL", visual)
    assert main(["macro", "edit", name]) != 0
    assert problem in capsys.readouterr().err
