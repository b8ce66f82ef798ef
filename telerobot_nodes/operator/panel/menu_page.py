"""The menus in the panel: a tree of menus, and the form of the chosen leaf with each refusal beside its field."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from python_qt_binding.QtCore import Qt
from python_qt_binding.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from telerobot_nodes.operator.forms import (
    AddLeaf,
    Asked,
    FormField,
    MenuItem,
    Mode,
    Sort,
    StartLeaf,
    StopLeaf,
    stops_first,
)

LINES = 4  # shown of what was told
REFUSED = "color: #b3191e; font-weight: bold"
MOVES = "color: #9a6200; font-weight: bold"
PATH = Qt.UserRole


class MenuPage(QWidget):
    """Shows the menus and forms of a `MenuRunner`; keeps what a person asks for until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._items: tuple[MenuItem, ...] = ()
        self._asked: list[Asked] = []
        self._lines: deque[str] = deque(maxlen=LINES)
        self._now = ""
        self._form: _LeafForm | None = None
        self._tree = QTreeWidget()
        self._tree.setObjectName("menus")
        self._tree.setHeaderLabels(["menu", "what it does"])
        self._tree.currentItemChanged.connect(lambda _now, _before: self._choose())
        self._place = QScrollArea()
        self._place.setWidgetResizable(True)
        self._mode = QComboBox()
        self._mode.setObjectName("menu mode")
        self._mode.addItems([mode.value for mode in Mode])
        self._mode.currentTextChanged.connect(lambda _text: self._show_mode())
        self._moves = _words("moves")
        self._start = _button("start_leaf", Mode.SETUP.verb, self._press_start)
        self._stop = _button("stop_leaf", "stop motion", self._press_stop)
        self._add = _button("add_leaf", "add to the sequence", self._press_add)
        self._sequence = QLineEdit("sequence")
        self._sequence.setObjectName("sequence")
        self._told = _words("menu_lines")
        buttons = QHBoxLayout()
        for button in (self._start, self._stop):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        modes = QHBoxLayout()
        for widget in (QLabel("menu mode"), self._mode):
            modes.addWidget(widget)
        modes.addStretch(1)
        layout.addLayout(modes)
        layout.addWidget(self._moves)
        layout.addWidget(self._tree, 2)
        layout.addWidget(self._place, 3)
        layout.addLayout(buttons)
        sequence = QHBoxLayout()
        for widget in (self._sequence, self._add):
            sequence.addWidget(widget)
        layout.addLayout(sequence)
        layout.addWidget(self._told)
        self._choose()
        self._show_mode()

    def show_menus(self, items: tuple[MenuItem, ...]) -> None:
        """Show these menus; the chosen one stays chosen, if it is left."""
        if items == self._items:
            return
        self._items = items
        path = self._path()
        self._tree.clear()
        for item in items:
            self._tree.addTopLevelItem(_branch(item, ""))
        self._tree.resizeColumnToContents(0)
        for branch in _branches(self._tree.invisibleRootItem()):
            if branch.data(0, PATH) == path:
                self._tree.setCurrentItem(branch)

    def take(self) -> list[Asked]:
        """What is to be added, started and stopped, since the last call."""
        asked, self._asked = self._asked, []
        return stops_first(asked)

    def refuse(self, path: str, refusals: Mapping[str, str]) -> None:
        """Show why a leaf does not run, each reason beside its field; what belongs to none, below."""
        shown = self._form.refuse(refusals) if self._form is not None and path == self._path() else set()
        for name, reason in refusals.items():
            if name not in shown:
                self.tell(reason)

    def tell(self, text: str, colour: str = "") -> None:
        """Add a line; the words tell what `colour` would."""
        self._lines.appendleft(text)
        self._show_lines()

    def progress(self, text: str) -> None:
        """Show what runs now; empty: nothing does."""
        if text != self._now:
            self._now = text
            self._show_lines()

    def _show_lines(self) -> None:
        self._told.setText("\n".join((*([self._now] if self._now else []), *self._lines)))

    def _path(self) -> str:
        chosen = self._tree.currentItem()
        return str(chosen.data(0, PATH)) if chosen is not None else ""

    def _choose(self) -> None:
        item = _item_at(self._items, self._path())
        self._form = _LeafForm(item.doc, item.form.fields) if item is not None and item.form is not None else None
        self._place.setWidget(self._form or QLabel("choose a motion"))
        for button in (self._start, self._add):
            button.setEnabled(self._form is not None)

    def _show_mode(self) -> None:
        mode = Mode(self._mode.currentText())
        self._start.setText(mode.verb)
        self._moves.setText(mode.doc)
        self._moves.setStyleSheet(MOVES if mode is Mode.EXECUTION else "")

    def _press_start(self) -> None:
        if self._form is not None:
            self._asked.append(StartLeaf(self._path(), self._form.typed(), Mode(self._mode.currentText())))

    def _press_add(self) -> None:
        if self._form is not None:
            self._asked.append(AddLeaf(self._path(), self._form.typed(), self._sequence.text()))

    def _press_stop(self) -> None:
        self._asked.append(StopLeaf())


