"""What is drawn by another thread reaches a page that is about to wait for it."""

import asyncio
import threading

import pytest
import viser
from websockets.sync.client import connect

from telerobot_nodes.operator.web import Served, StopBar, start_server, stop_server
from telerobot_nodes.operator.web.loop_event import LoopEvent

LIMIT = 20.0  # [s]


class BetweenLookAndWait:
    """An event whose waiter stops between its look at the event and its wait, until another thread has set it."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.looked, self.go_on = threading.Event(), threading.Event()

    def _get_loop(self):
        self.looked.set()
        self.go_on.wait(LIMIT)
        return super()._get_loop()


class Stopped(BetweenLookAndWait, LoopEvent):
    pass


class StoppedAsyncio(BetweenLookAndWait, asyncio.Event):
    pass


def woken(make):
    """Whether a waiter wakes, for which another thread sets the event between its look and its wait."""

    async def wait():
        event = make(asyncio.get_running_loop())

        def set_it():
            event.looked.wait(LIMIT)
            event.set()
            event.go_on.set()
            loop.call_soon_threadsafe(event.set)  # as viser does, beside the call above

        loop = asyncio.get_running_loop()
        setter = threading.Thread(target=set_it)
        setter.start()
        try:
            await asyncio.wait_for(event.wait(), 0.5)
        except TimeoutError:
            return False
        finally:
            setter.join()
        return True

    return asyncio.run(wait())


@pytest.mark.lengthy
def test_a_waiter_wakes_whenever_another_thread_sets_the_event():
    assert woken(Stopped)
    assert not woken(lambda loop: StoppedAsyncio())  # why there is a LoopEvent; drop it when this wakes


def test_another_thread_sets_it_through_the_loop_only():
    async def set_twice():
        event, loop = LoopEvent(asyncio.get_running_loop()), asyncio.get_running_loop()
        await loop.run_in_executor(None, event.set)
        before = event.is_set()
        await loop.run_in_executor(None, loop.call_soon_threadsafe, event.set)
        await asyncio.wait_for(event.wait(), LIMIT)
        return before

    assert asyncio.run(set_twice()) is False


@pytest.fixture
def server():
    server = start_server("127.0.0.1", 0, Served(StopBar(print)))
    yield server
    stop_server(server)


@pytest.mark.lengthy
def test_the_server_wakes_its_pages_by_such_an_event(server):
    assert isinstance(server._websock_server.get_message_buffer().message_event, LoopEvent)
    text = server.gui.add_html("")
    address = f"ws://127.0.0.1:{server.get_port()}"
    with connect(address, subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as page:
        while True:  # what was there when the page came
            try:
                page.recv(0.5)
            except TimeoutError:
                break
        text.content = "drawn"
        assert page.recv(LIMIT)
