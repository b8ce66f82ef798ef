"""The live script in a terminal and in a log."""

import io
from types import SimpleNamespace

from rich.console import Console

from telerobot_nodes.core.protocol import StepState


def step(name, state, recovery="", note=""):
    what = {"kind": "touch", "subsystem": "left_arm", "began": 1.0, "ended": 3.5}
    return SimpleNamespace(name=name, state=int(state), recovery=recovery, note=note, **what)


def script(*steps, outcome="", reason=""):
    return SimpleNamespace(
        text="grasp module", command=1, state="executing", paused=False, steps=list(steps), outcome=outcome,
        reason=reason, elapsed=3.5,
    )  # fmt: skip


def shown(messages, terminal):
    from telerobot_nodes.operator.script import LiveScript

    out = io.StringIO()
    with LiveScript(Console(file=out, force_terminal=terminal, width=120, highlight=False)) as live:
        for message in messages:
            live.show(message)
    return out.getvalue()


FAILED = step("close", StepState.FAILED, note="the fingers hold nothing")
OPEN = step("open_again", StepState.DONE, recovery="grasp_again")
COMING = step("place.move_in", StepState.TO_COME)


def test_a_log_has_each_step_once_when_it_is_over():
    active = step("close", StepState.ACTIVE)
    text = shown([script(active), script(FAILED, COMING), script(FAILED, OPEN, COMING)], terminal=False)
    lines = text.splitlines()
    assert [line.split()[:2] for line in lines] == [["x", "close"], ["+", "open_again"]]
    assert "the fingers hold nothing" in lines[0]


def test_a_step_that_waits_is_said_once_and_again_when_it_waits_again():
    waits, active = step("close", StepState.WAITING), step("close", StepState.ACTIVE)
    text = shown([script(waits), script(waits), script(active), script(waits)], terminal=False)
    assert [line.split()[:2] for line in text.splitlines()] == [["?", "close"]] * 2


def test_a_whole_log_has_texts_times_recoveries_and_ends():
    from telerobot_nodes.operator.script import ScriptLines

    lines = ScriptLines(whole=True)
    first = [str(line) for line in lines.of(script(FAILED, COMING))]
    assert first[0] == "command 1: grasp module"
    assert first[1].split()[:4] == ["1.00", "s", "x", "close"]
    last = [str(line) for line in lines.of(script(FAILED, OPEN, outcome="failed", reason="no use"))]
    assert "[recovery grasp_again]" in last[0]
    assert last[1:] == ["failed: no use (3.5 s)"]


def test_a_terminal_shows_the_tree_with_recoveries_and_frames():
    text = shown([script(FAILED, OPEN, COMING, outcome="failed", reason="[red] is text")], terminal=True)
    for words in ("grasp module  [failed: [red] is text]", "recovery grasp_again", "place", "the fingers hold nothing"):
        assert words in text
