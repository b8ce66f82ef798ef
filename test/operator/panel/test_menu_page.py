"""The menus of the panel: the tree leads to a form; what is typed is checked beside its field; presses are taken."""

import pytest

pytest.importorskip("python_qt_binding.QtWidgets", exc_type=ImportError)
from python_qt_binding.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QTreeWidget, QWidget

from telerobot_nodes.operator.forms import (
    AddLeaf,
    Form,
    FormField,
    MenuItem,
    Mode,
    Sort,
    StartLeaf,
    StopLeaf,
)

SPEED = FormField("speed", Sort.NUMBER, 0.05, "m/s", 1e-4, 0.25, "of the <tool>")
FELT = FormField("felt", Sort.FLAG, True)
KIND = FormField("mode", Sort.CHOICE, "tool", choices=("tool", "world"))
LEAF = MenuItem("straight", "move", form=Form((SPEED, FELT, KIND)))
MENUS = (
    MenuItem("guarded_motion", "free motion", (LEAF, MenuItem("deep", "", (LEAF,)))),
    MenuItem("grasp", "the gripper", (MenuItem("hold", form=Form()),)),
)


@pytest.fixture
def page(panel):
    panel.menus.show_menus(MENUS)
    return panel.menus


def choose(page, *names):
    tree = page.findChild(QTreeWidget)
    at = tree.invisibleRootItem()
    for name in names:
        at = next(at.child(k) for k in range(at.childCount()) if at.child(k).text(0) == name)
    tree.setCurrentItem(at)


def press(page, name):
    page.findChild(QPushButton, name).click()


def note(page, field):
    return page.findChild(QLabel, f"{field} note").text()


def lines(page):
    return page.findChild(QLabel, "menu_lines").text().splitlines()


def test_a_menu_has_no_form_and_a_leaf_its_own_fields_with_unit_meaning_and_range(page):
    choose(page, "guarded motion")
    assert page.findChild(QWidget, "speed") is None
    assert not page.findChild(QPushButton, "start_leaf").isEnabled()
    choose(page, "guarded motion", "straight")
    assert page.findChild(QLineEdit, "speed").text() == "0.05"
    assert page.findChild(QCheckBox, "felt").isChecked()
    assert note(page, "speed") == "of the <tool>; allowed: 0.0001 .. 0.25 [m/s]"
    choose(page, "grasp", "hold")
    assert page.findChild(QWidget, "speed") is None
    assert page.findChild(QPushButton, "start_leaf").isEnabled()


def test_what_is_typed_is_run_as_it_stands_in_the_fields_unless_a_stop_follows(page):
    choose(page, "guarded motion", "deep", "straight")
    page.findChild(QLineEdit, "speed").setText("0.2")
    page.findChild(QCheckBox, "felt").setChecked(False)
    page.findChild(QComboBox, "mode").setCurrentText("world")
    page.findChild(QLineEdit, "sequence").setText("pick")
    for mode in Mode:
        page.findChild(QComboBox, "menu mode").setCurrentText(mode.value)
        assert page.findChild(QPushButton, "start_leaf").text() == mode.verb
        assert page.findChild(QLabel, "moves").text() == mode.doc
        press(page, "start_leaf")
    press(page, "add_leaf")
    path, values = "guarded_motion/deep/straight", {"speed": "0.2", "felt": False, "mode": "world"}
    assert page.take() == [
        *(StartLeaf(path, values, mode) for mode in Mode),
        AddLeaf(path, values, "pick"),
    ]
    assert page.take() == []
    for name in ("start_leaf", "add_leaf", "stop_leaf"):  # what was started before a stop does not begin after it
        press(page, name)
    assert page.take() == [StopLeaf(), AddLeaf(path, values, "pick")]


def test_a_value_out_of_range_is_refused_beside_its_field_while_it_is_typed(page):
    choose(page, "guarded motion", "straight")
    page.findChild(QLineEdit, "speed").setText("0.<3")
    assert note(page, "speed") == "speed: '0.<3' is not allowed; allowed: 0.0001 .. 0.25 [m/s]"
    page.findChild(QLineEdit, "speed").setText("0.1")
    assert "is not allowed" not in note(page, "speed")


def test_refusals_of_the_robot_stand_beside_their_field_and_the_others_below(page):
    choose(page, "guarded motion", "straight")
    page.refuse("guarded_motion/straight", {"mode": "mode: not here", "": "no <sensor>"})
    assert note(page, "mode") == "mode: not here"
    assert lines(page) == ["no <sensor>"]
    page.refuse("guarded_motion/straight", {})
    assert "not here" not in note(page, "mode")
    page.refuse("grasp/hold", {"mode": "of another leaf"})
    assert lines(page)[0] == "of another leaf"


def test_what_runs_stands_above_the_latest_lines(page):
    for number in range(6):
        page.tell(f"line {number}")
    page.progress("straight: moving")
    assert lines(page) == ["straight: moving", "line 5", "line 4", "line 3", "line 2"]
    page.progress("")
    assert lines(page)[0] == "line 5"


def test_edited_menus_keep_the_chosen_leaf_if_it_is_left(page):
    choose(page, "guarded motion", "straight")
    page.show_menus((MenuItem("first", "", ()), *MENUS))
    press(page, "start_leaf")
    assert page.take()[0].path == "guarded_motion/straight"
    page.show_menus(MENUS[1:])
    assert not page.findChild(QPushButton, "start_leaf").isEnabled()
