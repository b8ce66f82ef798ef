"""The camera on the real graph: simulated pictures over an emulated link, in a real browser."""

from __future__ import annotations

import re

import pytest
from browser import chromium, ordinary_priority
from console_of_demo import console_of_demo

from telerobot_nodes.cli import main
from telerobot_nodes.core.config import share_path
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.scene.palette import PREDICTED

LIMIT = 120.0  # [s] for anything a browser must do in software rendering beside a whole graph
WITHOUT = ("bag_recorder", "cspace_planner", "rtc_decision_unit")
pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(600),
    pytest.mark.timing("a browser draws the scene without a graphics card and has 120 s for each answer"),
]

# Pixels of the camera's window that have the colour of the forward simulation's tool
ORANGE = """() => {
  const [red, green, blue] = COLOUR;
  const canvas = document.querySelector("#pictures canvas");
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0, x = 0, y = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue) > 12) continue;
    count += 1;
    x += (at / 4) % width;
    y += Math.floor(at / 4 / width);
  }
  return count === 0 ? null : [x / count, y / count];
}""".replace("COLOUR", str(list(PREDICTED)))


@pytest.fixture(scope="module")
def console_url():
    """Address of the console of a running demo graph with a camera."""
    with console_of_demo(WITHOUT, params=share_path("config/demo.yaml"), camera=True) as address:
        yield address


@pytest.fixture(scope="module")
def page(console_url):
    with ordinary_priority(), chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(1000.0 * LIMIT)
        page.goto(console_url)
        page.locator("#pictures canvas").wait_for()
        yield page


def age(page):
    """Age of the picture that the window shows [s]."""
    return float(re.search(r"([\d.]+) s old", page.locator("#pictures b").text_content())[1])


def test_the_picture_appears_with_its_camera_and_an_age_that_is_at_least_the_links_delay(page):
    page.locator("#pictures b", has_text=re.compile(r"camera overview: [\d.]+ s old")).wait_for()
    assert 1.0 <= age(page) < 5.0


@pytest.mark.nightly
def test_the_overlay_moves_while_the_delayed_picture_does_not_yet(page, capsys):
    """A slow page may stand still for longer than the hand takes; so it plays again when the page shows where it is.

    With a scale of its own: from where a hand was stopped, not even a tenth of the whole motion may be within reach.
    """
    page.get_by_role("button", name="start").click()
    first = page.wait_for_function(ORANGE, polling=200).json_value()
    assert main(["replay", "--stop"]) == 0, capsys.readouterr().err
    assert main(["replay", "--scale", "0.3"]) == 0, capsys.readouterr().err
    page.wait_for_function(
        f"""(first) => {{
          const now = ({ORANGE})();
          return now !== null && Math.hypot(now[0] - first[0], now[1] - first[1]) > 5;
        }}""",
        arg=first,
        polling=200,
    )


def test_the_shell_selects_another_camera_and_the_page_shows_it(page, capsys):
    assert main(["camera", "wrist", "--rate", "2"]) == 0, capsys.readouterr().err
    assert "in force" in capsys.readouterr().out
    page.locator("#pictures b", has_text="camera wrist").wait_for()
    page.locator("input[role='combobox'][value='wrist']").wait_for()


def test_an_unknown_camera_is_refused_by_the_robots_side(page, capsys):
    assert main(["camera", "nosuch"]) == 1
    assert "camera: 'nosuch' is not allowed; allowed: overview, wrist" in capsys.readouterr().err


@pytest.mark.nightly
def test_the_console_selects_another_camera(page):
    page.locator("input[role='combobox'][value='wrist']").click()
    page.get_by_role("option", name="overview").click()
    page.locator("#pictures b", has_text="camera overview").wait_for()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--rate", "nan"], "camera rate: nan"),
        (["--rate", "99"], "camera rate: 99.0"),
        (["--budget", "1"], "camera budget: 1.0"),
        (["x" * 99], "camera: 'xxx"),
    ],
)
def test_a_wrong_request_is_refused_before_it_leaves(words, text, capsys):
    assert main(["camera", *words]) == 2
    assert text in capsys.readouterr().err


def test_rate_and_budget_of_one_request_must_fit():
    with pytest.raises(ValueError, match="camera budget"):
        commands.SetCamera(rate=30.0, budget=10_000.0)
