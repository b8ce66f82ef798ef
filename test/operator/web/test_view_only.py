"""Pages that only look: they see everything, and nothing that they send but their camera is taken."""

import contextlib
import json
import socket
import threading
import urllib.request

import msgspec
import pytest
import viser
from browser import chromium
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web import BarState, HandPage, Press, StopBar, ViewOnly, start_server, stop_server, url
from telerobot_nodes.operator.web.hand_page import PAGE
from telerobot_nodes.operator.web.hand_page import PATH as POSES
from telerobot_nodes.operator.web.server import Served as Pages
from telerobot_nodes.operator.web.stop_bar import PATH

LIMIT = 60.0  # [s]: a page of viser rests for seconds without a graphics card
STATE = BarState("RUNNING", "#000000", "7.4 s", "ana", resumable=False, latched=False)
CAMERA = {
    "type": "ViewerCameraMessage",
    **dict.fromkeys(("position", "look_at"), (1.0, 0.0, 0.0)),
    "up_direction": (0.0, 0.0, 1.0),
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    **{"fov": 0.75, "near": 0.1, "far": 100.0, "image_height": 600, "image_width": 800},
}


class Served:
    """A console's server with a button, and where it is looked at."""

    def __init__(self, view):
        self.pressed, self.view = [], view
        self.hand = HandPage(lambda: None)
        self.changed = threading.Condition()
        self.bar = StopBar(self.press)
        self.server = start_server("127.0.0.1", 0, Pages(self.bar, view=view, hand=self.hand))
        self.button = self.server.gui.add_button("clear")
        self.button.on_click(lambda _event: self.press("clear"))

    def press(self, what):
        with self.changed:
            self.pressed.append(what)
            self.changed.notify_all()

    def wait_for(self, ready):
        with self.changed:
            return self.changed.wait_for(ready, LIMIT)

    def see(self, client):
        """Note each camera of a page."""
        self.press("a page")
        client.camera.on_update(lambda _camera: self.press("a camera"))

    @contextlib.contextmanager
    def showing(self, state):
        """Shown again and again, as a console does: a page takes silence for a fault."""
        ended = threading.Event()

        def show():
            while not ended.wait(0.1):
                self.bar.show(state)

        thread = threading.Thread(target=show)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def page(self, port):
        return connect(f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{viser.__version__}"], max_size=None)

    def click(self, page):
        update = {"type": "GuiUpdateMessage", "uuid": self.button._impl.uuid, "updates": {"value": True}}
        page.send(msgspec.msgpack.encode(update))


@pytest.fixture
def served():
    served = Served(ViewOnly("127.0.0.1", 0))
    yield served
    stop_server(served.server)


def body_of(port):
    with urllib.request.urlopen(url("127.0.0.1", port), timeout=LIMIT) as response:
        return response.read()


def test_a_button_pressed_in_a_page_that_looks_does_nothing(served):
    served.server.on_client_connect(served.see)
    with served.page(served.view.port) as looking, served.page(served.server.get_port()) as driving:
        for page in (looking, driving):
            page.send(msgspec.msgpack.encode(CAMERA))
        assert served.wait_for(lambda: served.pressed.count("a page") == 2)
        for bad in (b"", b"\xff", msgspec.msgpack.encode([1]), msgspec.msgpack.encode({"type": 3}), "text"):
            looking.send(bad)
        served.click(looking)
        served.click(driving)
        assert served.wait_for(lambda: "clear" in served.pressed)
        seen = served.server.get_clients()
        looking.send(msgspec.msgpack.encode({**CAMERA, "fov": 0.5}))  # after the press
        assert served.wait_for(lambda: 0.5 in [client.camera.fov for client in seen.values()])
        assert served.pressed.count("clear") == 1


def test_its_stop_bar_shows_the_state_and_takes_no_word(served):
    served.bar.show(STATE)
    with connect(f"ws://127.0.0.1:{served.view.port}{PATH}") as page:
        assert json.loads(page.recv(LIMIT))["banner"] == "RUNNING"
        page.send("halt")
        with pytest.raises(ConnectionClosed, match="allowed: nothing"):
            page.recv(LIMIT)
    assert served.pressed == []


def test_only_a_page_that_looks_is_told_so(served):
    assert b"window.telerobotLooks = true" in body_of(served.view.port)
    assert b"window.telerobotLooks = true" not in body_of(served.server.get_port())


def test_the_next_free_port_is_taken_and_given_back():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wanted = taken.getsockname()[1]
        served = Served(ViewOnly("127.0.0.1", wanted))
        assert served.view.port > wanted
        assert b"telerobotLooks" in body_of(served.view.port)
        stop_server(served.server)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", served.view.port), LIMIT)


def test_an_address_or_a_port_that_cannot_be_is_refused_by_name():
    with pytest.raises(InvalidValueError, match="console view host"):
        start_server("127.0.0.1", 0, Pages(StopBar(print), view=ViewOnly("203.0.113.7", 0)))
    with pytest.raises(InvalidValueError, match="console view port"):
        start_server("127.0.0.1", 0, Pages(StopBar(print), view=ViewOnly("127.0.0.1", 70000)))


def test_the_page_of_a_hand_is_not_among_them(served):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(url("127.0.0.1", served.view.port) + PAGE, timeout=LIMIT)
    with served.page(served.view.port) as looking:  # whatever it says there
        looking.send(json.dumps({"held": True, "time": 0.0, "pose": [0.0] * 6 + [1.0]}))
    with connect(f"ws://127.0.0.1:{served.view.port}{POSES}", subprotocols=[f"viser-v{viser.__version__}"]) as page:
        page.send(json.dumps({"held": True, "time": 0.0, "pose": [0.0] * 6 + [1.0]}))
    assert served.hand.take() == []


@pytest.mark.lengthy
def test_in_a_browser_it_says_view_only_and_no_key_or_button_stops(served):
    with served.showing(STATE), chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.set_default_timeout(1000.0 * LIMIT)
        page.goto(url("127.0.0.1", served.view.port))
        page.locator("#stops .banner", has_text="RUNNING").wait_for()
        assert page.locator("#stops .looks").inner_text() == "VIEW ONLY"
        assert page.locator("#stops button:visible").count() == 0
        for key in ("Escape", "h"):
            page.keyboard.press(key)
        page.goto(url("127.0.0.1", served.server.get_port()))  # one that drives, from the same browser
        page.locator("#stops .banner", has_text="RUNNING").wait_for()
        page.keyboard.press("Escape")
        assert served.wait_for(lambda: served.pressed)
    assert served.pressed == [Press.HALT]
