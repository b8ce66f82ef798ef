"""Replication of the plan at the operator's side, report by report."""

import pytest
from plan_values import report, store

from telerobot_nodes.core.protocol import ExecutorMode, OperationKind
from telerobot_nodes.errors import TransitionError
from telerobot_nodes.plan.log import Event, Phase, PlanReplication, SenderConfig
from telerobot_nodes.plan.log.replication import MAX_PAST_REPORTS


class Side:
    """A replication and the robot's last report, changed step by step."""

    def __init__(self, n=10):
        self.store = store(n)
        self.replication = PlanReplication("ann", self.store, SenderConfig())
        self.now, self.last = 0.0, {}

    def hear(self, **values):
        self.now += 0.1
        self.last |= values
        self.replication.on_report(self.now, report(**self.last))
        return self.replication.phase

    @property
    def epoch(self):
        return self.replication.sender.epoch

    def kinds(self):
        return [operation.kind.name for operation in self.replication.sender.poll(self.now)]


@pytest.fixture
def ready():
    """Authority granted, ten points sent and applied."""
    side = Side()
    side.hear()
    side.hear(epoch=side.epoch, authority="ann", applied_number=1)
    side.replication.start(0)
    side.replication.send_points(side.now)
    side.hear(applied_number=2, tail_seq=10, committed_seq=3, queue_length=10, mode=ExecutorMode.RUNNING)
    assert side.replication.phase is Phase.READY
    return side


def test_free_authority_is_claimed_and_the_plan_starts_at_rest():
    side = Side()
    assert side.hear() is Phase.CLAIMING
    assert side.kinds() == ["AUTHORITY"]
    assert side.hear(epoch=side.epoch, authority="ann", applied_number=1) is Phase.READY
    assert side.replication.event is Event.AT_REST


def test_a_plan_is_not_started_before_the_robot_has_finished_its_points():
    side = Side()
    side.hear(tail_seq=99, queue_length=4, mode=ExecutorMode.RUNNING)
    assert side.hear(epoch=side.epoch, authority="ann", applied_number=1) is Phase.SETTLING
    assert side.hear(queue_length=0, mode=ExecutorMode.IDLE) is Phase.READY


def test_authority_of_another_agent_is_not_claimed():
    side = Side()
    assert side.hear(authority="bob", epoch=7) is Phase.OBSERVING
    with pytest.raises(TransitionError):
        _ = side.replication.sender


def test_authority_taken_away_is_not_claimed_back(ready):
    assert ready.hear(authority="bob", epoch=ready.epoch + 1) is Phase.OBSERVING
    assert ready.hear(authority="", epoch=ready.last["epoch"] + 1) is Phase.OBSERVING
    ready.replication.wanted = True
    assert ready.hear() is Phase.CLAIMING


def test_points_are_sent_once_in_order(ready):
    sent = ready.replication.sender
    before = sent.last_number
    ready.replication.send_points(ready.now)
    assert sent.last_number == before


def test_a_truncation_here_and_a_committed_point_there_agree_on_the_committed_point(ready):
    assert ready.replication.truncate(5) == 5
    assert ready.hear(applied_number=3, tail_seq=7) is Phase.READY
    assert ready.replication.event is Event.AGREED
    assert ready.store.last_seq == 7
    assert ready.replication.kept_seq == 5
    assert "committed to point 7" in ready.replication.notices[-1]


def test_delete_all_waits_for_the_robot(ready):
    assert ready.replication.clear() == 7  # all but the committed three
    assert ready.replication.phase is Phase.CHECKING
    assert ready.hear() is Phase.CHECKING
    assert ready.hear(applied_number=3, tail_seq=4) is Phase.READY
    assert ready.store.last_seq == 4


def test_points_that_the_robot_lost_are_returned_once(ready):
    assert ready.hear(tail_seq=6) is Phase.READY
    assert ready.replication.lost.seq.tolist() == [7, 8, 9, 10]
    ready.hear()
    assert ready.replication.lost is None


def test_a_robot_in_fault_is_waited_for_before_points_count_as_lost(ready):
    assert ready.hear(tail_seq=0, mode=ExecutorMode.FAULT) is Phase.CHECKING
    assert ready.hear(tail_seq=6, mode=ExecutorMode.RUNNING) is Phase.READY
    assert ready.replication.lost.seq.tolist() == [7, 8, 9, 10]


def test_refused_points_are_not_returned(ready):
    ready.store.append([11], [0.5], [[0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]], 0)
    ready.replication.send_points(ready.now)
    assert ready.hear(applied_number=3, refused_number=3, refusal="too far") is Phase.READY
    assert ready.replication.lost is None
    assert ready.store.last_seq == 10


