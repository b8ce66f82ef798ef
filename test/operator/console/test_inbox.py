"""The inbox between the web server's threads and the node's."""

import threading

from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.console.inbox import Inbox, Refused


def test_a_full_box_drops_requests_and_says_so():
    box = Inbox(capacity=2)
    kept = [box.put(commands.Clear()) for _ in range(5)]
    assert kept == [True, True, False, False, False]
    assert box.take() == [commands.Clear(), commands.Clear(), Refused("3 requests dropped: more than 2 waiting")]


def test_who_takes_is_woken_by_each_request_that_was_added_and_not_by_a_stream():
    taken = []
    box = Inbox(capacity=2, wake=lambda: taken.append(len(box.take())))
    box.put(commands.Clear())
    box.put_newest(commands.TimeRatio(1.0))
    box.put(commands.Clear())
    assert taken == [1, 2]


def test_a_stream_keeps_only_its_newest_value():
    box = Inbox()
    for value in (1.0, 2.0, 3.0):
        box.put_newest(commands.TimeRatio(value))
        box.put_newest(commands.SetLink(value))
    assert box.take() == [commands.TimeRatio(3.0), commands.SetLink(3.0)]


def test_taking_empties_the_box():
    box = Inbox()
    box.put(commands.Clear())
    box.put_newest(commands.TimeRatio(1.0))
    box.take()
    assert box.take() == []


def test_requests_of_many_threads_all_arrive():
    box = Inbox(capacity=400)
    threads = [threading.Thread(target=lambda: [box.put(commands.Clear()) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(box.take()) == 400
