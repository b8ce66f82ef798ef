"""Halts found in serialized texts: the same that the decision unit finds in the whole message, whatever bytes come."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy")

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import Command, LinkStamp
from telerobot_nodes.core.memory import AGENT_LENGTH
from telerobot_nodes.core.protocol import HaltId, begins_with_halt, halt_scope
from telerobot_nodes.nodes.halts.halt_texts import TextHalt, halt_of_text

LETTERS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
STARTS = st.sampled_from(["", "halt ", "STOP", "e-stop!", "halt left_arm", "halt command 3", "abört", "hold", "  halt"])
LONG = st.sampled_from(["", "x" * 200, "ä" * 5000])


def serialized(text="halt", sender="host/shell/1", number=1, link="host/shell/1"):
    return serialize_message(Command(link=LinkStamp(sender=link, number=number), sender=sender, text=text))


@given(LETTERS, LONG, LETTERS, LONG, st.sampled_from([0, 1, 2**63, 2**64 - 1]), STARTS, LETTERS, LONG)
def test_it_is_the_halt_that_the_whole_message_holds(link, link_end, sender, sender_end, number, start, text, text_end):
    data = serialized(start + text + text_end, sender + sender_end, number, link + link_end)
    message = deserialize_message(data, Command)
    found = halt_of_text(data)
    assert (found is not None) == (begins_with_halt(message.text) and not isinstance(halt_scope(message.text), int))
    if found is not None:  # the receipts keep this much of a sender, however it came
        names = (found.named.agent, HaltId.of_text(message.link.sender, 0).agent)
        assert len({name[:AGENT_LENGTH] for name in names}) == 1
        assert found.named.number == number


@pytest.mark.parametrize("arms", [(), ("left_arm",), ("other", "Left-Arm")])
def test_a_text_that_names_an_arm_is_a_halt_of_this_one_only(arms):
    others = ["right_arm", "Polishing"] if arms else ["right_arm", "Polishing", "left_arm"]
    assert (halt_of_text(serialized("halt left_arm"), arms, others) is not None) == bool(arms)
    for text in ("halt right_arm", "halt RIGHT-arm;", "halt polishing", "halt command 3"):
        assert halt_of_text(serialized(text), (*arms, "3", ""), others) is None, text
    assert halt_of_text(serialized("halt left_arm now"), arms, others) is not None


@pytest.mark.parametrize("word", ["please", "now", "everything", "it", "robot", "left_amr", "right_arm_2"])
def test_a_word_that_names_nothing_known_changes_nothing(word):
    assert halt_of_text(serialized(f"halt {word}"), ["left_arm"], ["right_arm", "polishing"]) is not None


def test_before_any_name_is_known_every_halt_is_one():
    assert halt_of_text(serialized("halt right_arm")) is not None


def test_the_reason_is_that_of_the_decision_unit():
    assert halt_of_text(serialized()) == TextHalt(HaltId("host/shell/1.text", 1), "halt by shell")
    assert halt_of_text(serialized(sender="")).reason == "halt by unknown"


@pytest.mark.parametrize("text", [b"halt \xff\xfe\xc0\x80", b"\xffstop", b"halt " + b"x" * 100_000, b"halt\0\0\0\0"])
def test_bytes_that_no_python_sends_halt(text):
    place = "?" * len(text)
    assert halt_of_text(serialized(place).replace(place.encode(), text)) is not None


@pytest.mark.parametrize("name", [b"\xff\xfe\xc0\x80", b"a\0bc"])
def test_a_name_that_is_no_text_is_that_which_the_decision_unit_reads(name):
    data = serialized(link="????").replace(b"????", name)
    whole = deserialize_message(data, Command)
    assert halt_of_text(data).named == HaltId.of_text(whole.link.sender, 1)


def test_a_message_cut_anywhere_is_a_halt_once_the_word_is_there_and_never_an_error():
    data = serialized("halt everything")
    end = data.index(b"halt everything") + len("halt")
    for length in range(len(data)):
        assert (halt_of_text(data[:length]) is not None) == (length >= end), length


def test_a_halt_of_another_arm_whose_message_is_cut_is_one_of_everything():
    """The decision unit cannot read it, and nobody else would stop the other arm."""
    data = serialized("halt right_arm")
    end = data.index(b"halt right_arm") + len("halt right_arm")
    assert halt_of_text(data, ["left_arm"], ["right_arm"]) is None
    assert halt_of_text(data[:end], ["left_arm"], ["right_arm"]) is not None


@pytest.mark.parametrize("text", ["halt right_arm", "halt command 3"])
def test_without_a_decision_unit_every_halt_is_one_of_everything(text):
    assert halt_of_text(serialized(text), ["left_arm"], ["right_arm"], alone=True) is not None
    assert halt_of_text(serialized("status"), ["left_arm"], ["right_arm"], alone=True) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(data):
    halt_of_text(data)
    halt_of_text(b"\0\1\0\0" + data)


def test_a_length_that_lies_is_no_error():
    data = serialized("halt")
    at = data.index(b"halt") - 4
    lying = [data[:at] + struct.pack("<I", length) + data[at + 4 :] for length in (0, 5, 2**31, 2**32 - 1)]
    assert [halt_of_text(one) is not None for one in lying] == [False, True, True, True]


def test_the_other_byte_order_is_read_too():
    parts = [b"\0\0\0\0", struct.pack(">iI", 0, 0), struct.pack(">I", 4), b"abc\0", struct.pack(">Q", 7)]
    parts += [struct.pack(">I", 1), b"\0\0\0\0", struct.pack(">I", 5), b"stop\0\0\0\0", struct.pack(">I", 1), b"\0"]
    assert halt_of_text(b"".join(parts)).named == HaltId("abc.text", 7)
