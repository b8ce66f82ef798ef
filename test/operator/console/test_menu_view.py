"""The console's menus: level by level to a form; what is typed is checked beside its field; presses are taken."""

import pytest

from telerobot_nodes.operator.console import MenuView
from telerobot_nodes.operator.console.menu_view import BACK, MODE, MOST_WAITING, SEQUENCE, STOP
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

SPEED = FormField("speed", Sort.NUMBER, 0.05, "m/s", 1e-4, 0.25, "of the tool")
FELT = FormField("felt", Sort.FLAG, True)
KIND = FormField("mode", Sort.CHOICE, "tool", choices=("tool", "world"))
LEAF = MenuItem("straight", "move <straight>", form=Form((SPEED, FELT, KIND)))
MENUS = (
    MenuItem("guarded_motion", "free motion", (LEAF, MenuItem("deep", "", (LEAF,)))),
    MenuItem("grasp", "the gripper", (MenuItem("hold", form=Form()),)),
)


class Widget:
    def __init__(self, gui, label, value):
        self.gui, self.label, self.value, self.content, self.visible = gui, label, value, value, True
        self.inside = list(gui.open)

    def on_click(self, callback):
        self.press = lambda: callback(None)

    def on_update(self, callback):
        self.updated = lambda: callback(None)


class Folder(Widget):
    def __enter__(self):
        self.gui.open.append(self)

    def __exit__(self, *_):
        self.gui.open.pop()

    def remove(self):
        self.gui.widgets = [one for one in self.gui.widgets if one is not self and self not in one.inside]


class Gui:
    """Widgets without a browser; a folder that is removed takes what is in it with it."""

    def __init__(self):
        self.widgets, self.open = [], []

    def _add(self, widget):
        self.widgets.append(widget)
        return widget

    def add_folder(self, label):
        return self._add(Folder(self, label, None))

    def add_html(self, content, order=None):
        return self._add(Widget(self, "html", content))

    def add_button(self, label, color=None, hint=None, visible=True):
        button = self._add(Widget(self, label, False))
        button.visible = visible
        return button

    def add_text(self, label, value, hint=None):
        return self._add(Widget(self, label, value))

    add_checkbox = add_text

    def add_dropdown(self, label, options, initial_value, hint=None):
        return self._add(Widget(self, label, initial_value))

    def __getitem__(self, label):
        return next(widget for widget in self.widgets if widget.label == label)

    @property
    def labels(self):
        shown = (widget.label for widget in self.widgets if widget.visible)
        return [label for label in shown if label not in ("html", "Menu", MODE, None)]

    @property
    def shown(self):
        return "".join(widget.content for widget in self.widgets if widget.label == "html")


@pytest.fixture
def gui():
    return Gui()


@pytest.fixture
def view(gui):
    view = MenuView(gui)
    view.show_menus(MENUS)
    return view


def go(gui, view, *labels):
    for label in labels:
        gui[label].press()
        assert view.take() == []


def test_each_level_has_its_own_buttons_and_a_way_back(gui, view):
    assert gui.labels == ["guarded motion", "grasp"]
    go(gui, view, "guarded motion")
    assert gui.labels == [BACK, "straight", "deep"]
    go(gui, view, "deep", BACK, BACK)
    assert gui.labels == ["guarded motion", "grasp"]


def test_a_leaf_shows_its_fields_with_unit_meaning_and_range_only(gui, view):
    go(gui, view, "guarded motion", "straight")
    fields, add = ["speed [m/s]", "felt", "mode"], "add straight to the sequence"
    assert gui.labels == [
        BACK,
        *fields,
        "check straight",
        STOP,
        "sequence",
        add,
    ]
    assert "of the tool; allowed: 0.0001 .. 0.25 [m/s]" in gui.shown
    assert "move &lt;straight&gt;" in gui.shown


def test_what_is_typed_is_run_as_it_stands_in_the_fields(gui, view):
    go(gui, view, "guarded motion", "deep", "straight")
    gui["speed [m/s]"].value, gui["mode"].value = "0.2", "world"
    for mode in Mode:
        gui[f"{mode.verb} straight"].press()
    path, typed = "guarded_motion/deep/straight", {"speed": "0.2", "felt": True, "mode": "world"}
    assert view.take() == [StartLeaf(path, typed, mode) for mode in Mode]
    assert view.take() == []