class _LeafForm(QWidget):
    """The fields of one leaf; below each stands what is allowed, or why it is refused."""

    def __init__(self, doc: str, fields: tuple[FormField, ...]) -> None:
        super().__init__()
        self._rows: dict[str, tuple[FormField, QLabel, Callable[[], object]]] = {}
        layout = QFormLayout(self)
        layout.addRow(_words("leaf_doc", doc))
        for field in fields:
            widget, read, changed = _widget(field)
            widget.setObjectName(field.name)
            note = _words(f"{field.name} note")
            _allow(note, field)
            self._rows[field.name] = (field, note, read)
            changed.connect(lambda *_, name=field.name: self._check(name))
            layout.addRow(field.label, widget)
            layout.addRow(note)

    def typed(self) -> dict[str, object]:
        """What the fields hold, by name."""
        return {name: read() for name, (_, _, read) in self._rows.items()}

    def refuse(self, refusals: Mapping[str, str]) -> set[str]:
        """Show these reasons; the names of the fields that are here."""
        for name, (field, note, _) in self._rows.items():
            if name in refusals:
                _refuse(note, refusals[name])
            else:
                _allow(note, field)
        return set(refusals) & set(self._rows)

    def _check(self, name: str) -> None:
        field, note, read = self._rows[name]
        try:
            field.read(read())
            _allow(note, field)
        except ValueError as error:
            _refuse(note, str(error))


def _widget(field: FormField) -> tuple[QWidget, Callable[[], object], Any]:
    """The widget of a field, how it is read, and its signal of a change."""
    if field.sort is Sort.FLAG:
        box = QCheckBox()
        box.setChecked(bool(field.default))
        return box, box.isChecked, box.toggled
    if field.sort is Sort.CHOICE:
        choice = QComboBox()
        choice.addItems(field.choices)
        choice.setCurrentText(str(field.default))
        return choice, choice.currentText, choice.currentTextChanged
    line = QLineEdit(field.text())
    return line, line.text, line.textChanged


def _allow(note: QLabel, field: FormField) -> None:
    note.setStyleSheet("")
    note.setText("; ".join(filter(None, (field.doc, field.allowed))))


def _refuse(note: QLabel, reason: str) -> None:
    note.setStyleSheet(REFUSED)
    note.setText(reason)


def _branch(item: MenuItem, above: str) -> QTreeWidgetItem:
    path = f"{above}/{item.name}" if above else item.name
    branch = QTreeWidgetItem([item.title, item.doc])
    branch.setData(0, PATH, path)
    for inner in item.items:
        branch.addChild(_branch(inner, path))
    return branch


def _branches(above: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for number in range(above.childCount()):
        yield above.child(number)
        yield from _branches(above.child(number))


def _item_at(items: tuple[MenuItem, ...], path: str) -> MenuItem | None:
    """The menu or leaf of this path; None: there is none."""
    found: MenuItem | None = None
    for name in path.split("/"):
        found = next((item for item in items if item.name == name), None)
        if found is None:
            return None
        items = found.items
    return found


def _words(name: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.PlainText)
    return label


def _button(name: str, text: str, press: Callable[[], None]) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.clicked.connect(lambda _checked: press())
    return button
