"""Live scripts saved while a command runs, and read again."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.cli import main
from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.script import ScriptLog, commands_of, read_scripts


def step(name, state, **more):
    values = {"kind": "touch", "subsystem": "left_arm", "recovery": "", "note": "", "began": 1.0, "ended": 3.5}
    return SimpleNamespace(name=name, state=state, **(values | more))


def script(*steps, **more):
    values = {"command": 1, "origin": 1, "sender": "shell", "text": "grasp module", "state": "executing"}
    values |= {"paused": False, "outcome": "", "reason": "", "elapsed": 3.5}
    return SimpleNamespace(steps=list(steps), **(values | more))


RUN = [
    script(step("close", StepState.ACTIVE, ended=0.0)),
    script(step("close", StepState.FAILED, note="the fingers hold nothing"), step("up", StepState.TO_COME)),
    script(step("up", StepState.DONE, recovery="again"), state="ended", outcome="failed", reason='it "slipped"'),
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run.script"
    with ScriptLog(path) as writing:
        for time, message in enumerate(RUN):
            writing.write(100.0 + time, message)
    return path


def as_values(message):
    return vars(message) | {"steps": [vars(step) for step in message.steps]}


def test_what_is_read_is_what_was_written(log):
    read = read_scripts(log)
    assert [script.time for script in read] == [100.0, 101.0, 102.0]
    for saved, message in zip(read, RUN, strict=True):
        values = vars(saved) | {"steps": [vars(step) for step in saved.steps]}
        assert {name: value for name, value in values.items() if name != "time"} == as_values(message)
    assert commands_of(read)[1].outcome == "failed"


def test_a_log_can_be_read_while_it_is_written(tmp_path):
    path = tmp_path / "run.script"
    with ScriptLog(path) as writing:
        writing.write(1.0, RUN[0])
        assert len(read_scripts(path)) == 1


def test_the_shell_shows_a_log_again(log, capsys):
    assert main(["script", str(log)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "command 1: grasp module"
    assert lines[1].split()[:4] == ["1.00", "s", "x", "close"]
    assert "the fingers hold nothing" in lines[1]
    assert lines[-1] == 'failed: it "slipped" (3.5 s)'


def test_only_one_command_is_shown_when_asked(log, capsys):
    assert main(["script", str(log), "--command", "2"]) == 0
    assert capsys.readouterr().out == "no live script of command 2\n"


@pytest.mark.parametrize(("typed", "to_the_end"), [(["\n", "\n", ""], True), (["\n", ""], False)])
def test_step_by_step_ends_with_the_input(log, capsys, monkeypatch, typed, to_the_end):
    lines = iter(typed)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(readline=lambda: next(lines)))
    assert main(["script", str(log), "--step"]) == 0
    assert ("failed:" in capsys.readouterr().out) is to_the_end


GOOD = {"telerobot_script": 1}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], ":1: no log"),
        (["{}"], ":1: no log"),
        (["[" * 100_000], ":1:"),
        ([json.dumps(GOOD), "{"], ":2:"),
        ([json.dumps(GOOD), "[]"], ":2: an object"),
        ([json.dumps(GOOD), "{}"], ":2: steps"),
        ([json.dumps(GOOD), '{"steps": [{}]}'], ":2: fields"),
        ([json.dumps(GOOD), '{"steps": []}'], "command, origin"),
    ],
)
def test_a_file_that_is_no_log_is_refused_with_its_line(tmp_path, capsys, lines, says):
    path = tmp_path / "bad.script"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["script", str(path)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(("name", "value"), [("command", "1"), ("elapsed", True), ("paused", 0), ("text", None)])
def test_a_field_of_another_type_is_refused_by_name(log, name, value):
    first, second, *_ = log.read_text().splitlines()
    log.write_text("\n".join((first, json.dumps(json.loads(second) | {name: value}))))
    with pytest.raises(TelerobotError, match=f":2: {name}"):
        read_scripts(log)


def test_an_unknown_state_of_a_step_is_refused(log):
    log.write_text(log.read_text().replace('"state": 4', '"state": 44'))
    with pytest.raises(TelerobotError, match="44"):
        read_scripts(log)


@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("log") / "x.script"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n" + data)
    try:
        read_scripts(path)
    except TelerobotError as error:
        assert str(path) in str(error)
