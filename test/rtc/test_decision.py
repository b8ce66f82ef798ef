"""The decision unit: halts before everything, one report per command, nothing waits inside."""

import pytest

from telerobot_nodes.errors import TransitionError
from telerobot_nodes.rtc.decision import CommandReport, Dispatch, HaltSubsystem, JobDone, Send
from telerobot_nodes.rtc.decision.command_states import TABLE, Event, State, step
from telerobot_nodes.rtc.skills import Report
from telerobot_nodes.rtc.world import Validity


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_an_unknown_pair_of_state_and_event_raises(state, event):
    if (state, event) in TABLE:
        assert step(state, event) in State
    else:
        with pytest.raises(TransitionError):
            step(state, event)


def test_every_state_can_be_reached_and_can_end():
    reached, frontier = {State.PARSING}, {State.PARSING}
    while frontier:
        frontier = {b for (a, _), b in TABLE.items() if a in frontier} - reached
        reached |= frontier
    assert reached == set(State)
    ends = {State.ENDED}
    while more := {a for (a, _), b in TABLE.items() if b in ends} - ends:
        ends |= more
    assert ends == set(State)


def test_every_live_state_can_be_stopped():
    stoppable = {a for a, event in TABLE if event is Event.STOP}
    assert stoppable == set(State) - {State.STOPPING, State.SETTLING, State.ENDED}


def test_a_halt_comes_before_any_other_output_and_needs_no_worker(cell):
    for text in ("hold left_arm for 500 s", "hold right_arm for 500 s", "locate module"):
        cell.say(text)
    cell.settle(until=0.01)
    outputs = cell.interface.submit("anybody", "halt", cell.now)
    halts = [i for i, output in enumerate(outputs) if isinstance(output, HaltSubsystem)]
    others = [i for i, output in enumerate(outputs) if not isinstance(output, HaltSubsystem)]
    assert {outputs[i].subsystem for i in halts} >= {"left_arm", "right_arm"}
    assert max(halts) < min(others)
    assert not any(isinstance(output, Dispatch) for output in outputs)
    cell.take(outputs)
    cell.settle()
    assert {report.outcome for report in cell.reports.values()} <= {"halted", "succeeded"}


def test_a_halt_works_while_every_worker_is_busy(cell):
    outputs = cell.interface.submit("a", "grasp module with left_arm", 0.0)
    job = next(output.job for output in outputs if isinstance(output, Dispatch))
    outputs = cell.interface.submit("b", "halt", 0.0)
    report = next(output for output in outputs if isinstance(output, CommandReport))
    assert (report.command, report.outcome) == (1, "halted")
    late = cell.workers.run(job, 0.0)
    assert cell.interface.job_done(late, 0.0) == []  # the worker's answer comes too late and is dropped


def test_a_halt_of_an_arm_leaves_the_other_alone(cell):
    left = cell.say("hold left_arm for 50 s")
    right = cell.say("hold right_arm for 2 s")
    cell.settle(until=0.5)
    cell.say("halt left_arm")
    cell.settle()
    assert (cell.reports[left].outcome, cell.reports[right].outcome) == ("halted", "succeeded")


def test_an_idle_arm_is_halted_too(cell):
    cell.say("halt left_arm")
    assert [halt.subsystem for _, halt in cell.halts] == ["left_arm"]


def test_a_command_is_halted_by_number_or_by_its_name(cell):
    first = cell.say("hold left_arm for 50 s as waiting")
    second = cell.say("hold right_arm for 50 s")
    cell.settle(until=0.5)
    cell.say("halt waiting")
    cell.say(f"halt command {second}")
    cell.settle()
    assert {cell.reports[first].outcome, cell.reports[second].outcome} == {"halted"}
    cell.say("halt nobody")
    assert "no arm or command is called 'nobody'" in cell.replies[-1].text


def test_a_halt_that_is_not_confirmed_is_reported_and_the_arm_is_not_trusted(make_cell):
    cell = make_cell()
    cell.executor.silent.add("left_arm")
    number = cell.say("move left_arm to dock")
    cell.settle(until=0.5)
    cell.say("halt")
    cell.settle(until=20.0)
    assert "not confirmed" in cell.reports[number].reason
    assert cell.database.view.item("left_arm.pose").validity is Validity.SUSPECT
    cell.executor.silent.clear()
    assert "is suspect" in cell.run("move left_arm to home").reason
    cell.measure("left_arm")
    cell.executor.running.clear()
    assert cell.run("move left_arm to home").outcome == "succeeded"


def test_where_a_halted_arm_came_to_rest_is_known(cell):
    number = cell.say("move left_arm to dock")
    cell.settle(until=1.0)
    cell.say("halt")
    cell.settle()
    assert cell.reports[number].outcome == "halted"
    pose = cell.checks.kinematics.forward("left_arm", cell.executor.joints["left_arm"])
    assert cell.database.view.pose("left_arm") == pytest.approx(pose)


def test_a_paused_command_goes_on_where_it_was(cell):
    number = cell.say("grasp module with left_arm")
    cell.settle(until=1.0)
    cell.say("pause")
    cell.settle(until=100.0)
    assert number in cell.unit.commands
    cell.at(cell.now + 1.0, lambda: cell.say("resume"))
    cell.settle()
    assert cell.reports[number].outcome == "succeeded"
    assert cell.reports[number].elapsed > 99.0


