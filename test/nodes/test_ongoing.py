"""Something under way, seen from other threads and from asyncio."""

import asyncio
import threading

import pytest

pytest.importorskip("rclpy")
from telerobot_nodes.nodes.clients import Ongoing

LIMIT = 30.0  # [s]


@pytest.fixture
def going():
    return Ongoing(threading.Condition(), "not yet", LIMIT)


def on_a_thread(*calls):
    def run():
        for call, value in calls:
            call(value)

    threading.Thread(target=run, daemon=True).start()


def test_the_end_wakes_every_wait_and_is_kept(going):
    assert going.wait(0.0) == "not yet"
    on_a_thread((going.finish, "done"), (going.finish, "twice"))
    assert going.wait() == going.wait(0.0) == "done"


def test_reports_come_in_order_up_to_the_end_whenever_the_reader_begins(going):
    on_a_thread((going.tell, 1), (going.tell, 2), (going.finish, "done"))
    assert list(going) == [1, 2]
    assert list(going) == [1, 2]
    assert going.report == 2


def test_a_slow_reader_gets_the_newest_reports(going):
    for number in range(1000):
        going.tell(number)
    going.finish("done")
    assert list(going) == list(range(744, 1000))


def test_it_is_awaited_and_iterated_in_asyncio(going):
    async def session():
        on_a_thread((going.tell, 1), (going.finish, "done"))
        return [report async for report in going], await going

    assert asyncio.run(session()) == ([1], "done")


def test_who_stops_awaiting_ends_neither_it_nor_the_wait_of_others(going):
    async def session():
        task = asyncio.create_task(going._awaited())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        going.finish("done")
        return await going

    assert asyncio.run(session()) == "done"


def test_the_limit_of_an_await_gives_the_unfinished_end():
    assert asyncio.run(Ongoing(threading.Condition(), "not yet", 0.01)._awaited()) == "not yet"


def test_callbacks_get_the_end_before_or_after_it(going):
    got = []
    going.then(got.append)
    going.finish("done")
    going.then(got.append)
    assert got == ["done", "done"]
