"""Bench of the console: what a press in a real page means, and the goals of its figures."""

import math
import time

import pytest
from browser import chromium

from telerobot_nodes.bench.console.browser_page import ConsolePage
from telerobot_nodes.bench.console.console import _goals, _slope

PAGE = """
<div id="stops"><div class="banner"><span>IDLE</span></div></div><canvas></canvas>
<button onclick="setTimeout(() => { document.querySelector('span').textContent = 'PAUSED'; }, 200)">pause</button>
"""


@pytest.mark.nightly
@pytest.mark.timing("a browser starts and draws")
def test_a_press_is_timed_from_the_event_to_the_frame_that_shows_its_effect(tmp_path):
    (tmp_path / "page.html").write_text(PAGE)
    with chromium() as browser:
        page = ConsolePage(browser.new_page(), f"file://{tmp_path}/page.html")
        before = time.monotonic()
        pressed, shown = page.press("pause", "PAUSED")
        after = time.monotonic()
    assert before - 0.01 < pressed < after
    assert pressed + 0.2 <= shown + 2e-3 < after + 0.02


def _figures(**changed):
    figures = {"plan_points": 2000, "kilobytes_per_second_without_camera": 20.0, "drawing_median_ms": 5.0}
    return figures | {"console_memory_mb_per_hour_of_second_half": 0.5} | changed


def _times(acted=0.05, shown=0.1, halted=0.03):
    return {name: [value] * 20 for name, value in (("acted", acted), ("shown", shown), ("halted", halted))}


@pytest.mark.parametrize(
    ("times", "figures", "missed"),
    [
        (_times(), _figures(), set()),
        (_times(acted=0.2), _figures(), {"pressed to acted, 95 %"}),
        (_times(shown=0.4), _figures(), {"pressed to shown, 95 %"}),
        (_times(halted=math.inf), _figures(), {"HALT pressed to arm told, 99 %"}),
        (_times(), _figures(kilobytes_per_second_without_camera=301.0), {"to a browser, without camera"}),
        (
            _times(),
            _figures(console_memory_mb_per_hour_of_second_half=math.nan),
            {"server memory, second half of the time"},
        ),
    ],
)
def test_a_goal_is_missed_by_its_own_figure_alone(times, figures, missed):
    assert {goal["name"] for goal in _goals(times, figures) if not goal["met"]} == missed


def test_a_slope_needs_three_looks():
    assert math.isnan(_slope([(0.0, 1.0), (1.0, 2.0)]))
    assert _slope([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == pytest.approx(2.0)
