"""A text that begins with a halt word stops first and is read afterwards; complaints come with the answer."""

import pytest

from telerobot_nodes.rtc.decision import Dispatch, HaltSubsystem, HoldSubsystem, Reply, ResumeSubsystems
from telerobot_nodes.rtc.language import Control, Name
from telerobot_nodes.rtc.server.control_words import ControlWords

MOVES = "move left_arm to home", "move right_arm to home"
FEAR = ["STOP!", "halt now", "stop", "halt; move left_arm to dock", "halt left_arm; halt right_arn", "halt}{", "e-stop"]
FEAR += [
    "halt " + "x" * 100_000,
    b"halt \xff",
    b"\xffstop",
    "halt; cancel command 99",
    "halt command 99",
    "abort all of it",
]
FEAR += [
    "# halt: a remark\nmove left_arm to dock",
    "halt; reload skills",
    "halt left_arm" + "\u200b" * 2000,
    "halt" * 30_000,
]


def moving(cell):
    numbers = [cell.say(text) for text in MOVES]
    cell.settle(until=cell.now + 0.3)
    assert {running.primitive.subsystem for running in cell.executor.running.values()} == {"left_arm", "right_arm"}
    return numbers


@pytest.mark.parametrize("text", FEAR, ids=lambda text: ascii(text[:30]))
def test_whatever_follows_a_halt_word_everything_stops_and_every_command_has_one_report(cell, text):
    numbers = moving(cell)
    before = len(cell.replies)
    outputs = cell.interface.submit("ana", text, cell.now)
    assert [output.subsystem for output in outputs[:2]] == ["left_arm", "right_arm"]
    cell.take(outputs)
    cell.settle()
    assert {cell.reports[number].outcome for number in numbers} == {"halted"}
    assert cell.report_count == dict.fromkeys(numbers, 1)
    assert cell.unit.commands == {}
    assert len(cell.replies) == before + 1
    assert cell.replies[-1].text.startswith("halt")


def test_arms_that_no_command_moves_are_stopped_as_well(cell):
    """The plan may move them."""
    cell.say("halt")
    assert {(halt.subsystem, halt.primitive) for _, halt in cell.halts} == {("left_arm", 0), ("right_arm", 0)}


@pytest.mark.parametrize(
    ("text", "ok", "says"),
    [
        ("halt", True, "halt"),
        ("STOP!", True, "halt"),
        ("halt now", True, "everything is stopped; not understood"),
        ("halt; move left_arm to dock", False, "a task cannot follow a halt"),
        ("halt left_arm; halt right_arn", False, "did you mean right_arm?"),
        ("halt; nonsense", False, "'nonsense' cannot stand here"),
        ("halt " + "x" * 100_000, True, "were not read"),
        ("halt; status", True, "halt\n"),
        ("halt; halt left_arm; where module", True, "module: (0.7"),
    ],
)
def test_the_answer_says_what_was_not_understood(cell, text, ok, says):
    moving(cell)
    cell.say(text)
    reply = cell.replies[-1]
    assert reply.ok == ok
    assert says in reply.text


def test_a_scope_that_is_known_stops_no_more_than_it_names(cell):
    left, right = moving(cell)
    cell.say("halt left_arm")
    cell.settle(until=cell.now + 0.1)
    assert cell.reports[left].outcome == "halted"
    assert right in cell.unit.commands
    cell.say(f"halt command {right}")
    cell.settle()
    assert cell.reports[right].outcome == "halted"
    assert {halt.subsystem for _, halt in cell.halts} == {"left_arm", "right_arm"}


def test_a_label_is_a_scope(cell):
    cell.say("move left_arm to home as tour")
    right = cell.say("move right_arm to home")
    cell.settle(until=0.3)
    cell.say("halt tour")
    cell.settle(until=0.5)
    assert cell.reports[1].outcome == "halted"
    assert right in cell.unit.commands


def test_a_long_text_that_came_before_a_halt_begins_nothing_after_it(cell):
    """The worker still reads it when the halt comes."""
    outputs = cell.interface.submit("script", "; ".join(["move left_arm to dock"] * 50), cell.now)
    assert [type(output) for output in outputs] == [Dispatch]
    cell.now += 0.1
    cell.say("halt")
    cell.take(outputs)
    cell.settle()
    assert cell.executor.sent == []
    assert cell.replies[-1] == Reply("script", "a halt came after this text; nothing of it was begun", ok=False)


def test_a_long_text_that_waited_behind_a_halt_begins_nothing(cell):
    """It came first and is read last: the worker gets it after the halt."""
    cell.now = 1.0
    cell.say("halt")
    for text in ("; ".join(["move left_arm to dock"] * 50), "reset  # " + "as long as this " * 20):
        cell.take(cell.interface.submit("script", text, 1.1, arrived=0.9))
        cell.settle(until=cell.now)
        assert cell.replies[-1] == Reply("script", "a halt came after this text; nothing of it was begun", ok=False)
    assert cell.executor.sent == []


