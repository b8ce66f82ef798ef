"""Property: any statements in any order, right and wrong: one reply a text, one report a command, no output lost."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import begins_with_halt
from telerobot_nodes.rtc.decision import HaltSubsystem, HoldSubsystem, Send, ShowTask

pytestmark = pytest.mark.lengthy  # together some seconds

TASKS = [
    "move left_arm to home",
    "move right_arm to dock",
    "wait for 0.2 s",
    "hold left_arm for 1 s as rest",
    "grasp module with left_arm",
    "grasp box with right_arm via operator-intervention",
    "try grasp box",
    "run tour",
    "run fetch(module)",
    "request left_arm",
    "grant left_arm to planner",
    "move left_arm to home queued",
]
WORDS = [
    *(
        "pause",
        "resume",
        "pause left_arm",
        "resume left_arm",
        "cancel all",
        "cancel command 1",
        "status",
        "where module",
    ),
    *(
        "reset",
        "done task 1",
        'failed task 1 because "no"',
        "done task 2",
        "show commands",
        "forget fetch",
        "pause rest",
    ),
    *("define tour as { wait for 0.1 s; move right_arm to home }", "define fetch(thing) as { grasp thing }"),
]
WRONG = [
    "grsp module",
    "pause foo",
    "cancel command 99",
    "move left_arm to nowhere",
    "run nothing",
    "}{",
    "done task 77",
]
WRONG += ["define a as { halt }", "reload skills", "grant left_arm to nobody", "#"]
HALTS = ["halt", "STOP!", "halt left_arm", "halt command 1", "halt rest", "halt now", "halt command 99", "e-stop"]
statements = st.sampled_from(TASKS) | st.sampled_from(WORDS) | st.sampled_from(WRONG) | st.sampled_from(HALTS)
messages = st.lists(statements, min_size=1, max_size=5).map("; ".join)
steps = st.lists(st.tuples(messages, st.sampled_from([0.0, 0.0, 0.05, 0.3, 2.0])), min_size=1, max_size=8)


@pytest.mark.brief(1)
@pytest.mark.parametrize("padding", ["", "  # a remark" * 20], ids=["read here", "read by a worker"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_every_text_has_one_reply_and_every_command_one_report(make_cell, padding, steps):
    cell = make_cell()
    opened = set()
    for text, pause in steps:
        replies, macros = len(cell.replies), dict(cell.unit.macros)
        outputs = cell.interface.submit("operator", text + padding, cell.now)
        acted = [one for one in outputs if isinstance(one, (HaltSubsystem, HoldSubsystem, Send, ShowTask))]
        cell.take(outputs)
        cell.settle(until=cell.now)  # what a worker reads
        assert len(cell.replies) == replies + 1
        reply = cell.replies[-1]
        if not reply.ok and not begins_with_halt(text):
            assert acted == []
            assert cell.unit.macros == macros
        cell.settle(until=cell.now + pause)
    opened = {reply.command for reply in cell.replies if reply.command}
    cell.say("resume")
    cell.say("halt")
    cell.settle()
    assert cell.unit.commands == {}
    assert opened <= set(cell.reports)
    assert set(cell.report_count.values()) <= {1}
    assert sorted(cell.reports) == list(range(1, len(cell.reports) + 1))
    last = {report.origin: report.more for _, report in sorted(cell.reports.items())}
    assert set(last) == opened
    assert not any(last.values())
    assert not [name for name in cell.unit.resources.resources if cell.unit.resources.holders(name)]
    assert cell.tasks == {}
    assert cell.unit._table.out == []
