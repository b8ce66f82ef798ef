"""The console's command line: what is pressed is said once; what comes back is shown."""

from types import SimpleNamespace

import pytest

from telerobot_nodes.core.protocol import trial_of
from telerobot_nodes.operator.console import CommandLine
from telerobot_nodes.operator.console.command_line import LINES, MOST_WAITING, completed


class Widget(SimpleNamespace):
    def on_update(self, callback):
        self.update = callback

    def on_click(self, callback):
        self.click = callback


class Gui:
    """Widgets without a browser."""

    def __init__(self):
        self.made = {}

    def _add(self, label, **values):
        self.made[label] = widget = Widget(**values)
        return widget

    def add_folder(self, _label):
        import contextlib

        return contextlib.nullcontext()

    def add_text(self, label, value, multiline=False, hint=""):
        return self._add(label, value=value)

    def add_html(self, content):
        return self._add(f"html{len(self.made)}", content=content)

    def add_button_group(self, label, options, visible=True):
        return self._add("steps" if "step" in options else "buttons", value=options[0], visible=visible)


@pytest.fixture
def gui():
    return Gui()


@pytest.fixture
def line(gui):
    words = ("grant", "grasp")
    return CommandLine(gui, lambda text: tuple(word for word in words if word.startswith(text.split()[-1])))


def press(gui, button, text):
    gui.made["text"].value, gui.made["buttons"].value = text, button
    gui.made["buttons"].click(None)


def shown(gui):
    return "".join(widget.content for label, widget in gui.made.items() if label.startswith("html"))


def test_a_text_is_said_once_and_a_trial_says_try(gui, line):
    press(gui, "run", " grasp module ")
    press(gui, "try", "grasp module")
    press(gui, "try", "try grasp module")
    press(gui, "run", "   ")
    assert line.take() == ["grasp module", trial_of("grasp module"), trial_of("grasp module")]
    assert line.take() == []


@pytest.mark.parametrize(
    "text", ["halt", "halt left_arm", "STOP!!", "e-stop please", "halt; nonsense", "abort" + 1000 * " now"]
)
@pytest.mark.parametrize("button", ["run", "try", "done"])
def test_a_word_for_halt_passes_what_waits_and_always_fits_whatever_follows_it(gui, line, button, text):
    for _ in range(3 * MOST_WAITING):
        press(gui, "run", "grasp module")
    press(gui, button, text)
    assert line.take() == [text] + MOST_WAITING * ["grasp module"]


def test_done_answers_the_oldest_task_with_what_is_typed(gui, line):
    press(gui, "done", "")
    assert line.take() == []
    line.task(4, "close the door")
    line.task(3, "open it")
    press(gui, "done", "width = 4 cm")
    assert line.take() == ["done task 3 width = 4 cm"]
    line.task(3, "")
    press(gui, "done", "")
    assert line.take() == ["done task 4"]


def test_what_is_told_is_shown_as_text_and_only_the_latest(gui, line):
    line.tell("<script>", "bad")
    line.task(1, "look & see")
    line.show()
    assert "&lt;script&gt;" in shown(gui)
    assert "task 1: look &amp; see" in shown(gui)
    for number in range(3 * LINES):
        line.tell(f"line {number}")
    line.show()
    assert "line 0<" not in shown(gui)
    assert f"line {3 * LINES - 1}<" in shown(gui)


def test_words_are_suggested_while_one_types_and_completed_on_demand(gui, line):
    gui.made["text"].value = "gra"
    gui.made["text"].update(None)
    assert "grant grasp" in gui.made["html3"].content
    press(gui, "complete", "gras")
    assert gui.made["text"].value == "grasp "


@pytest.mark.parametrize(
    ("text", "words", "then"),
    [
        ("gra", ("grant", "grasp"), "gra"),
        ("g", ("grant", "grasp"), "gra"),
        ("grasp mo", ("module",), "grasp module "),
        ("grasp ", (), "grasp "),
        ("GRASP Mo", ("module",), "GRASP module "),
        ("x", ("module", "box"), "x"),
    ],
)
def test_what_all_words_begin_with_is_filled_in(text, words, then):
    assert completed(text, words) == then


def test_the_script_of_a_running_command_is_shown_until_it_ends(gui, line):
    line.script(3, [("asked", "> touch_1 <b>")])
    line.show()
    assert "&gt; touch_1 &lt;b&gt;" in shown(gui)
    line.script(3, [])
    line.show()
    assert "touch_1" not in shown(gui)


def press_step(gui, line, word):
    line.show()
    gui.made["steps"].value = word
    gui.made["steps"].click(None)


def test_the_step_buttons_are_for_the_command_that_waits_else_for_the_first_that_runs(gui, line):
    assert not gui.made["steps"].visible
    press_step(gui, line, "step")
    assert line.take() == []
    line.script(3, [("asked", "> touch_1")])
    line.script(4, [("asked", "? close")], waits=True)
    press_step(gui, line, "step")
    line.script(4, [("good", "+ close")])
    press_step(gui, line, "cancel")
    assert line.take() == ["step command 4", "cancel command 3"]
    assert gui.made["steps"].visible
    line.script(3, [])
    line.script(4, [], waits=True)
    press_step(gui, line, "continue")
    assert line.take() == []
    assert not gui.made["steps"].visible


def test_a_text_that_waits_wakes_who_sends_it_and_a_completion_does_not():
    gui, sent = Gui(), []
    line = CommandLine(gui, lambda text: ("grasp",), wake=lambda: sent.extend(line.take()))
    press(gui, "complete", "gra")
    assert sent == []
    press(gui, "run", "grasp module")
    press(gui, "run", "halt")
    assert sent == ["grasp module", "halt"]
