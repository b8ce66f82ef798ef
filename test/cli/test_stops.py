"""`telerobot halt` as a frightened person types it: nothing on the line keeps it back."""

import pytest
import typer
from typer.testing import CliRunner

from telerobot_nodes.cli import stops
from telerobot_nodes.cli.app import build_app, meant
from telerobot_nodes.cli.table import COMMANDS


@pytest.fixture
def sent(monkeypatch):
    """The stops that would be sent: topic, reason, namespace, wait [s]."""
    out = []
    monkeypatch.setattr(stops, "_stop", lambda *values: out.append(values))
    return out


def run(*words):
    return CliRunner().invoke(build_app((words[0],)), list(words)).exit_code


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "operator"),
        (("a person",), "a person"),
        (("left", "arm", "now!"), "left arm now!"),
        (("--now",), "--now"),
        (("-f", "the", "--arm=left"), "-f the --arm=left"),
        (("x" * 100_000,), "x" * 200),
    ],
)
@pytest.mark.parametrize("word", ["halt", "stop", "estop"])
def test_whatever_follows_the_word_is_a_reason(sent, word, words, reason):
    assert run(word, *words) == 0
    assert sent == [("estop" if word == "estop" else "halt", reason, "", 10.0)]


@pytest.mark.parametrize(("wait", "seconds"), [("3", 3.0), ("0", 10.0), ("-1", 10.0), ("nan", 10.0), ("soon", 10.0)])
def test_a_wait_that_is_none_is_the_usual_one(sent, wait, seconds):
    assert run("halt", "--wait", wait, "--namespace", "left") == 0
    assert sent == [("halt", "operator", "left", seconds)]


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("HALT", "halt"),
        ("Stop!", "halt"),
        ("stop!!", "halt"),
        ("abort", "halt"),
        ("emergency", "halt"),
        ("halted", "halt"),
        ("e-stop", "estop"),
        ("E-STOP!", "estop"),
        ("EStop", "estop"),
        ("fly", "fly"),
        ("--help", "--help"),
    ],
)
def test_a_stop_is_known_however_it_is_written(word, command):
    assert meant(word) == command


def test_no_other_command_is_taken_for_a_stop():
    assert {meant(word) for word in COMMANDS} == {*COMMANDS, "halt"} - {"stop"}


def test_reset_and_tare_take_only_what_they_know():
    assert isinstance(build_app(("reset",)), typer.Typer)
    assert run("reset", "--now") == 2