def test_points_laid_after_a_deletion_that_the_robot_has_not_made_are_not_returned(ready):
    """They follow point 5, and are earlier than point 7, to which an executor that died was committed."""
    ready.replication.truncate(5)
    ready.store.append([11], [0.12], [[0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]], 0)
    ready.replication.send_points(ready.now)
    assert ready.hear(tail_seq=2, mode=ExecutorMode.FAULT) is Phase.CHECKING
    arrived = {"applied_number": 4, "refused_number": 4, "refusal": "after_seq"}
    assert ready.hear(tail_seq=7, executed_seq=7, mode=ExecutorMode.IDLE, **arrived) is Phase.READY
    assert ready.replication.lost is None
    assert (ready.replication.kept_seq, ready.store.last_seq) == (5, 7)
    assert "committed to point 7" in ready.replication.notices[-1]


def test_points_unknown_here_are_finished_first(ready):
    assert ready.hear(tail_seq=500) is Phase.SETTLING


def test_a_plan_is_taken_over_up_to_the_meeting_point():
    side = Side()
    side.hear(authority="bob", epoch=7, tail_seq=10, queue_length=8, mode=ExecutorMode.RUNNING)
    side.replication.take_over(6)
    assert side.replication.phase is Phase.TAKING_OVER
    assert side.kinds() == ["AUTHORITY", "TRUNCATE"]
    assert side.hear() is Phase.TAKING_OVER  # the claim is on the link
    assert side.hear(epoch=side.epoch, authority="ann", applied_number=1) is Phase.JOINING
    assert side.hear(applied_number=2, tail_seq=6) is Phase.READY
    assert side.replication.event is Event.JOINED


def test_a_forced_claim_lets_the_plan_of_the_holder_run_out():
    side = Side()
    side.hear(authority="bob", epoch=7, tail_seq=10, queue_length=8, mode=ExecutorMode.RUNNING)
    side.replication.insist()
    assert side.hear() is Phase.INSISTING
    assert side.hear(epoch=side.epoch, authority="ann", applied_number=1) is Phase.SETTLING


def test_a_refused_claim_is_withdrawn():
    side = Side()
    side.hear(authority="bob", epoch=7)
    side.replication.give_up()
    assert side.replication.phase is Phase.OBSERVING
    side.replication.insist()
    side.replication.give_up()
    assert side.hear() is Phase.OBSERVING


def test_a_claim_with_consent_of_an_agent_that_released_becomes_a_plain_claim():
    side = Side()
    side.hear(authority="bob", epoch=7)
    side.replication.take_over(6)
    later = side.epoch + 1
    assert side.hear(authority="", epoch=later) is Phase.CLAIMING
    assert side.epoch > later


def test_overtaken_reports_are_ignored_until_they_persist(ready):
    for _ in range(MAX_PAST_REPORTS - 1):
        assert ready.hear(applied_number=1, tail_seq=0) is Phase.READY
        assert ready.replication.report.applied_number == 2
    ready.hear()
    assert ready.replication.report.applied_number == 1
    assert "restarted" in ready.replication.notices[0]


def test_an_operation_is_not_possible_without_a_claim():
    with pytest.raises(TransitionError):
        Side().replication.clear()


def test_rests_only_when_everything_is_confirmed_and_executed(ready):
    assert not ready.replication.rests
    ready.hear(executed_seq=10, queue_length=0, mode=ExecutorMode.IDLE)
    assert ready.replication.rests
    ready.replication.sender.submit(OperationKind.PAUSE)
    assert not ready.replication.rests


def test_a_claim_in_a_name_that_is_in_use_is_told_why_it_waits_and_goes_on():
    side = Side()
    side.hear(epoch=8, authority="ann")
    assert side.replication.phase is Phase.CLAIMING
    assert side.replication.denial == ""
    side.hear(denied_agent="ann", denied_number=side.epoch, denial="another operator is named ann")
    assert side.replication.denial == "another operator is named ann"
    assert side.replication.phase is Phase.CLAIMING
    side.hear(epoch=side.epoch, applied_number=1)
    assert (side.replication.phase, side.replication.denial) == (Phase.READY, "")


def test_the_holder_is_told_of_another_operator_of_its_name_once(ready):
    for _ in range(3):
        ready.hear(denied_agent="ann", denied_number=77, denial="another operator is named ann")
    assert ready.replication.notices == ["robot denied a request of ann: another operator is named ann"]


def test_control_taken_in_the_same_name_is_told_and_not_taken_back(ready):
    assert ready.hear(epoch=ready.epoch + 5, authority="ann", applied_number=1) is Phase.OBSERVING
    assert "another operator named ann has taken control" in ready.replication.notices[0]
    ready.hear()
    assert ready.hear() is Phase.OBSERVING
    ready.replication.wanted = True  # the operator requests it
    assert ready.hear() is Phase.CLAIMING
