"""Esc in a real browser before the real graph: whatever has the focus, the measured arm comes to rest and stays so."""

from __future__ import annotations

import numpy as np
import pytest
from browser import chromium, ordinary_priority
from console_of_demo import console_of_demo
from console_rig import open_page

from telerobot_nodes.operator.client import HaltStage, commands

pytestmark = [
    pytest.mark.system,
    pytest.mark.lengthy,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.timing("a browser draws the scene without a graphics card and has 60 s for each answer"),
]

AT_REST = 0.005  # [rad/s] of every measured joint
MOVING = 0.03  # [rad/s]
STILL = 1.0  # [s] for which it stays at rest
LIMIT = 30.0  # [s]
SCALE = 0.3  # [-] of the hand: wherever it is stopped, the next one is within reach from there

FOCUS = {  # what has the focus -> how it gets it, and what then has it
    "nothing": (lambda page: page.evaluate("document.activeElement.blur()"), "BODY"),
    "the command line": (lambda page: page.locator("textarea").first.focus(), "TEXTAREA"),
    "a number box": (lambda page: page.locator("input[type=text]").first.focus(), "INPUT"),
    "a checkbox": (lambda page: page.get_by_label("drive by gizmo").focus(), "INPUT"),
    "a list": (lambda page: page.locator("input[aria-haspopup=listbox]").last.focus(), "INPUT"),
    "a slider": (lambda page: page.locator("[role=slider]").first.focus(), "DIV"),
    "a button": (lambda page: page.get_by_role("button", name="time clutch").focus(), "BUTTON"),
    "the bar": (lambda page: page.locator("#stops .resume").focus(), "BUTTON"),
}
# The others run at night; operator/console/test_console_stops.py has all of them, without a graph.
BRIEFLY = ("nothing", "the command line", "a list")


@pytest.fixture(scope="module")
def url():
    """Address of the console of a running demo graph."""
    with console_of_demo(("bag_recorder", "cspace_planner")) as address:
        yield address


@pytest.fixture(scope="module")
def page(url):
    with ordinary_priority(), chromium() as browser:
        yield open_page(url, browser, 1000, 700)


class Arm:
    """The measured joints, as the hardware publishes them."""

    def __init__(self, terminal):
        self._terminal = terminal
        self.position = self.speed = None
        terminal.subscribe("joint_states", self._receive)

    def _receive(self, message):
        self.position, self.speed = np.array(message.position[:6]), float(np.abs(message.velocity[:6]).max())

    def until(self, reached):
        return self._terminal.wait_for(lambda _: self.speed is not None and reached(self.speed), LIMIT)


@pytest.fixture(scope="module")
def terminal(page):
    from telerobot_nodes.nodes.clients import Terminal

    with Terminal() as client:
        assert client.wait_for(lambda c: c.queue.has_authority, LIMIT)
        yield client


@pytest.fixture(scope="module")
def arm(terminal):
    return Arm(terminal)


@pytest.mark.parametrize(
    ("how", "tag"),
    [pytest.param(*one, id=name, marks=() if name in BRIEFLY else pytest.mark.nightly) for name, one in FOCUS.items()],
)
@pytest.mark.brief(1)
def test_esc_stops_the_measured_arm_whatever_has_the_focus(page, terminal, arm, how, tag):
    assert terminal.ask(commands.StopReplay()).done  # of the test before
    begun = terminal.ask(commands.Replay(speed=1.0, scale=SCALE))
    assert begun.done, begun.text
    if not arm.until(lambda speed: speed > MOVING):
        pytest.fail(f"nothing to stop: {begun.text}; {terminal.operator.queue}; {terminal.operator.robot}")
    how(page)
    assert page.evaluate("document.activeElement.tagName") == tag
    page.keyboard.press("Escape")
    assert terminal.wait_for(lambda client: client.halt_watch.stage is HaltStage.CONFIRMED, LIMIT)
    assert arm.until(lambda speed: speed < AT_REST)
    at_rest = arm.position
    terminal.spin(STILL)
    assert np.abs(arm.position - at_rest).max() < AT_REST * STILL
    page.locator("#stops").get_by_text("HALTED").wait_for()
    assert terminal.ask(commands.Resume()).done
    assert terminal.wait_for(lambda client: client.halt_watch.stage is HaltStage.NONE, LIMIT)
