"""The camera's window in a real browser: the picture is drawn, the overlay moves over it, trouble is shown."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from browser import chromium
from console_rig import RunningConsole, open_page

from telerobot_nodes.core.camera import Calibration, CameraSetting, encode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.camera import CameraFeed, CameraState, CameraWindow, Mark, Overlay
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.web import PictureState

pytestmark = [
    pytest.mark.lengthy,  # starts a browser
    pytest.mark.timing("a browser draws the scene without a graphics card and has 60 s for each answer"),
]
WIDTH, HEIGHT = 640, 480
IN_FORCE = CameraSetting("overview")
LENS = Calibration.of_view(WIDTH, HEIGHT, 0.8)
POSE = np.array((0.0, 0, 0, 0, 0, 0, 1))
GREEN = encode(np.full((HEIGHT, WIDTH, 3), (0, 200, 0), np.uint8)).data
AT = "([x, y]) => [...document.querySelector('#pictures canvas').getContext('2d').getImageData(x, y, 1, 1).data]"


class ScriptedOverlay(Overlay):
    """Draws one dot where the test says."""

    def __init__(self):
        self.at = (100.0, 50.0)

    def marks(self, view, lines, calibration, camera):
        return [Mark("dot", (255, 0, 0), np.array([self.at]))]


class Rig:
    """A console with a camera, and a page of it."""

    def __init__(self, browser):
        self.running = RunningConsole()
        self.feed, self.overlay = CameraFeed(), ScriptedOverlay()
        console = self.running.console
        self.window = CameraWindow(console.gui, console.pictures, console.inbox, self.overlay)
        self.page = open_page(console.url, browser, 1280, 800)
        self.stamp = 0

    def state(self, problem="", setting=IN_FORCE):
        self.feed.receive_state(CameraState(setting, ("overview", "wrist"), problem))

    def picture(self, data=GREEN):
        self.stamp += 1
        self.feed.receive_calibration("overview", LENS)
        self.feed.receive_pose(self.stamp, POSE)
        self.feed.receive_clock(self.stamp, time.monotonic())
        self.feed.receive_picture("overview", self.stamp, data, time.monotonic())

    def until(self, what, argument=None):
        """Step the window until the page says so."""
        deadline = time.monotonic() + 60.0
        while not self.page.evaluate(what, argument):
            assert time.monotonic() < deadline, what
            self.window.step(self.feed, self.running.client, time.monotonic())
            self.page.wait_for_timeout(50)

    def until_text(self, text):
        self.until("(text) => document.getElementById('pictures').textContent.includes(text)", text)

    def until_pixel(self, at, colour):
        near = "colour.every((value, k) => Math.abs(value - now[k]) < 12)"
        self.until(f"([at, colour]) => {{ const now = ({AT})(at); return {near}; }}", [list(at), list(colour)])


@pytest.fixture(scope="module")
def rig():
    with chromium() as browser:
        made = Rig(browser)
        yield made
        made.page.close()
        made.running.close()


@pytest.mark.nightly
def test_without_a_camera_there_is_no_window_and_no_folder(rig):
    rig.window.step(rig.feed, rig.running.client, time.monotonic())
    assert not rig.page.locator("#pictures").is_visible()
    assert rig.page.get_by_text("pictures [Hz]").count() == 0


def test_a_machine_without_pictures_says_why(rig):
    rig.state("nothing draws off screen here; install libegl1")
    rig.until_text("install libegl1")


def test_the_picture_is_drawn_with_its_age_and_the_overlay_moves_over_it_without_a_new_picture(rig):
    rig.state()
    rig.picture()
    rig.until_text("camera overview: 0.")
    rig.until_pixel((300, 300), (0, 200, 0))
    rig.until_pixel((100, 50), (255, 0, 0))
    rig.overlay.at = (500.0, 400.0)
    rig.until_pixel((500, 400), (255, 0, 0))
    rig.until_pixel((100, 50), (0, 200, 0))


def test_a_picture_without_end_leaves_the_last_one_and_says_so(rig):
    rig.picture()
    with pytest.raises(InvalidValueError):
        rig.picture(GREEN[:-50])
    rig.until_text("picture refused")
    rig.until_pixel((300, 300), (0, 200, 0))
    rig.picture()
    rig.until("() => !document.getElementById('pictures').textContent.includes('refused')")


def test_a_calibration_of_another_size_leaves_the_picture_without_overlay_and_says_so(rig):
    rig.picture()
    rig.feed.receive_calibration("overview", Calibration.of_view(320, HEIGHT, 0.8))
    rig.until_text("calibration refused: width: 320")
    rig.until_pixel((500, 400), (0, 200, 0))


def test_the_folder_requests_what_is_chosen_and_shows_what_is_in_force(rig):
    rig.state(setting=CameraSetting("overview", 2.0, 60_000.0))
    rig.picture()
    rig.until("() => document.querySelector(\"input[role='combobox'][value='overview']\") !== null")
    rig.page.locator("input[role='combobox'][value='overview']").click()
    rig.page.get_by_role("option", name="wrist").click()
    rig.running.sink.wait_for(lambda command: command == commands.SetCamera("wrist"))


def test_the_window_is_put_away_and_comes_back(rig):
    rig.picture()
    rig.until_pixel((300, 300), (0, 200, 0))
    rig.page.locator("#pictures button").click()
    assert not rig.page.locator("#pictures canvas").is_visible()
    rig.page.locator("#pictures button").click()
    assert rig.page.locator("#pictures canvas").is_visible()


def test_a_page_that_speaks_to_the_window_is_sent_away(rig):
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    with connect(rig.running.console.url.replace("http", "ws") + "/pictures") as socket:
        socket.send("x" * 1000)
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(timeout=10.0)


@pytest.mark.nightly
def test_a_page_that_does_not_read_holds_nothing_back(rig):
    """Of a hundred pictures it finds the newest ones only, and nobody else waits."""
    from websockets.sync.client import connect

    pictures = rig.running.console.pictures
    with connect(rig.running.console.url.replace("http", "ws") + "/pictures", max_queue=1) as socket:
        for number in range(300):
            pictures.show(bytes(1_000_000) + bytes([number % 256]), PictureState(str(number), "", False))
            if number % 30 == 0:
                rig.page.wait_for_timeout(20)
        received = []
        while not received or received[-1] != "299":
            word = socket.recv(timeout=30.0)
            if isinstance(word, str):
                received.append(json.loads(word)["title"])
    assert len(received) < 150


def test_nothing_went_wrong_in_the_console(rig):
    assert rig.running.errors == []
