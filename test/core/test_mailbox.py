import threading
from multiprocessing import shared_memory

import numpy as np

from telerobot_nodes.core.memory import Mailbox

DTYPE = np.dtype([("number", "i8"), ("values", "f8", (400,))])


def test_an_empty_mailbox_reads_as_nothing():
    record = np.zeros((), DTYPE)
    record["number"] = 5
    assert Mailbox(DTYPE).read(record) == 0
    assert record["number"] == 5


def test_the_latest_record_is_read_and_older_ones_are_forgotten():
    mailbox = Mailbox(DTYPE)
    draft, copy = np.zeros((), DTYPE), np.zeros((), DTYPE)
    for number in range(1, 10):
        draft["number"] = number
        mailbox.write(draft)
    assert mailbox.read(copy) == 9
    assert copy["number"] == 9
    draft["number"] = 77
    assert copy["number"] == 9


def test_a_reader_never_sees_half_a_record_while_another_thread_writes():
    mailbox = Mailbox(DTYPE)
    done = threading.Event()

    def write():
        draft = np.zeros((), DTYPE)
        for number in range(1, 20001):
            draft["number"] = number
            draft["values"] = number
            mailbox.write(draft)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    record = np.zeros((), DTYPE)
    last = 0
    while True:
        finished = done.is_set()
        if mailbox.read(record):
            assert (record["values"] == record["number"]).all()
            assert record["number"] >= last
            last = int(record["number"])
        if finished:
            break
    writer.join()
    assert last == 20000


def test_two_mailboxes_over_one_shared_memory_see_the_same_record():
    memory = shared_memory.SharedMemory(create=True, size=Mailbox.size(DTYPE))
    try:
        ours, theirs = Mailbox(DTYPE, memory.buf), Mailbox(DTYPE, memory.buf)
        draft, copy = np.zeros((), DTYPE), np.zeros((), DTYPE)
        draft["values"] = np.arange(400)
        ours.write(draft)
        assert theirs.read(copy) == 1
        np.testing.assert_array_equal(copy["values"], np.arange(400))
        del ours, theirs
    finally:
        memory.close()
        memory.unlink()


def test_a_reader_that_is_overtaken_reads_again():
    mailbox = Mailbox(DTYPE)
    draft, copy = np.zeros((), DTYPE), np.zeros((), DTYPE)
    mailbox.write(draft)

    class Overtaken:
        """A copy during which the writer goes round all slots, once."""

        reads = 0

        def __setitem__(self, index, value):
            copy[index] = value
            if not self.reads:
                for number in range(2, 7):
                    draft["number"] = number
                    mailbox.write(draft)
            self.reads += 1

    into = Overtaken()
    assert mailbox.read(into) == 6
    assert into.reads == 2
    assert copy["number"] == 6
