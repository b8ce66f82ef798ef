"""A headless Chromium for tests of the console. Without one a test is skipped; under CI (`CI=true`) it fails."""

import contextlib
import os
import shutil

import pytest

from telerobot_nodes.bench.console.browser_page import BROWSERS, FLAGS


def without_browser(reason):
    """End the test: skipped, or failed under CI, where a browser must be installed."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; under CI this test needs a browser", pytrace=False)
    pytest.skip(reason)


@contextlib.contextmanager
def ordinary_priority():
    """What starts inside has the priority of a person's programs, which a browser gives its pages in any case."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, max(0, before))
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


@contextlib.contextmanager
def chromium():
    """The browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without_browser("playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        without_browser("no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()
