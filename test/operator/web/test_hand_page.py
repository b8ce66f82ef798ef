"""The page of a phone or headset: its connection over a real server, and its script in a real browser."""

import json
import threading
import urllib.request

import numpy as np
import pytest
from browser import chromium
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from xr_device import DEVICE

from telerobot_nodes.operator.web import HandPage, Served, StopBar, start_server, stop_server, url
from telerobot_nodes.operator.web.hand_page import KEPT, PAGE, PATH

LIMIT = 30.0  # [s]
REST = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


class Console:
    """A server with the page, and what it gave."""

    def __init__(self):
        self.samples, self.pressed, self.changed = [], [], threading.Condition()
        self.page = HandPage(self.woken, self.press)
        self.server = start_server("127.0.0.1", 0, Served(StopBar(self.press), hand=self.page))
        self.address = url("127.0.0.1", self.server.get_port())

    def woken(self):
        with self.changed:
            self.samples += self.page.take()
            self.changed.notify_all()

    def press(self, press):
        with self.changed:
            self.pressed.append(getattr(press, "value", press))
            self.changed.notify_all()

    def wait_for(self, ready):
        with self.changed:
            assert self.changed.wait_for(ready, LIMIT), (self.samples[-3:], self.pressed)

    def connect(self):
        return connect(self.address.replace("http", "ws") + PATH)


@pytest.fixture
def console():
    console = Console()
    yield console
    stop_server(console.server)


def held(time, x=0.0, y=0.0, z=0.0):
    return json.dumps({"held": True, "time": time, "pose": [x, y, z, 0.0, 0.0, 0.0, 1.0]})


LET_GO = json.dumps({"held": False, "time": 0.0})


def test_poses_of_a_held_device_arrive_in_the_worlds_axes(console):
    with console.connect() as page:
        page.send(held(0.0))
        page.send(held(20.0, x=-0.1, z=-0.2))
        assert json.loads(page.recv(LIMIT)) == {"counts": True, "blocked": ""}
        console.wait_for(lambda: len(console.samples) == 2)
    moved = console.samples[1].pose - console.samples[0].pose
    np.testing.assert_allclose(moved, (0.2, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0), atol=1e-12)
    assert 0.0 <= console.samples[1].taken - console.samples[0].taken <= 0.021


def test_one_device_counts_at_a_time_until_it_is_let_go(console):
    with console.connect() as one, console.connect() as other:
        one.send(held(0.0))
        assert json.loads(one.recv(LIMIT))["counts"] is True
        other.send(held(0.0, x=5.0))
        assert json.loads(other.recv(LIMIT))["counts"] is False
        one.send(LET_GO)
        assert json.loads(one.recv(LIMIT))["counts"] is None
        other.send(held(20.0, x=5.0))
        assert json.loads(other.recv(LIMIT))["counts"] is True
    np.testing.assert_allclose(console.samples[-1].pose, console.samples[0].pose)  # it goes on from there


def test_a_page_that_goes_away_lets_go(console):
    with console.connect() as one:
        one.send(held(0.0))
        assert json.loads(one.recv(LIMIT))["counts"] is True
    with console.connect() as other:
        other.send(LET_GO)
        other.send(held(0.0))
        assert json.loads(other.recv(LIMIT))["counts"] is True


def test_why_nothing_moves_is_sent_to_the_page(console):
    with console.connect() as page:
        console.page.blocked = "the robot is halted"
        page.send(held(0.0))
        assert json.loads(page.recv(LIMIT)) == {"counts": True, "blocked": "the robot is halted"}


def test_poses_that_nobody_takes_are_bounded():
    page = HandPage(lambda: None)
    server = start_server("127.0.0.1", 0, Served(StopBar(print), hand=page))
    try:
        with connect(url("127.0.0.1", server.get_port()).replace("http", "ws") + PATH) as far:
            for at in range(3 * KEPT):
                far.send(held(10.0 * at, x=0.001 * at))
            far.send(LET_GO)
            while json.loads(far.recv(LIMIT))["counts"] is not None:
                pass
        assert len(page.take()) == KEPT
        assert page.take() == []
    finally:
        stop_server(server)


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("", "message"),
        (b"\x00\x01", "message"),
        ("[" * 900, "message"),
        ("[]", "message"),
        ('{"held": 1}', "message"),
        ("x" * 100_000, "message"),
        ('{"held": true}', "time"),
        ('{"grip": "close"}', "message"),
        ('{"grip": 1, "held": true, "time": 0}', "message"),
        ('{"held": false}', "time"),
        ('{"held": true, "time": NaN, "pose": [0,0,0,0,0,0,1]}', "time"),
        ('{"held": true, "time": "now", "pose": [0,0,0,0,0,0,1]}', "time"),
        ('{"held": true, "time": 1}', "pose"),
        ('{"held": true, "time": 1, "pose": [0,0,0]}', "pose"),
        ('{"held": true, "time": 1, "pose": [1e400,0,0,0,0,0,1]}', "pose"),
        ('{"held": true, "time": 1, "pose": [0,0,0,0,0,0,0]}', "pose"),
        ('{"held": true, "time": 1, "pose": {"x": 1}}', "pose"),
    ],
)
def test_a_malformed_message_ends_the_connection_and_moves_nothing(console, message, named):
    with console.connect() as page:
        page.send(message)
        with pytest.raises(ConnectionClosed, match=named):
            page.recv(LIMIT)
    assert console.samples == []
    with console.connect() as page:  # and the next one is served
        page.send(held(0.0))
        console.wait_for(lambda: len(console.samples) == 1)


