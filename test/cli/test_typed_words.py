"""What is typed while a command waits for its steps."""

import os

import pytest

from telerobot_nodes.cli.program import Watching
from telerobot_nodes.cli.program.typed_words import TypedLines, text_of
from telerobot_nodes.rtc.language import parse, print_statement


@pytest.mark.parametrize(
    ("line", "command", "text"),
    [
        ("", 3, "step command 3"),
        ("Continue", 3, "continue command 3"),
        ("cancel", 3, "cancel command 3"),
        ("", 0, ""),
        ("halt", 3, "halt"),
        ("where module", 0, "where module"),
    ],
)
def test_a_line_means_a_text(line, command, text):
    assert text_of(line, command) == text


def test_lines_are_read_as_they_come_and_none_after_the_end():
    out, into = os.pipe()
    typed = TypedLines(out)
    assert typed.read() == []
    os.write(into, b"\nconti")
    assert typed.read() == [""]
    os.write(into, b"nue \n")
    assert typed.read() == ["continue"]
    os.close(into)
    assert typed.read() == typed.read() == []
    os.close(out)


def test_options_stand_before_the_text_as_words():
    text = Watching(step=True, break_at=("take.close", "grasp")).text_of("grasp module")
    assert [print_statement(one) for one in parse(text)] == [
        "confirm each step",
        "break at 'take.close', grasp",
        "grasp module",
    ]
    assert Watching().text_of("grasp module") == "grasp module"


def test_a_halt_is_not_put_behind_other_words():
    assert Watching(step=True).text_of("Stop!") == "Stop!"
