"""The console's menus: a list of buttons on each level, and the form of the chosen leaf with each refusal in its place.

Callbacks of a browser only add what was pressed; the node's thread takes it and shows what follows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from html import escape
from typing import Any

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
from telerobot_nodes.operator.scene import palette

MOST_WAITING = 32  # presses; a person cannot press faster than the node takes them
LINES = 4  # shown of what was told
INSET = "padding:0 0.8em 0.3em;font-size:0.8em;line-height:1.3"
TWO_LINES = "min-height:2.6em"  # kept below each field, so that a refusal moves nothing
BACK, STOP = "back", "stop motion"
ADD_HINT = "as the next step of the macro of this name, which then stands in the menu `sequences`"
SEQUENCE = "sequence"  # name until another is typed
MODE, MODE_HINT = "menu mode", "what a motion of the menu moves"
COLOURS = {Mode.SETUP: "blue", Mode.SIMULATION: "grape", Mode.PRACTICE: "indigo", Mode.EXECUTION: "teal"}


class MenuView:
    """Widgets of one console, shared by all its browsers."""

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._items: tuple[MenuItem, ...] = ()
        self._path: tuple[str, ...] = ()
        self._pressed: deque[str | Mode | Asked] = deque()
        self._lines: deque[tuple[str, str]] = deque(maxlen=LINES)  # colour, text
        self._typed = False
        self._form: _FormView | None = None
        self._starts: dict[Mode, Any] = {}  # buttons of the leaf that is shown
        self._folder = gui.add_folder("Menu")
        self._body: Any = None
        with self._folder:
            self._mode = gui.add_dropdown(
                MODE, [mode.value for mode in Mode], initial_value=Mode.SETUP.value, hint=MODE_HINT
            )
            self._moves = gui.add_html("")
            self._told = gui.add_html("", order=1e9)  # last, whatever is shown
        self._mode.on_update(lambda _event: self._press(Mode(self._mode.value)))
        self._now, self._sequence = "", SEQUENCE
        self._show_mode(Mode.SETUP)

    # the node's thread -----------------------------------------------------------------------------------------

    def show_menus(self, items: tuple[MenuItem, ...]) -> None:
        """Show these menus; the person stays where he is, if that is left."""
        if items == self._items:
            return
        self._items = items
        while self._path and self._here() is None:
            self._path = self._path[:-1]
        self._draw()

    def take(self) -> list[Asked]:
        """Follow what was pressed and typed; returns what is to be added, started and stopped."""
        asked: list[Asked] = []
        while self._pressed:
            press = self._pressed.popleft()
            if isinstance(press, str):
                self._go(press)
            elif isinstance(press, Mode):
                self._show_mode(press)
            else:
                asked.append(press)
        if self._typed and self._form is not None:
            self._typed = False
            self._form.check()
        return stops_first(asked)

    def refuse(self, path: str, refusals: Mapping[str, str]) -> None:
        """Show why a leaf does not run, each reason beside its field; what belongs to none, below."""
        shown = self._form.refuse(refusals) if self._form is not None and path == "/".join(self._path) else set()
        for name, reason in refusals.items():
            if name not in shown:
                self.tell(reason, "bad")

    def tell(self, text: str, colour: str = "") -> None:
        """Add a line; `colour`: a word of the palette."""
        self._lines.append((colour, text))
        self._show_lines()

    def progress(self, text: str) -> None:
        """Show what runs now; empty: nothing does."""
        if text != self._now:
            self._now = text
            self._show_lines()

    def _show_lines(self) -> None:
        rows = [*([("asked", self._now)] if self._now else []), *reversed(self._lines)]
        self._told.content = _block("".join(_line(text, colour) for colour, text in rows))

    def _show_mode(self, mode: Mode) -> None:
        """Only the button of this mode is there."""
        self._shown_mode = mode
        self._moves.content = _block(_line(mode.doc, "asked" if mode is Mode.EXECUTION else "hint"))
        for other, start in self._starts.items():
            start.visible = other is mode

    def _here(self) -> MenuItem | None:
        """The menu or leaf that is shown; None: the path leads nowhere."""
        found = MenuItem("", items=self._items)
        for name in self._path:
            inner = next((item for item in found.items if item.name == name), None)
            if inner is None:
                return None
            found = inner
        return found

    def _go(self, name: str) -> None:
        before = self._path
        self._path = before[:-1] if name == BACK else (*before, name)
        if self._here() is None:  # a second browser was faster
            self._path = before
        if self._path != before:
            self._draw()

    def _draw(self) -> None:
        if self._body is not None:
            self._body.remove()
        self._form, here = None, self._here()
        self._starts.clear()
        with self._folder:
            self._body = self._gui.add_folder(None)
        with self._body:
            title = " / ".join(name.replace("_", " ") for name in self._path)
            heading = f"<b>{escape(title)}</b>{' - ' if title else ''}{escape(here.doc if here else '')}"
            self._gui.add_html(_block(heading))
            if self._path:
                self._button(BACK, BACK, "gray", "the menu above")
            for item in here.items if here is not None else ():
                self._button(item.title, item.name, None, item.doc)
            if here is not None and here.form is not None:
                self._form = _FormView(self._gui, here.form.fields, self._on_typed)
                self._run_row(here, self._form)

    def _run_row(self, leaf: MenuItem, form: _FormView) -> None:
        path = "/".join(self._path)
        for mode, colour in COLOURS.items():
            label = f"{mode.verb} {leaf.title}"
            start = self._gui.add_button(label, color=colour, hint=mode.doc, visible=mode is self._shown_mode)
            start.on_click(lambda _event, mode=mode: self._press(StartLeaf(path, form.typed(), mode)))
            self._starts[mode] = start
        stop = self._gui.add_button(STOP, color="orange", hint="the arm comes to rest on its path")
        stop.on_click(lambda _event: self._press(StopLeaf()))
        name = self._gui.add_text("sequence", self._sequence, hint=ADD_HINT)
        add = self._gui.add_button(f"add {leaf.title} to the sequence", color="gray", hint=ADD_HINT)

        def added(_event: Any) -> None:
            self._sequence = name.value
            self._press(AddLeaf(path, form.typed(), name.value))

        add.on_click(added)

    def _button(self, label: str, name: str, colour: str | None, hint: str) -> None:
        button = self._gui.add_button(label, color=colour, hint=hint or None)
        button.on_click(lambda _event: self._press(name))

    # the browser's threads -------------------------------------------------------------------------------------

    def _press(self, press: str | Mode | Asked) -> None:
        if isinstance(press, StopLeaf) or len(self._pressed) < MOST_WAITING:
            self._pressed.append(press)

    def _on_typed(self) -> None:
        self._typed = True


class _FormView:
    """The fields of one leaf; below each stands what is allowed, or why it is refused."""

    def __init__(self, gui: Any, fields: tuple[FormField, ...], on_typed: Any) -> None:
        self._rows: dict[str, tuple[FormField, Any, Any]] = {}
        for field in fields:
            widget = _widget(gui, field)
            widget.on_update(lambda _event: on_typed())
            self._rows[field.name] = (field, widget, gui.add_html(_note(field)))

    def typed(self) -> dict[str, object]:
        """What the fields hold, by name."""
        return {name: widget.value for name, (_, widget, _) in self._rows.items()}

    def check(self) -> None:
        """Show beside each field whether what it holds is allowed."""
        for field, widget, note in self._rows.values():
            try:
                field.read(widget.value)
                note.content = _note(field)
            except ValueError as error:
                note.content = _refusal(str(error))

    def refuse(self, refusals: Mapping[str, str]) -> set[str]:
        """Show these reasons; the names of the fields that are here."""
        for name, (field, _, note) in self._rows.items():
            note.content = _refusal(refusals[name]) if name in refusals else _note(field)
        return set(refusals) & set(self._rows)


def _widget(gui: Any, field: FormField) -> Any:
    if field.sort is Sort.FLAG:
        return gui.add_checkbox(field.label, bool(field.default), hint=field.doc or None)
    if field.sort is Sort.CHOICE:
        return gui.add_dropdown(field.label, field.choices, initial_value=field.default, hint=field.doc or None)
    return gui.add_text(field.label, field.text(), hint=field.doc or None)


def _note(field: FormField) -> str:
    return _block(_line("; ".join(filter(None, (field.doc, field.allowed))), "hint"), TWO_LINES)


def _refusal(reason: str) -> str:
    return _block(_line(reason, "bad"), TWO_LINES)


def _line(text: str, colour: str) -> str:
    return f'<div style="color:{palette.WORDS[colour]}">{escape(text)}</div>'


def _block(inner: str, more: str = "") -> str:
    return f'<div style="{INSET};{more}">{inner}</div>' if inner else ""
