"""The connection of the stop bar, without a browser: what pages may say, and the page that holds it."""

import gzip
import json
import urllib.request

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from telerobot_nodes.operator.web import BarState, Press, Served, StopBar, start_server, stop_server, url
from telerobot_nodes.operator.web.stop_bar import PATH

STATE = BarState("RUNNING", "#000000", "7.4 s", "ana", resumable=False, latched=False)


@pytest.fixture
def served():
    pressed = []
    bar = StopBar(pressed.append)
    server = start_server("127.0.0.1", 0, Served(bar))
    yield bar, pressed, url("127.0.0.1", server.get_port())
    stop_server(server)


def page_of(address, encoding):
    request = urllib.request.Request(address, headers={"Accept-Encoding": encoding})
    with urllib.request.urlopen(request, timeout=20.0) as response:
        body = response.read()
        return gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body


def test_the_page_holds_the_bar_before_everything_else_zipped_or_not(served):
    plain, zipped = (page_of(served[2], encoding) for encoding in ("identity", "gzip"))
    assert plain == zipped
    assert plain.count(b'id="stops"') == 1
    assert plain.index(b'id="stops"') < plain.index(b'id="root"')


def test_presses_arrive_and_are_confirmed_and_the_state_is_sent(served):
    bar, pressed, address = served
    bar.show(STATE)
    with connect(address.replace("http", "ws") + PATH) as page:
        assert json.loads(page.recv(20.0))["lead"] == "7.4 s"
        for press in Press:
            page.send(press.value)
            assert json.loads(page.recv(20.0)) == {"heard": press.value}
        bar.show(STATE)
        assert json.loads(page.recv(20.0))["authority"] == "ana"
    assert pressed == list(Press)


@pytest.mark.parametrize("word", ["", "HALT", "clear", "halt" * 50_000, b"halt", b"\xff\xfe", "\x00", '{"halt": 1}'])
def test_another_word_ends_the_connection_and_presses_nothing(served, word):
    _, pressed, address = served
    with connect(address.replace("http", "ws") + PATH) as page:
        page.send(word)
        with pytest.raises(ConnectionClosed):
            page.recv(20.0)
    assert pressed == []


def test_a_page_that_has_gone_keeps_no_other_from_the_state(served):
    bar, _, address = served
    connect(address.replace("http", "ws") + PATH).close()
    bar.show(STATE)
    with connect(address.replace("http", "ws") + PATH) as page:
        assert json.loads(page.recv(20.0))["banner"] == "RUNNING"
