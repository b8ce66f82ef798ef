"""The study's part of the console: only what is offered counts as pressed, no answer is one that was not given."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from viser_scene import RecordingScene

from telerobot_nodes.operator.scene import palette
from telerobot_nodes.study.design import SCALES, Goal, Workload
from telerobot_nodes.study.run import Press, StudyPage

GOALS = [Goal(np.array([0.1 * k, 0.0, 0.5]), 0.02) for k in range(3)]


class Widget:
    def __init__(self, value, visible=True):
        self.value = self.content = value
        self.visible = visible

    def on_click(self, callback):
        self.press = lambda: asyncio.run(callback(None))

    def on_update(self, callback):
        self.move = lambda value: (setattr(self, "value", value), asyncio.run(callback(SimpleNamespace(client_id=1))))


class Gui:
    def __init__(self):
        self.buttons, self.sliders, self.html = {}, {}, []

    def add_folder(self, label, **look):
        return nullcontext()

    def add_html(self, content, visible=True):
        self.html.append(Widget(content, visible))
        return self.html[-1]

    def add_button(self, label, visible=True, **look):
        self.buttons[label] = Widget(False, visible)
        return self.buttons[label]

    def add_slider(self, label, low, high, step, value, visible=True):
        self.sliders[label] = Widget(value, visible)
        return self.sliders[label]

    def shows(self, text):
        return any(text in widget.content for widget in self.html if widget.visible)


@pytest.fixture
def gui():
    return Gui()


@pytest.fixture
def scene():
    return RecordingScene()


@pytest.fixture
def page(gui, scene):
    return StudyPage(gui, scene)


def press(gui, what):
    gui.buttons[what.value].press()


def test_what_to_do_is_shown_and_only_what_is_offered_is_taken_once(page, gui):
    page.show("trial 2 of 8", ["Move <there>."], [Press.BEGIN])
    assert gui.shows("trial 2 of 8")
    assert gui.shows("Move &lt;there&gt;.")
    assert [name for name, button in gui.buttons.items() if button.visible] == [Press.BEGIN.value]
    press(gui, Press.GIVE_UP)
    press(gui, Press.BEGIN)
    assert page.take() == [Press.BEGIN]
    assert page.take() == []


def test_a_press_of_before_does_not_count_for_what_is_offered_next(page, gui):
    page.show("", [], [Press.GIVE_UP])
    press(gui, Press.GIVE_UP)
    page.show("", [], [Press.GIVE_UP])
    assert page.take() == []


def test_each_question_must_be_answered_by_a_person_also_with_the_middle(page, gui):
    assert not any(slider.visible for slider in gui.sliders.values())
    page.show("", [], [Press.SAVE], questions=True)
    assert all(slider.visible for slider in gui.sliders.values())
    titles = [scale.title for scale in SCALES.values()]
    for title in titles[:-1]:
        gui.sliders[title].move(50)
    assert page.answers() is None
    assert gui.shows(f"not answered yet: {titles[-1]}")
    gui.sliders[titles[-1]].move(95)
    assert page.take() == []
    assert not gui.shows("not answered yet")  # told as answers come, not at the next press
    assert page.answers() == Workload({**dict.fromkeys(SCALES, 50), "frustration": 95})


def test_the_answers_of_the_trial_before_are_no_answers(page, gui):
    page.show("", [], [Press.SAVE], questions=True)
    page.answer(Workload(dict.fromkeys(SCALES, 20)))
    assert page.answers() is not None
    page.show("", [], [Press.SAVE], questions=True)
    assert page.answers() is None
    assert {slider.value for slider in gui.sliders.values()} == {50}


def colours(scene):
    return [scene.drawn[f"/study/target_{number}"].color for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("done", "planned", "wanted"),
    [
        (0, 0, [palette.PREDICTED, palette.ACTUAL, palette.ACTUAL]),
        (1, 2, [palette.PASSED, palette.ESTIMATE, palette.PREDICTED]),
        (2, 0, [palette.PASSED, palette.PASSED, palette.PREDICTED]),
        (3, 3, [palette.PASSED] * 3),
    ],
)
def test_targets_show_what_was_passed_what_is_planned_and_the_next_one(page, scene, done, planned, wanted):
    page.draw(GOALS, done, planned, None)
    assert colours(scene) == wanted


def test_targets_are_drawn_anew_when_they_move_and_gone_after_the_trial(page, scene):
    page.draw(GOALS, 1, 1, 0.4)
    sent = scene.sent
    page.draw(GOALS, 1, 1, 0.4)
    assert scene.sent == sent
    assert scene.drawn["/study/plate"].position[2] == 0.4
    page.draw([*GOALS[:2], Goal(GOALS[2].position + 0.06, 0.02)], 1, 1, 0.4)
    assert np.array_equal(scene.drawn["/study/target_3"].position, GOALS[2].position + 0.06)
    assert colours(scene)[0] == palette.PASSED
    page.clear()
    assert scene.drawn == {}