def test_the_page_has_the_stop_bar(console):
    with urllib.request.urlopen(console.address + PAGE, timeout=LIMIT) as response:
        body = response.read().decode()
        assert response.headers["Content-Type"].startswith("text/html")
    assert body.index('id="stops"') < body.index('id="hand"')


@pytest.fixture
def page(console):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 412, "height": 915})
        page.set_default_timeout(1000.0 * LIMIT)
        page.add_init_script(DEVICE)
        page.goto(console.address + PAGE)
        page.locator(".begin:enabled").click()
        page.locator(".hold").wait_for()
        yield page


def said(page, text):
    page.locator("#hand .state", has_text=text).wait_for()


@pytest.mark.lengthy
def test_in_a_browser_the_device_moves_the_hand_while_its_button_is_held(console, page, tmp_path):
    said(page, "at rest")
    assert console.samples == []
    page.locator(".hold").hover()
    page.mouse.down()
    said(page, "moves the tool")
    page.evaluate("window.device.position = { x: 0.0, y: 0.3, z: -0.1 }")
    console.wait_for(lambda: console.samples and console.samples[-1].pose[2] == pytest.approx(0.3))
    np.testing.assert_allclose(console.samples[-1].pose[:3], (0.1, 0.0, 0.3))
    page.mouse.up()
    said(page, "at rest")
    page.evaluate("window.device.position = { x: 1.0, y: 1.0, z: 1.0 }")
    page.mouse.down()
    said(page, "moves the tool")
    np.testing.assert_allclose(console.samples[-1].pose[:3], (0.1, 0.0, 0.3))
    page.evaluate("window.device.lost = true")
    said(page, "does not know where it is")
    page.evaluate("window.device.lost = false")
    said(page, "moves the tool")
    page.evaluate("window.xrSession.end()")
    said(page, "ended")
    page.screenshot(path=tmp_path / "hand.png")


@pytest.mark.lengthy
def test_halt_of_the_page_and_of_a_controller_are_the_stop_bars(console, page):
    page.locator("#hand .stop").dispatch_event("pointerdown")
    console.wait_for(lambda: console.pressed == ["halt"])
    page.evaluate("window.device.buttons = [{}, {}, {}, {}, {}, { pressed: true }]")
    console.wait_for(lambda: console.pressed == ["halt", "halt"])


@pytest.mark.lengthy
def test_the_gripper_is_closed_and_opened_by_the_page_and_by_a_controller(console, page):
    page.locator(".grips .close").click()
    console.wait_for(lambda: console.pressed == [True])
    page.evaluate("window.device.buttons = [{}, {}, {}, { pressed: true }]")
    console.wait_for(lambda: console.pressed == [True, False])
    page.evaluate("window.device.buttons = []")
    page.locator(".hold").hover()
    page.mouse.down()
    said(page, "moves the tool")
    page.evaluate("document.querySelector('.grips .close').click()")  # while it is held, with another finger
    console.wait_for(lambda: console.pressed == [True, False, True])
    said(page, "moves the tool")


def test_an_arm_without_a_gripper_has_no_buttons_for_it_and_takes_no_such_message(console):
    console.page._grip = None
    with urllib.request.urlopen(console.address + PAGE, timeout=LIMIT) as response:
        assert 'id="hand" class="bare"' in response.read().decode()
    with console.connect() as page:
        page.send('{"grip": true}')
        page.send(held(0.0))
        console.wait_for(lambda: len(console.samples) == 1)
    assert console.pressed == []


@pytest.mark.lengthy
def test_a_trigger_holds_and_a_hidden_session_lets_go(console, page):
    page.evaluate("""window.source = { targetRayMode: "tracked-pointer", gripSpace: {} };
        window.xrSession.tell("selectstart", { inputSource: window.source })""")
    said(page, "moves the tool")
    page.evaluate("""window.xrSession.visibilityState = "hidden"; window.xrSession.tell("visibilitychange", {})""")
    said(page, "at rest")


@pytest.mark.lengthy
def test_a_browser_without_webxr_is_told_what_to_use(console):
    with chromium() as browser:
        page = browser.new_page()
        page.goto(console.address + PAGE)
        page.locator("#hand .state:not(:text('looking'))").wait_for()
        assert (
            "phone or headset" in page.locator("#hand .state").inner_text()
            or "WebXR" in page.locator("#hand .state").inner_text()
        )
        assert page.locator(".begin").is_disabled()
