"""What counts as a halt: typed in fear, mangled on the way, or hidden in noise; and what does not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import HALT_WORDS, begins_with_halt, halt_scope, is_only_halt
from telerobot_nodes.rtc.language import grammar

TYPED = ["stop", "STOP!", "halt!", "halt now", "Halt.", "halt please", "halt left arm", "estop", "E-STOP", "e stop"]
TYPED += ["emergency stop", "abort abort", "stop now", "!!stop!!", "'halt'", "halt\u200b", "h\u200balt", "\ufeffhalt"]
TYPED += [
    "\u2060\u200dstop",
    "\uff28\uff21\uff2c\uff34",  # full width
    "hält",
    "halted is the arm",
    "halt; nonsense",
    "halt}{",
    "  \n\thalt",
    "halt\x00",
]
TYPED += [
    "halt " + "x" * 100_000,
    b"halt \xff\xfe",
    b"\xffhalt",
    b"ha\xfflt",
    b"e\xe2\x80\x93stop",
    "e\u2013stop",
    "\ufffdhalt",
]


@pytest.mark.parametrize("text", TYPED, ids=lambda text: ascii(text[:24]))
def test_whatever_begins_with_a_halt_word_halts(text):
    assert begins_with_halt(text)


@pytest.mark.parametrize(
    "text", ["", "hal", "please stop", "move left_arm to dock", "status", "reset", b"\xff", "hold"]
)
def test_other_texts_do_not_halt(text):
    assert not begins_with_halt(text)


@given(
    st.sampled_from(HALT_WORDS),
    st.text("!?.,;:-_'\"()[]{}*/\\ \t\n0123456789\u200b\u200c\u200d\ufeff\u00ad", max_size=20),
    st.text(max_size=50),
    st.lists(st.booleans(), min_size=9, max_size=9),
)
def test_case_noise_before_and_words_after_do_not_matter(word, before, after, upper):
    written = "".join(char.upper() if up else char for char, up in zip(word, upper, strict=False))
    assert begins_with_halt(before + written + " " + after)
    assert begins_with_halt((before + written).encode() + b" \xff" + after.encode(errors="ignore"))


@pytest.mark.lengthy
def test_no_other_statement_of_the_language_begins_with_a_halt_word():
    starts = grammar().parse_interactive("").accepts()
    words = {str(terminal.pattern.value) for terminal in grammar().terminals if terminal.name in starts}
    assert [word for word in words if begins_with_halt(word)] == ["halt"]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("halt left_arm", "left_arm"),
        ("  HALT  left-arm ; ", "left-arm"),
        ("halt command 7", 7),
        ("halt command 007", 7),
        ("halt", ""),
        ("halt all", ""),
        ("halt ALL;", ""),
        ("halt command 0", ""),
        ("halt left_arm; halt right_arm", ""),
        ("halt left arm", ""),
        ("stop left_arm", ""),
        ("halt left_arm" + " " * 5000, ""),
        (b"halt left_arm", "left_arm"),
    ],
)
def test_the_scope_is_all_that_a_text_says_or_it_is_everything(text, scope):
    assert halt_scope(text) == scope


@pytest.mark.parametrize(
    "text", ["halt", "STOP!!!", " e-stop ", "emergency stop", "halt all", "\u200bhalt\u200b", "abort;"]
)
def test_a_halt_alone_needs_no_reading(text):
    assert is_only_halt(text)


@pytest.mark.parametrize("text", ["halt now", "halt 3", "halt left_arm", "halt; status", "stopp", "halt" + " " * 5000])
def test_a_halt_with_more_is_to_be_read(text):
    assert not is_only_halt(text)


def test_ten_megabytes_are_looked_at_as_quickly_as_ten_characters():
    text = "\u200b" * 500 + "halt" + "ü" * 10_000_000
    best = min(_seconds(text) for _ in range(20))
    assert best < 0.002


def _seconds(text):
    began = time.perf_counter()
    assert begins_with_halt(text)
    return time.perf_counter() - began
