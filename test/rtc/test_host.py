"""The host: halts overtake everything, a flood is refused at the door, every caller gets its own answer."""

import threading
import time

import pytest

from telerobot_nodes.core.protocol import HaltId
from telerobot_nodes.rtc.decision import CommandReport, DecisionUnit
from telerobot_nodes.rtc.server import Host, InterfaceServer, Workers
from telerobot_nodes.rtc.server.inbox import MAX_OF_ONE_SENDER, MAX_REMARKS
from telerobot_nodes.rtc.world import Database

pytestmark = pytest.mark.lengthy  # together some seconds

LIMIT = 20.0  # [s]


class Arms:
    """Subsystems that keep what they are told, and may be slow to be told it."""

    def __init__(self):
        self.sent, self.halts, self.stops, self.halted = [], [], [], threading.Event()
        self.named, self.ended, self.resumed = [], [], []

    def send(self, primitive, request):
        self.sent.append(primitive)

    def halt(self, subsystem, reason, primitive, named=None):
        self.halts.append(subsystem)
        self.named.append(named)

    def halt_all(self, reason, named=None):
        self.halts.append("all")
        self.named.append(named)
        self.halted.set()

    def end(self, subsystem, primitive, outcome="halted"):
        self.ended.append(subsystem)

    def resume_all(self, reason):
        self.resumed.append(reason)

    def stop(self, subsystem, reason, primitive, outcome="halted"):
        self.stops.append((subsystem, outcome))

    def hold(self, primitive, subsystem, hold):
        pass

    def slow(self, primitive, speed):
        pass


class Calls(list):
    """Answers as they come; waits for one."""

    def __init__(self):
        super().__init__()
        self.came = threading.Semaphore(0)

    def __call__(self, value):
        self.append(value)
        self.came.release()

    def next(self):
        assert self.came.acquire(timeout=LIMIT)
        return self[-1]


@pytest.fixture
def rig(library, config, cell):
    database = Database(cell.database.view.query())
    arms, out, errors = Arms(), Calls(), []
    interface = InterfaceServer(DecisionUnit(library), database)
    host = Host(interface, lambda: Workers(database, cell.checks, config), arms, out, time.monotonic, errors.append)
    host.start()
    yield host, arms, out
    host.stop()
    assert errors == []


def test_a_text_is_answered_and_its_command_reported(rig):
    host, _, _ = rig
    answers, ends = Calls(), Calls()
    host.submit("ana", "wait for 0.05 s; wait for 0.05 s", answers, ends)
    assert answers.next().command == 1
    report = ends.next()
    assert (report.outcome, report.origin, report.more) == ("succeeded", 1, False)


def test_every_caller_gets_its_own_answer(rig):
    host, _, _ = rig
    calls = [Calls() for _ in range(20)]
    for number, call in enumerate(calls):
        host.submit(f"agent{number}", "where module" if number % 2 else "show macros", call)
    for number, call in enumerate(calls):
        assert call.next().sender == f"agent{number}"
        assert ("module:" in call[0].text) == bool(number % 2)


def test_a_long_text_is_answered_when_a_worker_has_parsed_it(rig):
    host, _, _ = rig
    answers, ends = Calls(), Calls()
    host.submit("script", "wait for 0.01 s; " * 40 + "wait for 0.01 s", answers, ends)
    assert answers.next().ok
    assert ends.next().outcome == "succeeded"


def test_a_halt_overtakes_a_full_inbox(rig):
    host, arms, _ = rig
    gate, inside = threading.Event(), threading.Event()

    def block(now):
        inside.set()
        assert gate.wait(LIMIT)
        return []

    host.ask(block)
    assert inside.wait(LIMIT)
    order = []
    for _ in range(MAX_OF_ONE_SENDER + 5):
        host.submit("flood", "where module", lambda reply: order.append("text" if reply.ok else "refused"))
    assert order == ["refused"] * 5  # at the door
    host.submit("ana", "where module", lambda reply: order.append("other"))  # there is room for others
    halted = Calls()
    host.submit("ana", "halt", lambda reply: (order.append("halt"), halted(reply)))
    assert arms.halted.is_set()  # while the decision thread still works
    gate.set()
    assert halted.next().text == "halt"
    assert order[5] == "halt"  # before all that had come earlier


def blocked(host):
    """The decision thread stands still until the gate is set."""
    gate, inside = threading.Event(), threading.Event()

    def block(now):
        inside.set()
        assert gate.wait(LIMIT)
        return []

    host.ask(block)
    assert inside.wait(LIMIT)
    return gate


@pytest.mark.parametrize(
    "text",
    ["STOP!", "halt now", "halt; nonsense", "halt left_arm; halt right_arn", b"halt \xff", "halt " + "x" * 100_000],
)
def test_every_text_that_begins_with_a_halt_word_has_stopped_the_arms_when_it_is_taken(rig, text):
    host, arms, _ = rig
    gate = blocked(host)
    host.submit("ana", text, answers := Calls())
    assert arms.halts == ["all"]  # on this thread; the decision thread does nothing
    gate.set()
    assert answers.next().text.startswith("halt")
    assert len(answers) == 1


def test_a_scoped_halt_takes_the_direct_path_too(rig):
    host, arms, _ = rig
    gate = blocked(host)
    host.submit("ana", "halt left_arm", answers := Calls())
    assert arms.halts == ["left_arm"]
    host.submit("ana", "halt left_arn", answers)  # nobody is called so: everything
    assert arms.halts == ["left_arm", "all"]
    gate.set()
    answers.next()
    assert {answer.text[:4] for answer in (answers.next(), *answers)} == {"halt"}


