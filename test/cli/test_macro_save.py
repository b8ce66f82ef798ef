"""`telerobot macro save`: commands of the language become a file that is listed, checked and kept."""

import pytest

from telerobot_nodes.cli import main

RAISE = "define raise(arm) as { move arm by 5 cm up }"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "macros"


def test_a_define_becomes_a_file_and_takes_numbers(folder, capsys):
    assert main(["macro", "save", RAISE, "arm=left_arm"]) == 0
    assert "move_by = 0.05, allowed: 0 .. 0.1 [m]" in capsys.readouterr().out
    assert main(["macro", "check", "raise", "move_by=0.08"]) == 0
    assert main(["macro", "check", "raise", "move_by=0.8"]) != 0
    assert "allowed: 0 .. 0.1 [m]" in capsys.readouterr().err


def test_a_macro_of_this_name_is_kept_unless_it_shall_be_replaced(folder, capsys):
    assert main(["macro", "save", RAISE, "arm=left_arm"]) == 0
    before = (folder / "raise.yaml").read_text()
    assert main(["macro", "save", RAISE, "arm=right_arm"]) != 0
    assert "--replace" in capsys.readouterr().err
    assert (folder / "raise.yaml").read_text() == before
    assert main(["macro", "save", RAISE, "arm=right_arm", "--replace"]) == 0
    assert "version 2, 1 steps" in capsys.readouterr().out
    assert "right_arm" in (folder / "raise.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [([RAISE], "arm=NAME"), (["move left_arm up", "--name", "up"], "cannot stand here"), (["status"], "name")],
)
def test_what_cannot_be_saved_writes_nothing(folder, capsys, words, problem):
    assert main(["macro", "save", *words]) != 0
    assert problem in capsys.readouterr().err
    assert not folder.exists()
