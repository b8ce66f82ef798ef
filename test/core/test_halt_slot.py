"""The place where halts are received: nothing of a halt is lost between two processes, whatever its fields."""

import pytest

from telerobot_nodes.core.memory import SENDERS, HaltSender, HaltSlot, ReceivedHalt


def test_a_slot_without_a_halt_says_so():
    slot = HaltSlot()
    assert (slot.count, slot.beats, slot.read(), slot.latest()) == (0, 0, ReceivedHalt(), (0, ""))


def test_a_halt_is_read_on_the_other_side_of_the_same_memory():
    memory = bytearray(HaltSlot.SIZE)
    ours, theirs = HaltSlot(memory), HaltSlot(memory)
    received = ReceivedHalt(3, "ana: she fell", [HaltSender("ana", 2**64 - 1, 2), HaltSender("", 0, 3)])
    ours.write(received)
    ours.beat()
    assert (theirs.count, theirs.beats, theirs.read()) == (1, 1, received)
    assert theirs.latest() == (3, "ana: she fell")
    ours.write(ReceivedHalt(4))
    assert (theirs.count, theirs.read()) == (2, ReceivedHalt(4, "", []))


@pytest.mark.parametrize("text", ["a" * 100_000, "\udcff", "ä" * 500, "\0"])
def test_a_text_of_any_kind_fits(text):
    slot = HaltSlot()
    slot.write(ReceivedHalt(1, text, [HaltSender(text, 1, 1)]))
    assert slot.read().distinct == 1
    assert len(slot.read().reason.encode()) <= 243  # 240, and a letter cut in two becomes a mark


def test_of_more_senders_the_newest_stay():
    slot = HaltSlot()
    slot.write(ReceivedHalt(9, "", [HaltSender(str(n), n, n) for n in range(SENDERS + 2)]))
    assert [sender.number for sender in slot.read().senders] == list(range(2, SENDERS + 2))


def test_a_sender_is_confirmed_once_the_loop_has_obeyed_its_halt():
    received = ReceivedHalt(5, "", [HaltSender("ana", 7, 4), HaltSender("ben", 1, 5)])
    assert received.obeyed(3) == []
    assert received.obeyed(4) == [("ana", 7)]
    assert received.obeyed(5) == [("ana", 7), ("ben", 1)]
