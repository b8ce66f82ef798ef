"""The study on the real graph: a scripted hand moves the arm, a real browser presses and answers."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from browser import chromium, ordinary_priority

from telerobot_nodes.cli.app import main
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.study.design import CONDITIONS, SCALES, Ending, StudySettings
from telerobot_nodes.study.results import StudyFolder
from telerobot_nodes.study.run import Press, Seat, run_study

LIMIT = 60.0  # [s] for anything a browser must do in software rendering beside a whole graph
SETTINGS = StudySettings(tasks=("reach",), conditions=("a", "d"), delays=(0.5,), limit=120.0)
ARM = "plan_executor/state"
pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("a browser draws the scene without a graphics card; the arm must follow the hand in time"),
]


class Study:
    """A study on a thread of its own; `url` of its console once `seated`."""

    def __init__(self, place, scripted_hand):
        self.url, self.seated = "", threading.Event()
        self._place, self._scripted_hand = place, scripted_hand
        self.ended = ThreadPoolExecutor(1, "study").submit(self._hold)
        self.ended.add_done_callback(lambda _: self.seated.set())

    def _hold(self):
        seat = Seat(port=0, browser=False, scripted_hand=self._scripted_hand)
        with StudyFolder(self._place, SETTINGS) as folder:
            return run_study(folder, "ann", seat, self._shown)

    def page(self, browser):
        """The page of its console."""
        assert self.seated.wait(150.0)
        assert not self.ended.done(), self.ended.exception()
        page = browser.new_page(viewport={"width": 640, "height": 800})
        page.set_default_timeout(1000.0 * LIMIT)
        page.goto(self.url)
        return page

    def _shown(self, line):
        if line.startswith("console: "):
            self.url = line.removeprefix("console: ")
            self.seated.set()


def press(page, what):
    page.get_by_role("button", name=what.value, exact=True).click()


def answer(page, score):
    """Save, be told what is not answered yet, answer that, save."""
    press(page, Press.SAVE)
    missing = page.get_by_text("not answered yet: ").first
    missing.wait_for()
    for scale in SCALES.values():
        box = page.get_by_text(scale.title, exact=True).first.locator("xpath=following::input[@type='text'][1]")
        box.fill(str(score))
        box.press("Enter")
    missing.wait_for(state="hidden")
    press(page, Press.SAVE)


@pytest.mark.nightly  # with a browser on two cores more than 40 s
def test_a_person_in_the_page_reaches_the_targets_goes_away_comes_back_and_gives_up(tmp_path):
    place = tmp_path / "study"
    with ordinary_priority(), chromium() as browser:
        study = Study(place, scripted_hand=True)
        page = study.page(browser)
        page.get_by_text("trial 1 of 2").first.wait_for()
        press(page, Press.BEGIN)
        page.get_by_text("trial 1 of 2: reached").first.wait_for()
        answer(page, 30)
        press(page, Press.PAUSE)
        assert study.ended.result(LIMIT) is False
        page.close()

        study = Study(place, scripted_hand=False)  # who does not move does not reach it before the press
        page = study.page(browser)
        page.get_by_text("trial 2 of 2").first.wait_for()
        press(page, Press.BEGIN)
        press(page, Press.GIVE_UP)
        page.get_by_text("trial 2 of 2: abandoned").first.wait_for()
        answer(page, 80)
        assert study.ended.result(LIMIT)

    with StudyFolder(place, SETTINGS) as folder:
        first, second = folder.results
        assert folder.left("ann") == ()
    assert (first.ending, first.targets, second.ending) == (Ending.REACHED, 2, Ending.ABANDONED)
    assert (first.workload.score, second.workload.score) == (30.0, 80.0)
    for result in (first, second):
        with BagReader(place / result.bag) as bag:
            assert any(name.endswith(ARM) for name in bag.topics)
            assert bag.duration > result.elapsed
    shown = (place / "table.txt").read_text()
    assert f"{first.seconds:.1f} +- 0.0" in shown
    assert all(title in shown for title in CONDITIONS.values())
    assert (place / "study.png").stat().st_size > 10_000


@pytest.mark.nightly  # 25 to 40 s
def test_the_command_tries_a_study_through_with_a_scripted_operator_and_does_nothing_twice(tmp_path, capsys):
    words = ["study", "--scripted", "--tasks", "reach", "--conditions", "b,c", "--delays", "0.5"]
    words += ["--folder", str(tmp_path / "study"), "--port", "0"]
    assert main(words) == 0
    lines = (tmp_path / "study" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["ending"] for line in lines] == ["reached", "reached"]
    capsys.readouterr()
    assert main(words) == 0
    assert "person has done every trial" in capsys.readouterr().out
    assert (tmp_path / "study" / "results.jsonl").read_text().splitlines() == lines