def test_a_reset_that_waited_behind_the_halt_of_one_arm_or_command_ends_no_halt(cell):
    """It would end a halt that its sender did not know."""
    for text in ("halt left_arm", f"halt command {moving(cell)[1]}"):
        cell.now += 1.0
        cell.say(text)
        early = cell.interface.submit("ana", "reset", cell.now + 0.2, arrived=cell.now - 0.1)
        assert [type(output) for output in early] == [Reply]
        assert not early[0].ok
        cell.take(cell.interface.submit("ana", "status", cell.now + 0.2, arrived=cell.now - 0.1))
        assert cell.replies[-1].ok
        late = cell.interface.submit("ana", "reset", cell.now + 0.2)
        assert ResumeSubsystems in [type(output) for output in late]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(("halt; reset", "reset"), ("halt left_arm; reset; status", "reset"), ("HALT;\nstatus; reset", "reset")),
        *(("halt; step", "step"), ("halt; continue", "continue"), ("halt; resume", "resume")),
        *(("halt; done task 1", "done"), ('halt; failed task 1 because "no"', "failed")),
    ],
)
def test_a_text_that_halts_ends_no_halt_and_lets_nothing_move(cell, text, word):
    """It is read late: somebody else may have halted, or begun something, meanwhile."""
    moving(cell)
    outputs = cell.interface.submit("ana", text, cell.now)
    assert not [output for output in outputs if isinstance(output, ResumeSubsystems)]
    cell.take(outputs)
    assert not cell.replies[-1].ok
    assert f"{word!r} stands in a text of its own" in cell.replies[-1].text


class Ending:
    """A record whose primitive ends between two looks of the thread that hears a halt."""

    def __init__(self, primitive):
        self._left = [primitive]

    @property
    def primitive(self):
        return self._left.pop() if self._left else None


def test_the_thread_that_hears_halts_looks_once_at_what_another_one_changes(cell):
    moving(cell)
    running = next(record for record in cell.unit.commands.values() if record.primitive)
    primitive = running.primitive
    assert ControlWords.moving([Ending(primitive), Ending(None)]) == [(primitive.subsystem, primitive.number)]


def test_a_command_that_ends_while_its_halt_is_heard_leaves_nothing_to_stop(cell):
    assert cell.interface.moved_by(Control("halt", command=99)) == []
    assert cell.interface.moved_by(Control("halt", name=Name("tour"))) == []


def test_a_text_that_waited_behind_a_halt_begins_nothing(cell):
    cell.now = 1.0
    cell.say("halt")
    cell.take(cell.interface.submit("ana", "move left_arm to dock", 1.1, arrived=0.9))
    assert not cell.replies[-1].ok
    outputs = cell.interface.submit("ana", "reset", 1.1, arrived=0.9)  # it would end a halt it did not know
    assert [type(output) for output in outputs] == [Reply]
    assert not outputs[0].ok
    cell.take(cell.interface.submit("ana", "status", 1.1, arrived=0.9))
    assert cell.replies[-1].ok
    assert cell.unit.commands == {}


@pytest.mark.parametrize(
    "text",
    [
        "pause left_arm; pause foo",
        "cancel command 1; cancel command 99",
        "pause; grsp module",
        "define a as { grasp module }; forget b; cancel command 9",
        "define a as { grasp module }; done task 7",
        "reset; move left_arm to nowhere",
        "define a as { move left_arm to nowhere }; run a",
        "define a(x) as { grasp x }; run a",
        "pause left_arm; reload skills",
        "pause left_arm; request nobody",
        "define a as { halt }",
        "move left_arm to home; move left_arm to nowhere",
        "pause; " + "status; " * 100 + "pause foo",
    ],
    ids=lambda text: text[:50],
)
def test_no_statement_is_executed_when_another_is_wrong(cell, text):
    moving(cell)
    sent, halts = len(cell.executor.sent), len(cell.halts)
    outputs = cell.interface.submit("ana", text, cell.now)
    assert not [output for output in outputs if isinstance(output, (HaltSubsystem, HoldSubsystem))]
    cell.take(outputs)
    cell.settle(until=cell.now + 0.05)
    assert not cell.replies[-1].ok or cell.reports[3].outcome == "refused"
    assert cell.unit.macros == {}
    assert len(cell.executor.sent) == sent
    assert len(cell.halts) == halts
    assert not any(record.paused for record in cell.unit.commands.values())


def test_control_words_come_before_tasks_of_the_same_text(cell):
    """The documented example."""
    cell.say("define fetch(thing) as { grasp thing with left_arm; move left_arm to home }; run fetch(module)")
    cell.settle()
    assert cell.replies[-1].text == "macro fetch is defined\ncommand 1"
    assert [report.outcome for report in cell.reports.values()] == ["succeeded", "succeeded"]
    cell.say("reset; status; move left_arm to home")
    assert cell.run("wait for 1 s").outcome == "succeeded"
    assert cell.reports[3].outcome == "succeeded"


def test_every_word_of_a_text_is_answered_in_one_reply(cell):
    cell.say("where module; where box; show macros")
    assert [line.partition(":")[0] for line in cell.replies[-1].text.splitlines()] == ["module", "box", "none"]
    assert len(cell.replies) == 1


def test_the_same_task_is_not_entered_twice_by_one_text(cell):
    cell.say("grasp module with left_arm via operator-intervention")
    cell.settle(until=1.0)
    cell.say("done task 1; done task 1")
    assert "entered twice" in cell.replies[-1].text
    assert list(cell.tasks) == [1]


@pytest.mark.parametrize(
    "word", ["pause", "resume", "pause left_arm", "resume left_arm", "cancel all", "cancel left_arm"]
)
def test_a_word_that_meets_no_command_says_so(cell, word):
    """The arm may be moved by the plan, or be halted."""
    cell.say(word)
    assert cell.replies[-1].ok
    assert "no command is under way" in cell.replies[-1].text
    moving(cell)
    cell.say(word)
    assert cell.replies[-1].text == word.split()[0]
