"""Requests over a line that loses, doubles and reorders, between sides that are started again: once, or not at all."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_robot import WORK, Cell

from telerobot_nodes.link.requests import Asker, Begun, RequestEnd, Runner, Start
from telerobot_nodes.link.requests.asker import DOWN_AFTER, MOST_OPEN, MOST_STOPS
from telerobot_nodes.link.requests.channels import MOST_REQUEST
from telerobot_nodes.link.requests.messages import Begin, Check, States, unpack_answer
from telerobot_nodes.link.requests.runner import MOST_ASKERS, MOST_ENTRIES, MOST_RESULT, SILENT

TIMES = st.lists(st.integers(10, 300), max_size=3)  # steps at which a side is started again


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    delay=st.floats(0.0, 2.0),
    loss=st.floats(0.0, 0.5),
    double=st.floats(0.0, 0.5),
    jitter=st.floats(0.0, 1.0),
    robot=TIMES,
    operator=TIMES,
    cut=st.tuples(st.integers(0, 300), st.integers(0, 200)),
)
@pytest.mark.lengthy
def test_every_request_begins_at_most_once_and_ends_once_as_it_was(
    seed, delay, loss, double, jitter, robot, operator, cut
):
    cell = Cell(seed, delay, loss, double, jitter)
    step = 0

    def each():
        nonlocal step
        step += 1
        cell.work = cell.random.random()
        cell.cut = cut[0] <= step < sum(cut)
        if step in robot:
            cell.start_robot()
        if step in operator:
            cell.start_operator()
        if cell.random.random() < 0.2:
            number = cell.ask(b"%d" % step, "nosuch" if cell.random.random() < 0.05 else WORK)
            if cell.random.random() < 0.2:
                cell.withdraw(number)
        elif cell.asked and cell.random.random() < 0.05:
            cell.withdraw(cell.random.choice(list(cell.asked)))

    cell.run(16.0, each)
    cell.loss, cell.cut = 0.0, False
    cell.run(60.0)
    ran = Counter(cell.ran)
    assert set(ran.values()) <= {1}
    assert set(cell.asked.values()) <= set(cell.overs)
    assert len(cell.asker) == 0
    assert cell.running == {}
    for body, over in cell.overs.items():
        if over.end is RequestEnd.DONE:
            assert (ran[body], over.body) == (1, b"did " + body)
        elif over.end is RequestEnd.REFUSED or "not sent" in over.reason or "before it" in over.reason:
            assert ran[body] == 0


def test_over_a_good_line_everything_is_done():
    cell = Cell()
    cell.run(1.0)
    for at in range(20):
        cell.ask(b"%d" % at)
    cell.run(3.0)
    assert cell.ran == [b"%d" % at for at in range(20)]
    assert {over.end for over in cell.overs.values()} == {RequestEnd.DONE}
    assert cell.progress


def test_a_request_asked_before_the_robot_is_known_begins_when_it_is():
    cell = Cell(delay=1.0)
    cell.ask(b"early")
    cell.run(6.0)
    assert cell.overs[b"early"].end is RequestEnd.DONE


def test_a_robot_that_was_started_again_does_not_run_what_the_former_one_may_have_run():
    cell = Cell(delay=0.5, work=30.0)
    cell.run(3.0)
    cell.ask(b"under way")
    cell.run(2.0)
    cell.ask(b"on its way")
    cell.start_robot()
    cell.run(5.0)
    assert cell.ran == [b"under way"]
    assert {over.end for over in cell.overs.values()} == {RequestEnd.UNKNOWN}
    assert "not started again" in cell.overs[b"on its way"].reason
    assert cell.overs[b"under way"].begun
    cell.ask(b"next")
    cell.run(5.0)
    assert cell.ran == [b"under way", b"next"]


def test_without_a_link_a_request_is_refused_at_once_and_never_begins():
    cell = Cell()
    cell.run(2.0)
    cell.cut = True
    cell.run(DOWN_AFTER + 1.0)
    cell.ask(b"into the void")
    cell.run(0.1)
    assert cell.overs[b"into the void"].end is RequestEnd.LINK_DOWN
    cell.cut = False
    cell.run(10.0)
    assert cell.ran == []


def test_what_was_sent_when_the_link_went_is_told_as_not_known_and_stopped_when_it_is_back():
    cell = Cell(delay=0.2, work=1000.0)
    cell.run(2.0)
    cell.ask(b"lost answer")
    cell.run(0.1)
    cell.cut = True  # the request passes; no answer does
    cell.run(DOWN_AFTER + 1.0)
    assert cell.ran == [b"lost answer"]
    assert cell.overs[b"lost answer"].end is RequestEnd.LINK_DOWN
    assert len(cell.running) == 1
    cell.cut = False
    cell.run(2.0)
    assert cell.running == {}
    assert len(cell.stopped) == 1
    assert len(cell.asker) == 0


def test_what_runs_when_the_link_goes_runs_on_and_its_end_is_told_when_it_is_back():
    cell = Cell(work=20.0)
    cell.run(2.0)
    cell.ask(b"long")
    cell.run(1.0)
    cell.cut = True
    cell.run(40.0)
    assert cell.overs == {}
    cell.cut = False
    cell.run(2.0)
    assert cell.overs[b"long"].end is RequestEnd.DONE
    assert cell.stopped == []


def test_a_withdrawn_request_is_stopped_once_and_ends_as_the_robot_says():
    cell = Cell(double=1.0, work=1000.0)
    cell.run(2.0)
    number = cell.ask(b"long")
    cell.run(1.0)
    for _ in range(3):
        cell.withdraw(number)
    cell.run(2.0)
    assert len(cell.stopped) == 1
    assert (cell.overs[b"long"].end, cell.overs[b"long"].body) == (RequestEnd.CANCELLED, b"stopped")


def test_too_many_open_requests_are_refused_but_for_some_that_stop():
    cell = Cell(work=1000.0)
    cell.run(2.0)
    for at in range(MOST_OPEN + 1):
        cell.ask(b"%d" % at)
    for at in range(MOST_STOPS + 1):
        cell.ask(b"stop %d" % at, stops=True)
    cell.run(2.0)
    assert {body for body, over in cell.overs.items() if over.end is RequestEnd.REFUSED} == {
        b"%d" % MOST_OPEN,
        b"stop %d" % MOST_STOPS,
    }
    assert len(cell.ran) == MOST_OPEN + MOST_STOPS


def test_a_request_that_is_too_large_is_refused_with_what_is_allowed():
    cell = Cell()
    cell.run(2.0)
    cell.ask(bytes(MOST_REQUEST))
    cell.run(1.0)
    (over,) = cell.overs.values()
    assert over.end is RequestEnd.REFUSED
    assert f"has {MOST_REQUEST} B" in over.reason


def answers(runner):
    return [unpack_answer(data) for data in runner.take_out()]


def test_an_answer_that_is_too_large_is_an_end_that_says_so():
    runner = Runner(1, [WORK])
    (act,) = runner.receive(0.0, Begin(2, 1, 1, WORK, b"").pack())
    runner.take_out()
    runner.end(act.ticket, RequestEnd.DONE, body=bytes(MOST_RESULT + 1))
    (ended,) = answers(runner)
    assert (ended.end, ended.body) == (RequestEnd.ABORTED, b"")


def test_a_flood_of_requests_is_bounded_and_none_is_begun_twice():
    runner = Runner(1, [WORK])
    begins = [Begin(2, 1, number, WORK, b"").pack() for number in range(1, 5_000)]
    acts = [act for data in begins for act in runner.receive(0.0, data)]
    assert len(acts) == MOST_ENTRIES
    assert [act for data in begins for act in runner.receive(0.0, data)] == []


def test_more_askers_than_allowed_wait_until_one_is_silent_and_that_one_can_begin_nothing_again():
    runner = Runner(1, [WORK])
    for asker in range(2, MOST_ASKERS + 2):
        (act,) = runner.receive(0.0, Begin(asker, 1, 1, WORK, b"").pack())
        assert isinstance(act, Start)
        runner.end(act.ticket, RequestEnd.DONE)
    assert runner.receive(1.0, Begin(99, 1, 1, WORK, b"").pack()) == []
    assert len(runner.receive(SILENT + 1.0, Begin(99, 1, 1, WORK, b"").pack())) == 1
    runner.take_out()
    assert runner.receive(SILENT + 1.0, Begin(2, 1, 1, WORK, b"").pack()) == []
    (ended,) = answers(runner)
    assert ended.end is RequestEnd.UNKNOWN


def test_an_end_is_forgotten_only_when_its_asker_knows_it():
    runner = Runner(1, [WORK])
    (act,) = runner.receive(0.0, Begin(2, 1, 1, WORK, b"").pack())
    runner.end(act.ticket, RequestEnd.DONE, body=b"result")
    runner.take_out()
    for _ in range(2):
        runner.receive(0.0, Check(2, 1, 1, (1,)).pack())
        assert answers(runner)[0].body == b"result"
    runner.receive(0.0, Check(2, 1, 0, ()).pack())  # sent before the request, arriving after it
    runner.receive(0.0, Check(2, 1, 1, (1,)).pack())
    assert answers(runner)[-1].body == b"result"
    runner.receive(0.0, Check(2, 1, 1, ()).pack())
    assert answers(runner) == [States(2, 1)]
    runner.receive(0.0, Check(2, 1, 1, (1,)).pack())
    assert answers(runner)[0].body == b""


def test_a_request_that_takes_its_time_to_stop_is_stopped_once():
    runner = Runner(1, [WORK])
    runner.receive(0.0, Begin(2, 1, 1, WORK, b"").pack())
    withdraw = Check(2, 1, 1, (1,), withdraw=True).pack()
    assert [len(runner.receive(0.0, withdraw)) for _ in range(3)] == [1, 0, 0]


def test_a_late_answer_of_a_former_life_of_the_robot_ends_nothing():
    asker = Asker(2, 0.0)
    for life in (11, 12):
        asker.receive(0.0, States(2, life).pack())
    number = asker.ask(0.0, WORK, b"")
    asker.receive(0.0, States(2, 11, ((number, False),)).pack())
    assert asker.take_events() == []
    asker.receive(0.0, States(2, 12, ((number, True),)).pack())
    assert asker.take_events() == [Begun(number)]
