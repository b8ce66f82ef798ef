"""The console's command line: completion, replies and reports, live scripts, tasks of the operator.

A text that begins with a word for halt passes all others and always fits. Callbacks of a browser only add texts; the
node's thread takes them and shows what it receives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from html import escape
from itertools import chain
from typing import Any

from telerobot_nodes.core.protocol import begins_with_halt, trial_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.scene import palette

LINES = 12  # shown
MOST_WAITING = 32  # texts; a person cannot press faster than the node takes them
MOST_WORDS = 16  # shown of the completions
STEP_WORDS = ("step", "continue", "cancel")  # for the command that waits, else for the first that runs

ROW = "white-space:pre-wrap;padding-left:1.2em;text-indent:-1.2em"
INSET = "padding:0 0.8em 0.4em;font-family:monospace;font-size:0.8em"

Complete = Callable[[str], tuple[str, ...]]


class CommandLine:
    """Widgets of one console. `complete(text)`: words that may stand at its end. `wake`: called when a text waits."""

    def __init__(self, gui: Any, complete: Complete, wake: Callable[[], object] = lambda: None) -> None:
        self._complete, self._wake = complete, wake
        self._said: deque[str] = deque()
        self._lines: deque[tuple[str, str]] = deque(maxlen=LINES)  # colour, text
        self._tasks: dict[int, str] = {}
        self._scripts: dict[int, list[tuple[str, str]]] = {}  # colour and text, by command
        self._waiting: set[int] = set()  # commands that wait for a step
        self._stepped = 0  # the command that the step buttons are for
        self._stale = True
        with gui.add_folder("Commands"):
            self._text = gui.add_text(
                "text", "", multiline=True, hint='as in "pick module and place on dock with left_arm"'
            )
            self._buttons = gui.add_button_group("", ("run", "try", "complete", "done"))
            self._steps = gui.add_button_group("", STEP_WORDS, visible=False)
            self._next = gui.add_html("")  # what grows is below the buttons, which stay under the pointer
            self._now = gui.add_html("")
            self._shown = gui.add_html("")
        self._steps.on_click(lambda _event: self._said_by(self._step_pressed, self._steps.value))
        self._text.on_update(lambda _event: self._suggest())
        self._buttons.on_click(lambda _event: self._said_by(self._pressed, self._buttons.value))

    # the browser's threads -------------------------------------------------------------------------------------

    def _said_by(self, act: Callable[[str], None], button: str) -> None:
        act(button)
        if self._said:
            self._wake()

    def _pressed(self, button: str) -> None:
        text = " ".join(str(self._text.value).split())
        if button != "complete" and begins_with_halt(text):
            if text not in self._said:
                self._said.appendleft(text)
        elif len(self._said) >= MOST_WAITING:
            return
        elif button == "complete":
            self._text.value = completed(str(self._text.value), self._words())
            self._suggest()
        elif button == "done" and self._tasks:
            self._said.append(f"done task {min(self._tasks)}" + (f" {text}" if text else ""))
        elif button == "run" and text:
            self._said.append(text)
        elif button == "try" and text:
            self._try(text)

    def _step_pressed(self, word: str) -> None:
        if self._stepped and len(self._said) < MOST_WAITING:
            self._said.append(f"{word} command {self._stepped}")

    def _try(self, text: str) -> None:
        try:
            self._said.append(trial_of(text))
        except InvalidValueError as error:
            self._next.content = f'<div style="{INSET}">{escape(str(error))}</div>'

    def _words(self) -> tuple[str, ...]:
        return self._complete(str(self._text.value))

    def _suggest(self) -> None:
        words = self._words() if str(self._text.value).strip() else ()
        more = " ..." if len(words) > MOST_WORDS else ""
        self._next.content = f'<div style="{INSET}">{escape(" ".join(words[:MOST_WORDS]))}{more}</div>' if words else ""

    # the node's thread -----------------------------------------------------------------------------------------

    def take(self) -> list[str]:
        """Take the texts to send; each is shown as a line."""
        said = []
        while self._said:
            said.append(self._said.popleft())
        for text in said:
            self.tell(f"> {text}")
        return said

    def tell(self, text: str, colour: str = "") -> None:
        """Add a line; `colour`: a word of the palette."""
        self._lines += [(colour, line) for line in text.splitlines() if line.strip()]
        self._stale = True

    def task(self, number: int, text: str) -> None:
        """Show a task of the operator; an empty text removes it."""
        if text:
            self._tasks[number] = text
        else:
            self._tasks.pop(number, None)
        self._stale = True

    def script(self, command: int, rows: list[tuple[str, str]], waits: bool = False) -> None:
        """Show the live script of a command as rows of colour and text; no rows remove it.

        `waits`: a step of it waits for a person.
        """
        if rows:
            self._scripts[command] = rows
        else:
            self._scripts.pop(command, None)
        self._waiting = self._waiting | {command} if rows and waits else self._waiting - {command}
        self._stale = True

    def show(self) -> None:
        """Send the lines to the browsers if they have changed."""
        if not self._stale:
            return
        self._stale = False
        tasks = [("asked", f"task {number}: {text}") for number, text in sorted(self._tasks.items())]
        self._stepped = min(self._waiting or self._scripts, default=0)
        self._steps.visible = bool(self._scripts)
        self._now.content = _html([*chain.from_iterable(self._scripts.values()), *tasks])
        self._shown.content = _html(self._lines)


def _html(rows: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f'<div style="color:{palette.WORDS[colour]};{ROW}">{escape(text)}</div>' for colour, text in rows)
    return f'<div style="{INSET}">{lines}</div>' if lines else ""


def completed(text: str, words: tuple[str, ...]) -> str:
    """`text` completed by the common beginning of `words`; a single word is completed whole, with a space."""
    start = len(text)
    while start > 0 and text[start - 1] not in " \t;,(){}=<>":
        start -= 1
    if not words:
        return text
    first, last = min(words), max(words)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    common = first[:same]
    if len(common) < len(text) - start:
        return text
    return text[:start] + common + (" " if len(words) == 1 else "")
