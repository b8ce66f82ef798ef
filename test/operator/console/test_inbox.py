"""The inbox between the web server's threads and the node's."""

import threading

from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.console.inbox import Inbox, Refused


def test_a_halt_passes_every_other_request():
    box = Inbox()
    box.put(commands.Clear())
    box.put(commands.Halt())
    assert box.take() == [commands.Halt(), commands.Clear()]


def test_a_full_box_drops_requests_and_says_so_but_never_a_halt():
    box = Inbox(capacity=2)
    kept = [box.put(commands.Clear()) for _ in range(5)]
    assert box.put(commands.Halt())
    assert kept == [True, True, False, False, False]
    taken = box.take()
    assert taken[:3] == [commands.Halt(), commands.Clear(), commands.Clear()]
    assert taken[3] == Refused("3 requests dropped: more than 2 waiting")


def test_a_stream_keeps_only_its_newest_value():
    box = Inbox()
    for value in (1.0, 2.0, 3.0):
        box.put_newest(commands.TimeRatio(value))
        box.put_newest(commands.SetLink(value))
    assert box.take() == [commands.TimeRatio(3.0), commands.SetLink(3.0)]


def test_taking_empties_the_box():
    box = Inbox()
    box.put(commands.Halt())
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