@pytest.mark.parametrize("mode", Mode)
def test_a_leaf_has_the_button_of_the_mode_only_and_what_moves_is_told(gui, view, mode):
    starts = {f"{mode.verb} straight" for mode in Mode}
    go(gui, view, "guarded motion", "straight")
    assert starts & set(gui.labels) == {"check straight"}
    assert Mode.SETUP.doc in gui.shown
    gui[MODE].value = mode.value
    gui[MODE].updated()
    assert view.take() == []
    for leaf in ("straight", "deep"):  # the mode stays with the next leaf
        assert starts & set(gui.labels) == {f"{mode.verb} straight"}
        assert mode.doc in gui.shown
        go(gui, view, BACK, *(("deep", "straight") if leaf == "straight" else ()))


def test_a_leaf_is_added_to_the_sequence_whose_name_stands_there_also_from_the_next_leaf(gui, view):
    go(gui, view, "grasp", "hold")
    gui["add hold to the sequence"].press()
    gui["sequence"].value = "pick"
    gui["add hold to the sequence"].press()
    assert view.take() == [AddLeaf("grasp/hold", {}, SEQUENCE), AddLeaf("grasp/hold", {}, "pick")]
    go(gui, view, BACK, BACK, "guarded motion", "straight")
    assert gui["sequence"].value == "pick"
    assert view.take() == []


def test_a_value_out_of_range_is_refused_beside_its_field_while_it_is_typed(gui, view):
    go(gui, view, "guarded motion", "straight")
    gui["speed [m/s]"].value = "0.<3"
    gui["speed [m/s]"].updated()
    view.take()
    note = gui.widgets[gui.widgets.index(gui["speed [m/s]"]) + 1]
    assert "speed: &#x27;0.&lt;3&#x27; is not allowed; allowed: 0.0001 .. 0.25 [m/s]" in note.content
    gui["speed [m/s]"].value = "0.1"
    gui["speed [m/s]"].updated()
    view.take()
    assert "is not allowed" not in gui.shown


def test_refusals_of_the_robot_stand_beside_their_field_and_the_others_below(gui, view):
    go(gui, view, "guarded motion", "straight")
    view.refuse("guarded_motion/straight", {"mode": "mode: not here", "": "no <sensor>"})
    note = gui.widgets[gui.widgets.index(gui["mode"]) + 1]
    assert "mode: not here" in note.content
    assert "no &lt;sensor&gt;" in gui.shown
    view.refuse("guarded_motion/straight", {})
    assert "mode: not here" not in gui.shown
    view.refuse("grasp/hold", {"mode": "of another leaf"})
    assert "of another leaf" not in note.content
    assert "of another leaf" in gui.shown


def test_a_stop_always_fits_and_what_was_started_before_it_does_not_begin(gui, view):
    go(gui, view, "guarded motion", "straight")
    gui["add straight to the sequence"].press()
    for _ in range(2 * MOST_WAITING):
        gui["run straight"].press()
    gui[STOP].press()
    stopped, added = view.take()
    assert stopped == StopLeaf()
    assert isinstance(added, AddLeaf)
    gui[STOP].press()
    gui["run straight"].press()
    stopped, started = view.take()
    assert stopped == StopLeaf()
    assert isinstance(started, StartLeaf)


def test_edited_menus_leave_the_person_where_he_is_if_that_is_left(gui, view):
    go(gui, view, "guarded motion", "straight")
    gui["speed [m/s]"].value = "0.2"
    view.show_menus(MENUS)
    assert gui["speed [m/s]"].value == "0.2"  # nothing has changed
    view.show_menus((MenuItem("guarded_motion", "edited", (LEAF,)),))
    assert "check straight" in gui.labels
    view.show_menus(MENUS[1:])
    assert gui.labels == ["grasp"]


def test_a_press_that_came_too_late_changes_nothing(gui, view):
    first = gui["grasp"]
    go(gui, view, "guarded motion")
    first.press()  # of another browser, on the level above
    assert view.take() == []
    assert gui.labels == [BACK, "straight", "deep"]


def test_progress_stands_above_what_was_told(gui, view):
    view.tell("> grasp/hold")
    view.progress("grasp/hold: nominal, 1.0 s")
    assert gui.shown.index("nominal") < gui.shown.index("&gt; grasp/hold")
    view.progress("")
    assert "nominal" not in gui.shown
