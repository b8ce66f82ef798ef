"""Sequences built leaf by leaf: a macro of the operator's own folder, a menu of its own, edits of the person kept."""

import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import read_macros
from telerobot_nodes.menus import add_step, read_menus, sequence_folder

HEAD = "menu: m\norder: 1\ndoc: d\nentries:\n"
LEAVES = """\
  - entry: up
    doc: Move up.
    primitive: cartesian_guarded
    values: {tr_rel_dest: [0, 0, -0.05, 0, 0, 0, 1]}
    form: {way: {sets: tr_rel_dest.z}}
  - entry: home
    doc: Move home.
    primitive: joint_guarded
    form: {turn: {sets: joint_dest}}
  - {entry: away, doc: d, macro: away}
"""
AWAY = """\
macro: away
version: 1
doc: Off.
motion: relative
steps:
  - {step: go, primitive: free_grasp, values: {grip_width: 0.05}, accept: [opened, blocked]}
"""


@pytest.fixture
def menus(write):
    macros = write.folder.parent / "macros"
    macros.mkdir()
    (macros / "away.yaml").write_text(AWAY)
    found = write(m=HEAD + LEAVES)
    assert found.broken == {}
    assert "sequences" not in found.menus  # a menu names the only macro
    return found


def add(menus, path, name="pick", **typed):
    leaf = menus.leaf(path)
    return add_step(sequence_folder(menus.folder), name, leaf, leaf.fill(typed), menus.robot)


def test_leaves_become_the_steps_of_a_macro_that_then_stands_in_a_menu(menus):
    assert [add(menus, "m/up", way="-0.03"), add(menus, "m/away"), add(menus, "m/up")] == [1, 2, 3]
    assert menus.edited
    again = menus.reread()
    leaf = again.leaf("sequences/pick")
    assert leaf.fill({}) == {}
    steps = leaf.macros.get("pick").steps
    assert [step.primitive or step.macro for step in steps] == ["cartesian_guarded", "away", "cartesian_guarded"]
    assert [step.values.get("tr_rel_dest", [0] * 3)[2] for step in steps] == [-0.03, 0, -0.05]
    assert [item.name for item in again.items] == ["m", "sequences"]


def test_what_the_person_wrote_stays(menus):
    add(menus, "m/up")
    file = sequence_folder(menus.folder) / "pick.yaml"
    mine = file.read_text().replace("version: 1", "version: 2  # slower") + "\n# the end\n"
    file.write_text(mine)
    assert add(menus, "m/away") == 2
    assert file.read_text().startswith(mine.rstrip())


def test_a_step_that_was_taken_out_leaves_a_name_for_the_next(menus):
    for _ in range(3):
        add(menus, "m/up")
    file = sequence_folder(menus.folder) / "pick.yaml"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:-3] + lines[-2:]))  # without the first step
    assert add(menus, "m/up") == 3


def test_what_would_not_run_is_refused_and_the_file_stays(menus):
    add(menus, "m/up")
    file = sequence_folder(menus.folder) / "pick.yaml"
    before = file.read_text()
    with pytest.raises(InvalidValueError, match=r"not added: .*relative; allowed: tr_rel_dest"):
        add(menus, "m/home")
    assert file.read_text() == before
    assert add(menus, "m/home", "place") == 1  # a sequence of its own that begins at a place
    assert add(menus, "m/up", "place") == 2
    file.write_text("steps: [")
    with pytest.raises(InvalidValueError, match="not added"):
        add(menus, "m/up")
    assert file.read_text() == "steps: ["
    assert not list(file.parent.glob("*.new"))


@pytest.mark.parametrize("name", ["", "Pick", "../pick", "a b", "1", "pick.yaml"])
def test_a_name_that_is_no_word_is_refused(menus, name):
    with pytest.raises(InvalidValueError, match=r"sequence: .*small letters"):
        add(menus, "m/up", name)


def test_a_macro_cannot_hold_itself(menus):
    with pytest.raises(InvalidValueError, match="cycle"):
        add(menus, "m/away", "away")


def test_with_the_package_s_menus_sequences_are_in_the_working_folder(shipped, tmp_path, monkeypatch, arm):
    monkeypatch.chdir(tmp_path)
    assert add(shipped, "guarded_motion/straight") == 1
    assert [*read_macros(tmp_path / "macros").macros] == ["pick"]
    assert read_menus(share_path("config/menus"), arm).leaf("pick").path == "sequences/pick"
    with pytest.raises(InvalidValueError, match="no macro is called 'back_off'"):
        add(shipped, "macros/back_off")
