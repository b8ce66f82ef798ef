"""A phone as the operator's hand: the console's page in a real browser, with a device in the place of WebXR's."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pytest
from browser import chromium, ordinary_priority
from console_of_demo import console_of_demo
from xr_device import DEVICE

from telerobot_nodes.core.protocol import ControlMode, ExecutorMode
from telerobot_nodes.operator.client import HaltStage, commands
from telerobot_nodes.operator.web.hand_page import PAGE

pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.timing("a browser and a graph on one machine"),
]

LIMIT = 60.0  # [s]
MOVE = """async ([dx, dy, dz, steps]) => {  // as a hand does, over `steps` frames
  const at = window.device.position;
  for (let step = 0; step < steps; step += 1) {
    window.device.position = { x: at.x + dx * (step + 1) / steps, y: at.y + dy * (step + 1) / steps,
      z: at.z + dz * (step + 1) / steps };
    await new Promise((then) => setTimeout(then, 20));
  }
}"""


@pytest.fixture(scope="module")
def address():
    with console_of_demo(("bag_recorder", "cspace_planner")) as found:
        yield found


@pytest.fixture(scope="module")
def page(address):
    with ordinary_priority(), chromium() as browser:
        page = browser.new_page(viewport={"width": 412, "height": 915})
        page.set_default_timeout(1000.0 * LIMIT)
        page.add_init_script(DEVICE)
        page.goto(urlunsplit(urlsplit(address)._replace(path=PAGE)))  # with the token
        page.locator(".begin:enabled").click()
        page.locator(".hold").hover()
        yield page


@pytest.fixture(scope="module")
def terminal(page):
    from telerobot_nodes.nodes.clients import Terminal

    with Terminal() as client:
        assert client.wait_for(lambda c: c.queue.has_authority and c.robot.tool_pose.size, LIMIT)
        yield client


def tool(terminal):
    return terminal.operator.robot.tool_pose[:3]


def said(page, text):
    page.locator("#hand .state", has_text=text).wait_for()


def at_rest(terminal, first=0):
    def rests(client):
        executed = client.robot.executed_seq == client.queue.head_seq > first and not client.queue.unacknowledged
        return executed and client.robot.mode is ExecutorMode.IDLE and not client.robot.moving

    assert terminal.wait_for(rests, LIMIT), terminal.operator.robot


def test_the_arm_follows_the_phone_while_its_button_is_held(page, terminal):
    before, first = tool(terminal), terminal.operator.queue.head_seq
    page.evaluate(MOVE, [0.3, 0.0, 0.0, 10])  # not held
    page.mouse.down()
    said(page, "moves the tool")
    page.evaluate(MOVE, [0.0, 0.05, -0.1, 50])  # up and forward
    page.mouse.up()
    said(page, "at rest")
    at_rest(terminal, first)
    np.testing.assert_allclose(tool(terminal) - before, (0.1, 0.0, 0.05), atol=0.003)


def test_another_grip_goes_on_from_where_the_arm_is(page, terminal):
    before, first = tool(terminal), terminal.operator.queue.head_seq
    for _ in range(2):
        page.evaluate(MOVE, [0.5, 0.3, 0.2, 5])  # not held
        page.mouse.down()
        said(page, "moves the tool")
        page.evaluate(MOVE, [0.0, 0.0, 0.05, 30])  # back
        page.mouse.up()
        said(page, "at rest")
    at_rest(terminal, first)
    np.testing.assert_allclose(tool(terminal) - before, (-0.1, 0.0, 0.0), atol=0.003)


def test_the_gripper_closes_and_opens_with_the_plan(page, terminal):
    for button, opening in (("close", 0.0), ("open", 0.08)):
        first = terminal.operator.queue.head_seq
        page.locator(f".grips .{button}").click()
        at_rest(terminal, first)
        assert terminal.operator.queue.gripper == pytest.approx(opening)
    page.locator(".hold").hover()


def test_in_a_mode_without_the_device_nothing_moves_and_the_page_says_so(page, terminal):
    before = tool(terminal)
    assert terminal.ask(commands.Mode(ControlMode.SUPERVISORY)).done
    page.mouse.down()
    said(page, "mode supervisory: the device moves nothing")
    page.evaluate(MOVE, [0.0, 0.0, -0.1, 30])
    assert terminal.ask(commands.Mode(ControlMode.TELEOPERATION)).done  # still held: it counts once it was let go
    page.evaluate(MOVE, [0.0, 0.0, -0.1, 30])
    page.mouse.up()
    at_rest(terminal)
    np.testing.assert_allclose(tool(terminal), before, atol=0.001)


def test_halt_of_the_page_stops_the_arm_and_is_shown(page, terminal):
    page.mouse.down()
    said(page, "moves the tool")
    page.evaluate(MOVE, [0.0, 0.0, -0.1, 20])
    page.locator("#hand .stop").dispatch_event("pointerdown")
    assert terminal.wait_for(lambda client: client.robot.mode is ExecutorMode.HALTED, LIMIT)
    said(page, "the robot is halted")
    page.mouse.up()
    assert terminal.ask(commands.Resume()).done
    at_rest(terminal)
    assert terminal.operator.halt_watch.stage is not HaltStage.ASKED
