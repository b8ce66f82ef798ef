"""The study in the console: what to do now, the targets in the scene, and the questions after a trial.

Callbacks of a browser only note what was pressed; the study's thread takes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from enum import Enum
from functools import partial
from html import escape
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.scene import palette
from telerobot_nodes.study.design import HIGHEST, LOWEST, SCALES, STEP, Goal, Workload

FIRST = -1e9  # above everything else in the panel
PRESSES = 8  # waiting; more are dropped
MIDDLE = (LOWEST + HIGHEST) // 2
PLATE_SIZE = (0.5, 0.5, 0.002)  # [m]
TO_DO, NEXT, PLANNED, DONE = palette.ACTUAL, palette.PREDICTED, palette.ESTIMATE, palette.PASSED
INSET = "padding:0 0.8em 0.4em;line-height:1.35"


class Press(Enum):
    """What a person presses in the study; the value is on the button."""

    BEGIN = "begin the trial"
    GIVE_UP = "give up this trial"
    SAVE = "save the answers"
    PAUSE = "stop for today"


class StudyPage:
    """Widgets of a study in one console, shared by all its browsers."""

    def __init__(self, gui: Any, scene: Any) -> None:
        self._gui, self._scene = gui, scene
        self._pressed: deque[Press] = deque(maxlen=PRESSES)
        with gui.add_folder("Study", order=FIRST):
            self._text = gui.add_html("")
            self._questions = _Questions(gui)
            self._note = gui.add_html("")
            self._buttons = {press: self._button(press) for press in Press}
        self._targets: list[tuple[Any, Any]] = []  # sphere and label
        self._drawn: tuple[int, int] | None = None
        self._missing: list[str] = []  # answers that the note names
        self._places: list[FloatArray] = []
        self._plate: Any = None
        self.show("", (), ())

    # the study's thread ----------------------------------------------------------------------------------------

    def show(self, title: str, lines: Sequence[str], offered: Collection[Press], questions: bool = False) -> None:
        """Show a heading, lines below it, the buttons that may be pressed, and the questions, not answered yet."""
        rows = "".join(f"<div>{escape(line)}</div>" for line in lines)
        self._text.content = f'<div style="{INSET}"><b>{escape(title)}</b>{rows}</div>'
        self.note("")
        self._missing = []
        if questions:
            self._questions.begin()
        self._questions.show(questions)
        self._pressed.clear()  # what was pressed before it was offered
        for press, button in self._buttons.items():
            button.visible = press in offered

    def note(self, text: str) -> None:
        """Show why something was not taken; empty: nothing."""
        colour = palette.WORDS["bad"]
        self._note.content = f'<div style="{INSET};color:{colour}">{escape(text)}</div>' if text else ""

    def take(self) -> list[Press]:
        """What was pressed since the last time, of what is offered."""
        taken: list[Press] = []
        while self._pressed:
            press = self._pressed.popleft()
            if self._buttons[press].visible:
                taken.append(press)
        if self._missing:  # fewer with every answer
            self._note_missing()
        return taken

    def answers(self) -> Workload | None:
        """The answers; None, and what is missing is shown, until each question is answered."""
        self._note_missing()
        return None if self._missing else self._questions.answers()

    def _note_missing(self) -> None:
        missing = self._questions.missing()
        if missing != self._missing:
            self._missing = missing
            self.note(f"not answered yet: {', '.join(missing)}" if missing else "")

    def answer(self, workload: Workload) -> None:
        """Give the answers in place of a person."""
        self._questions.answer(workload)

    def press(self, press: Press) -> None:
        """Press a button, from any thread."""
        self._pressed.append(press)

    def draw(self, goals: Sequence[Goal], done: int, planned: int, plate: float | None) -> None:
        """Draw the targets: `done` by the actual arm, `planned` by what is ahead of it; `plate`: its height [m]."""
        places = [goal.position for goal in goals]
        if not _same(places, self._places):
            self.clear()
            self._places = places
            self._targets = [self._target(number, goal) for number, goal in enumerate(goals, start=1)]
            if plate is not None:
                middle = np.mean(places, axis=0)
                self._plate = self._scene.add_box(
                    "/study/plate", (140, 145, 155), PLATE_SIZE, opacity=0.5, position=(middle[0], middle[1], plate)
                )
        if (done, planned) != self._drawn:
            self._drawn = (done, planned)
            for number, (sphere, _) in enumerate(self._targets):
                sphere.color = DONE if number < done else PLANNED if number < planned else TO_DO
                if number == max(done, planned):
                    sphere.color = NEXT

    def clear(self) -> None:
        """Remove targets and plate from the scene."""
        for handles in self._targets:
            for handle in handles:
                handle.remove()
        if self._plate is not None:
            self._plate.remove()
        self._targets, self._places, self._plate, self._drawn = [], [], None, None

    def _target(self, number: int, goal: Goal) -> tuple[Any, Any]:
        sphere = self._scene.add_icosphere(
            f"/study/target_{number}", 0.5 * goal.width, TO_DO, opacity=0.6, position=goal.position
        )
        above = goal.position + np.array([0.0, 0.0, 0.5 * goal.width + 0.004])
        label = self._scene.add_label(
            f"/study/label_{number}", str(number), position=above, font_screen_scale=0.8, anchor="bottom-center"
        )
        return sphere, label

    def _button(self, press: Press) -> Any:
        colour = {Press.BEGIN: "teal", Press.SAVE: "teal", Press.GIVE_UP: "orange"}.get(press, "gray")
        button = self._gui.add_button(press.value, color=colour, visible=False)

        async def pressed(_event: Any) -> None:  # a coroutine: viser then keeps the order of events
            self.press(press)

        button.on_click(pressed)
        return button


class _Questions:
    """The six scales; each must be moved once, so that nothing is taken for an answer that was none."""

    def __init__(self, gui: Any) -> None:
        self._rows: dict[str, tuple[Any, Any]] = {}
        self._answered: set[str] = set()
        for name, scale in SCALES.items():
            text = f"<b>{scale.title}</b>: {scale.question}<br>0 {scale.low}, 100 {scale.high}"
            question = gui.add_html(f'<div style="{INSET};font-size:0.85em">{text}</div>', visible=False)
            slider = gui.add_slider(scale.title, LOWEST, HIGHEST, STEP, MIDDLE, visible=False)
            slider.on_update(partial(self._moved, name))
            self._rows[name] = (question, slider)

    def begin(self) -> None:
        """Nothing is answered."""
        for _, slider in self._rows.values():
            slider.value = MIDDLE
        self._answered = set()

    def show(self, on: bool) -> None:
        for row in self._rows.values():
            for widget in row:
                widget.visible = on

    def missing(self) -> list[str]:
        return [SCALES[name].title for name in self._rows if name not in self._answered]

    def answers(self) -> Workload:
        return Workload({name: int(slider.value) for name, (_, slider) in self._rows.items()})

    def answer(self, workload: Workload) -> None:
        for name, value in workload.answers.items():
            self._rows[name][1].value = value
        self._answered = set(self._rows)

    async def _moved(self, name: str, event: Any) -> None:  # a coroutine, as above: before the press that follows
        if event.client_id is not None:  # by a person
            self._answered.add(name)


def _same(one: Sequence[FloatArray], other: Sequence[FloatArray]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