@pytest.mark.parametrize("halt", ["halt", "halt left_arm"])
@pytest.mark.parametrize("text", ["reset", "reset  # " + "x" * 200])
def test_a_reset_that_waits_while_somebody_halts_does_not_end_that_halt(rig, halt, text):
    host, arms, _ = rig
    gate = blocked(host)
    host.submit("ana", text, early := Calls())
    host.submit("bob", halt, halted := Calls())
    gate.set()
    halted.next()
    assert not early.next().ok
    assert arms.resumed == []
    host.submit("ana", "reset", late := Calls())
    assert late.next().ok
    host.submit("ana", "show commands", late)
    late.next()  # the outputs of the reset were played
    assert len(arms.resumed) == 1


def test_no_halt_is_swallowed_by_the_inbox_of_a_flood(rig):
    host, arms, _ = rig
    gate = blocked(host)
    for _ in range(MAX_OF_ONE_SENDER + 5):
        host.submit("flood", "where module")
    answers = Calls()
    for _ in range(100):
        host.submit("flood", "halted is ..", answers)
    assert arms.halts == ["all"] * 100
    assert len(answers) == 100 - MAX_REMARKS  # told at once that they are not read
    gate.set()
    for _ in range(100):
        answers.next()
    assert len(answers) == 100


def test_after_2000_texts_beginning_with_halt_the_next_report_is_handled_within_50_ms(rig):
    host, arms, _ = rig
    took = []
    for _ in range(10):
        gate = blocked(host)
        for _ in range(2000):
            host.submit("flood", "halted is ..")
        handled = threading.Event()
        host._inbox.work_done(lambda now, handled=handled: handled.set() or [])
        host.submit("ana", "where module", asked := Calls())
        began = time.monotonic()
        gate.set()
        assert handled.wait(LIMIT)
        took.append(time.monotonic() - began)
        asked.next()
    assert arms.halts.count("all") == 20_000
    assert min(took) < 0.05  # of a busy machine, its best


def test_an_output_that_fails_does_not_take_the_others_with_it(library, config, cell):
    """As a report that no message can carry."""

    def publish(output):
        if isinstance(output, CommandReport):
            reports(output.command)
        if isinstance(output, CommandReport) and len(reports) == 1:
            raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    reports, errors = Calls(), []
    interface = InterfaceServer(DecisionUnit(library), cell.database)
    workers = Workers(cell.database, cell.checks, config)
    host = Host(interface, lambda: workers, Arms(), publish, time.monotonic, errors.append)
    host.start()
    for _ in range(3):
        host.submit("ana", "wait for 1000 s")
    host.submit("ana", "show commands", asked := Calls())
    asked.next()
    host.halt("somebody")
    for _ in range(3):
        reports.next()
    host.stop()
    assert sorted(reports) == [1, 2, 3]
    assert [type(error) for error in errors] == [UnicodeEncodeError]


def test_a_second_halt_ends_what_began_after_the_first(rig):
    host, arms, _ = rig
    for count in (1, 2):
        host.submit("ana", "wait for 1000 s", None, ends := Calls())
        host.submit("ana", "show commands", asked := Calls())
        assert "wait" in asked.next().text
        host.halt("somebody")
        assert ends.next().outcome == "halted"
        assert arms.halts == ["all"] * count


def test_a_halt_ends_what_is_under_way(rig):
    host, arms, out = rig
    ends = Calls()
    for _ in range(20):
        host.submit("ana", "wait for 1000 s", None, ends)
    host.submit("ana", "show commands", asked := Calls())
    asked.next()
    host.halt("somebody")
    for _ in range(20):
        ends.next()
    assert {report.outcome for report in ends} == {"halted"}
    assert arms.halts[0] == "all"
    assert sum(isinstance(output, CommandReport) for output in out) == 20


@pytest.mark.brief(1)
@pytest.mark.parametrize(
    ("text", "halts", "ended"),
    [
        ("halt", ["all"], {"left_arm", "right_arm"}),
        ("halt left_arm", ["left_arm"], {"left_arm"}),
    ],
)
def test_a_halt_is_forwarded_once_under_its_own_name_also_while_arms_move(rig, text, halts, ended):
    host, arms, _ = rig
    ends = Calls()
    for arm in ("left_arm", "right_arm"):
        host.submit("ana", f"move {arm} to home", None, ends)
    while len(arms.sent) < 2:
        time.sleep(0.001)
    named = HaltId.of_text("host/shell/1f", 7)
    host.submit("host/shell/1f", text, None, None, named)
    for _ in ended:
        ends.next()
    host.submit("ana", "show commands", asked := Calls())
    asked.next()  # the bookkeeping is over
    assert (arms.halts, arms.named) == (halts, [named])
    assert set(arms.ended) == ended


def test_an_error_in_a_worker_ends_the_command_and_not_the_host(library, cell):
    def broken():
        class Broken:
            def run(self, job, now):
                raise ZeroDivisionError("worker")

        return Broken()

    errors, ends = [], Calls()
    interface = InterfaceServer(DecisionUnit(library), cell.database)
    host = Host(interface, broken, Arms(), lambda output: None, time.monotonic, errors.append)
    host.start()
    host.submit("ana", "wait for 1 s", None, ends)
    assert "internal error" in ends.next().reason
    host.stop()
    assert [type(error) for error in errors] == [ZeroDivisionError]
