import threading
from multiprocessing import shared_memory

import numpy as np
import pytest

from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion import control_records as records
from telerobot_nodes.motion.exchange import Exchange

DTYPE = np.dtype([("number", "i8"), ("values", "f8", (400,))])


def test_an_empty_exchange_reads_as_nothing():
    record = np.zeros((), DTYPE)
    record["number"] = 5
    assert Exchange(DTYPE).read(record) == 0
    assert record["number"] == 5


def test_the_latest_record_is_read_and_older_ones_are_forgotten():
    exchange = Exchange(DTYPE)
    draft, copy = np.zeros((), DTYPE), np.zeros((), DTYPE)
    for number in range(1, 10):
        draft["number"] = number
        exchange.write(draft)
    assert exchange.read(copy) == 9
    assert copy["number"] == 9
    draft["number"] = 77
    assert copy["number"] == 9


def test_a_reader_never_sees_half_a_record_while_another_thread_writes():
    exchange = Exchange(DTYPE)
    done = threading.Event()

    def write():
        draft = np.zeros((), DTYPE)
        for number in range(1, 20001):
            draft["number"] = number
            draft["values"] = number
            exchange.write(draft)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    record = np.zeros((), DTYPE)
    last = 0
    while True:
        finished = done.is_set()
        if exchange.read(record):
            assert (record["values"] == record["number"]).all()
            assert record["number"] >= last
            last = int(record["number"])
        if finished:
            break
    writer.join()
    assert last == 20000


def test_two_exchanges_over_one_shared_memory_see_the_same_record():
    memory = shared_memory.SharedMemory(create=True, size=Exchange.size(DTYPE))
    try:
        ours, theirs = Exchange(DTYPE, memory.buf), Exchange(DTYPE, memory.buf)
        draft, copy = np.zeros((), DTYPE), np.zeros((), DTYPE)
        draft["values"] = np.arange(400)
        ours.write(draft)
        assert theirs.read(copy) == 1
        np.testing.assert_array_equal(copy["values"], np.arange(400))
        del ours, theirs
    finally:
        memory.close()
        memory.unlink()


def window(count, dof=6):
    rows = np.arange(count * dof, dtype=float).reshape(count, dof)
    return MotionWindow(3, 1.5, 1.0, 0.02, rows, rows + 1, rows + 2, np.arange(count, dtype=float), np.empty(0))


def test_a_window_crosses_unchanged():
    record = np.zeros((), records.window_dtype(6))
    records.pack_window(window(40), record)
    back = records.unpack_window(record)
    for name in ("number", "splice", "start", "period"):
        assert getattr(back, name) == getattr(window(40), name)
    for name in ("position", "velocity", "acceleration", "plan_time", "gripper"):
        np.testing.assert_array_equal(getattr(back, name), getattr(window(40), name))


def test_a_window_that_does_not_fit_is_refused_and_named():
    record = np.zeros((), records.window_dtype(6))
    with pytest.raises(InvalidValueError, match="samples"):
        records.pack_window(window(records.WINDOW_SAMPLES + 1), record)
    with pytest.raises(InvalidValueError, match=r"window\.position \(shape\)"):
        records.pack_window(window(10, dof=7), record)


def test_a_reader_that_is_overtaken_reads_again():
    exchange = Exchange(DTYPE)
    draft, copy = np.zeros((), DTYPE), np.zeros((), DTYPE)
    exchange.write(draft)

    class Overtaken:
        """A copy during which the writer goes round all slots, once."""

        reads = 0

        def __setitem__(self, index, value):
            copy[index] = value
            if not self.reads:
                for number in range(2, 7):
                    draft["number"] = number
                    exchange.write(draft)
            self.reads += 1

    into = Overtaken()
    assert exchange.read(into) == 6
    assert into.reads == 2
    assert copy["number"] == 6
