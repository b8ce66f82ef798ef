"""A recording in the console, in a real browser: the page shows what was, and what is pressed moves the playback."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from browser import chromium

LIMIT = 60_000  # [ms] for anything a browser must do in software rendering

pytestmark = [
    pytest.mark.lengthy,  # starts a browser
    pytest.mark.timing("a browser draws the scene without a graphics card and has 60 s for each answer"),
]


@pytest.fixture
def page(make_run):
    command = [sys.executable, "-m", "telerobot_nodes", "review", str(make_run()), "--play", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, chromium() as browser:
        try:
            url = re.search(r"http://127\.0\.0\.1:\S+", process.stdout.readline())[0]
            opened = browser.new_page()
            opened.goto(url)
            yield opened
        finally:
            process.terminate()


def see(page, text):
    from playwright.sync_api import expect

    expect(page.get_by_text(text).first).to_be_visible(timeout=LIMIT)


def press(page, text):
    page.get_by_text(text, exact=True).first.dispatch_event("click", timeout=LIMIT)


@pytest.mark.nightly
def test_the_next_event_is_shown_and_a_stop_is_refused(page):
    see(page, "next event")
    press(page, "next event")
    see(page, "operator: time clutch disengaged")
    page.locator("#stops:not(.lost)").wait_for(timeout=LIMIT)
    page.keyboard.press("h")
    see(page, "this is a recording: nothing is sent")
