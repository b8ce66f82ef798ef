"""`telerobot menu` without a graph: list, show, check; what is wrong is refused before anything starts."""

import json

import pytest

from telerobot_nodes.cli import main

MENU = """\
menu: mine
order: 1
doc: My own.
entries:
  - entry: touch
    doc: Touch it.
    primitive: move_to_touch
    values: {tr_rel_dest: [0, 0, 0.05, 0, 0, 0, 1]}
    form:
      way: {sets: tr_rel_dest.z, low: 0.01, high: 0.2, doc: longest way}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "menus").mkdir()
    (tmp_path / "menus" / "mine.yaml").write_text(MENU)
    return tmp_path / "menus"


def test_the_operators_own_menus_are_listed_with_the_broken_files(folder, capsys):
    assert main(["menu", "list"]) == 0
    assert "Touch it." in capsys.readouterr().out
    (folder / "bad.yaml").write_text(MENU.replace("sets:", "set:"))
    assert main(["menu", "list"]) == 1
    listed = capsys.readouterr().out
    assert "Touch it." in listed
    assert "bad.yaml:10:13: entries[0].form.way.set: unknown key; did you mean sets?" in listed


def test_the_packages_own_menus_are_listed_where_there_are_none(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["menu", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(word in listed for word in ("hinge", "slide", "screw", "insert", "level", "push", "translate"))


def test_a_form_is_shown_with_units_ranges_and_defaults(folder, capsys):
    assert main(["menu", "show", "touch"]) == 0
    assert "way = 0.05, allowed: 0.01 .. 0.2 [m]  longest way" in capsys.readouterr().out


def test_check_prints_what_would_be_sent(folder, capsys):
    assert main(["menu", "check", "mine/touch", "way=0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"mine/touch": {"tr_rel_dest": [0, 0, 0.1, 0, 0, 0, 1]}}
    assert main(["menu", "check"]) == 0
    assert "mine/touch  move_to_touch, 1 fields" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["check", "run"])
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["touch", "way=1"], "way: '1' is not allowed; allowed: 0.01 .. 0.2 [m]"),
        (["touch", "wya=0.1"], "allowed fields: way"),
        (["touch", "way"], "allowed: key=value"),
        (["tuch"], "did you mean mine/touch?"),
        (["touch", "--folder", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(folder, capsys, word, values, problem):
    assert main(["menu", word, *values]) == 2
    assert problem in capsys.readouterr().err