def test_a_command_ends_when_its_time_is_over(cell):
    report = cell.run("hold left_arm for 100 s timeout 3 s")
    assert (report.outcome, report.reason) == ("failed", "the command's time is over")
    assert report.elapsed == pytest.approx(3.0, abs=0.1)


def test_a_cancelled_command_stops_its_arm(cell):
    number = cell.say("move left_arm to dock")
    cell.settle(until=0.5)
    cell.say(f"cancel command {number}")
    cell.settle()
    assert cell.reports[number].outcome == "cancelled"
    assert [halt.subsystem for _, halt in cell.halts] == ["left_arm"]


def test_reports_on_what_is_over_are_ignored_and_counted(cell):
    cell.run("move left_arm to dock")
    primitive = cell.executor.sent[-1].number
    cell.take(cell.interface.report(Report(primitive, "collision"), cell.now))
    cell.take(cell.interface.report(Report(999, "reached"), cell.now))
    assert cell.unit.ignored_reports == 2
    assert cell.report_count[1] == 1


def test_progress_reports_are_passed_on(cell):
    cell.say("move left_arm to dock report every 0.1 s")
    cell.settle(until=0.01)
    primitive = cell.executor.sent[-1]
    assert primitive.report.every == pytest.approx(0.1)
    cell.take(cell.interface.report(Report(primitive.number, "moving", final=False, note="half way"), cell.now))
    assert cell.progress[-1].text == "half way"
    cell.settle()
    assert cell.reports[1].outcome == "succeeded"


def test_commands_of_one_message_follow_one_another(cell):
    cell.say("move left_arm to dock; move left_arm to table; move left_arm to home")
    cell.settle()
    assert [cell.reports[n].outcome for n in (1, 2, 3)] == ["succeeded"] * 3


def test_commands_after_a_failed_one_are_not_begun(make_cell):
    cell = make_cell(faults={"go": ["joint_limit"]})
    cell.say("move left_arm to dock; move left_arm to table; move left_arm to home")
    cell.settle()
    assert list(cell.reports) == [1]
    assert "2 commands after it not begun" in cell.reports[1].reason


def test_two_commands_of_one_name_are_refused(cell):
    cell.say("hold left_arm for 5 s as it")
    second = cell.say("hold right_arm for 5 s as it")
    cell.settle()
    assert "is under way" in cell.reports[second].reason


@pytest.mark.lengthy
def test_too_many_commands_are_refused(cell):
    numbers = [cell.say("wait for 5 s") for _ in range(300)]
    cell.settle()
    outcomes = [cell.reports[number].outcome for number in numbers]
    assert outcomes.count("succeeded") == 256
    assert outcomes.count("refused") == 44


def test_a_worker_answer_nobody_asked_for_changes_nothing(cell):
    assert cell.unit.job_done(JobDone(12345), 0.0) == []


def test_notes_and_label_come_back_in_the_report(cell):
    report = cell.run('hold left_arm for 1 s as resting note "before lunch"')
    assert (report.label, report.notes) == ("resting", ("before lunch",))


def test_a_reflex_goes_with_the_primitive_and_ends_the_command(make_cell):
    cell = make_cell(faults={"to_approach": ["reflex_1"]})
    report = cell.run("grasp module with left_arm unless force > 20 N or slip then retreat by 2 cm")
    stop = next(stop for sent in cell.executor.sent for stop in sent.stops if stop.outcome == "reflex_1")
    assert (stop.when, stop.action) == ("force > 20 N or slip", "retreat by 2 cm")
    assert (report.outcome, "reflex: force > 20 N or slip" in report.reason) == ("failed", True)


def test_a_condition_that_comes_true_ends_the_motion_well(make_cell):
    cell = make_cell(faults={"go": ["until"]})
    assert cell.run("move left_arm to dock until contact").outcome == "succeeded"


def test_waiting_ends_by_a_signal(cell):
    number = cell.say("wait until signal lamp and time > 2 s")
    cell.at(5.0, lambda: cell.take(cell.interface.signal("lamp", True, cell.now)))
    cell.settle()
    assert cell.reports[number].elapsed == pytest.approx(5.0)


def test_waiting_ends_by_time_though_nothing_else_happens(cell):
    report = cell.run("wait until time > 2 s")
    assert report.outcome == "succeeded"
    assert report.elapsed == pytest.approx(2.0, abs=0.01)


def test_a_primitive_is_sent_once_per_step(cell):
    outputs = cell.interface.submit("a", "locate module", 0.0)
    seen = []
    while outputs:
        output = outputs.pop(0)
        if isinstance(output, Dispatch):
            outputs += cell.interface.job_done(cell.workers.run(output.job, 0.0), 0.0)
        elif isinstance(output, Send):
            seen.append(output.primitive.number)
    assert len(seen) == len(set(seen)) == 1


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("turn crank by 1e9 deg with left_arm", "up to 69.8 rad"),
        ("move left_arm by 100 m up", "up to 10 m"),
        ("wait for 1e12 s", "up to 3600 s"),
    ],
)
def test_an_amount_that_no_skill_can_keep_is_refused_before_anything_moves(cell, text, allowed):
    report = cell.run(text)
    assert report.outcome == "refused"
    assert allowed in report.reason
    assert cell.executor.sent == []
