"""A sequence: checked whole, run in order, each step once; it ends with the first result that is not accepted."""

from concurrent.futures import Future
from itertools import pairwise

import pytest
from scheduler_host import UP, Host

from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.scheduling import PrimitiveSequence, SequenceStep, check_steps
from telerobot_nodes.motion.scheduling.primitive_sequence import MOST_STEPS, TABLE, SequenceEvent, SequenceState

STEP = 1e-4  # [m] of a short step


def step(z=-STEP, accept="", name="cartesian_guarded", **values):
    values = {"tr_rel_dest": [0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0], "acc_time": 0.1, **values}
    return SequenceStep(name, list(values), [str(value) for value in values.values()], accept)


FAR = step(3.0)


@pytest.fixture
def host():
    return Host()


def begin(host, *steps):
    host.sequence = PrimitiveSequence(host.scheduler, "test", host.work.submit(check_steps, host.robot, steps))
    return host.sequence


def until_ended(host, limit=60.0):
    end = host.now + limit
    while not host.sequence.ended:
        host.period()
        assert host.now < end
    return [report for report in host.reports if report.outcome is not PrimitiveOutcome.RUNNING]


def test_steps_run_in_order_and_each_ends_once(host):
    ways = [-STEP * (1 + at) for at in range(12)]
    z = [host.robot.forward(host.arm).translation[2]]
    sequence = begin(host, *(step(way) for way in ways))
    while not sequence.ended:
        done = sequence.done
        host.period()
        if sequence.done > done:
            z.append(host.robot.forward(host.arm).translation[2])
    ends = until_ended(host)
    assert sequence.completed
    assert (sequence.done, len(ends)) == (len(ways), len(ways))
    assert [after - before for before, after in pairwise(z)] == pytest.approx([-way for way in ways], abs=2e-5)


def test_a_step_that_does_not_fit_refuses_the_whole_by_number_and_field_and_nothing_moves(host):
    start = host.arm.copy()
    sequence = begin(host, step(), step(), step(name="nosuch"))
    assert until_ended(host) == []
    assert "steps[3].name" in sequence.why
    assert (sequence.done, sequence.completed) == (0, False)
    host.run(0.5)
    assert (host.arm == start).all()


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ((), "steps: 0"),
        ((step(),) * (MOST_STEPS + 1), "steps: 5001"),
        ((step(accept="completed nosuch"),), r"steps\[1\].accept"),
        ((step(accept="external_stop"),), r"steps\[1\].accept"),
        ((SequenceStep("gcm", ["acc_time"], []),), r"steps\[1\].values"),
    ],
    ids=["none", "too many", "no result", "a stop", "no value"],
)
def test_what_no_sequence_may_be_is_refused_with_what_is_allowed(host, steps, why):
    with pytest.raises(InvalidValueError, match=why):
        check_steps(host.robot, steps)


def test_a_result_that_is_not_accepted_ends_it_there(host):
    sequence = begin(host, step(), FAR, step())
    ends = until_ended(host)
    assert (sequence.done, sequence.completed) == (1, False)
    assert [end.outcome for end in ends] == [PrimitiveOutcome.SUCCEEDED, PrimitiveOutcome.REFUSED]
    assert sequence.last is ends[-1]


def test_a_result_that_a_step_accepts_is_no_end_although_it_is_no_success(host):
    sequence = begin(host, step(0.01, name="move_to_touch", accept="touched missed"), step())
    until_ended(host)
    assert sequence.completed


def test_a_cancel_stops_the_arm_and_no_further_step_begins(host):
    sequence = begin(host, step(0.1), step())
    host.run(0.3)
    sequence.cancel("cancelled by its client")
    ends = until_ended(host, 5.0)
    assert [(end.outcome, end.reason) for end in ends] == [(PrimitiveOutcome.STOPPED, "external_stop")]
    assert not sequence.completed
    host.run(1.0)
    assert len(host.scheduler) == 0


def test_a_stop_of_everything_ends_it_also_while_it_is_checked(host):
    checked = Future()
    host.sequence = sequence = PrimitiveSequence(host.scheduler, "test", checked)
    host.run(0.1)
    assert sequence.state is SequenceState.CHECKING
    host.scheduler.stop(0, "halt")
    checked.set_result(check_steps(host.robot, [step()]))
    assert until_ended(host) == []
    assert "before it began" in sequence.why


def test_what_others_have_queued_waits_until_it_has_ended(host):
    sequence = begin(host, step(), step())
    host.run(0.05)
    other = host.scheduler.submit("cartesian_guarded", "other", {"tr_rel_dest": UP})
    ends = until_ended(host)
    assert sequence.completed
    assert other not in [end.id for end in ends]
    assert host.until_idle()[-1].id == other


def test_every_state_but_the_last_has_a_way_on():
    assert {state for state, _ in TABLE} == {SequenceState.CHECKING, SequenceState.RUNNING}
    assert {event for _, event in TABLE} == set(SequenceEvent)
