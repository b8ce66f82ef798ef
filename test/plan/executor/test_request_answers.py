"""Answers to RESET and TARE: the latest of each kind, in the present epoch."""

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.executor.request_answers import RequestAnswer, RequestAnswers
from telerobot_nodes.plan.log import Operation

RESET, TARE = OperationKind.RESET, OperationKind.TARE


def request(number, kind=RESET, epoch=1):
    return Operation(epoch, number, kind, "ann")


def test_each_kind_has_its_own_answer():
    answers = RequestAnswers()
    answers.note(request(4), "")
    answers.note(request(5, TARE), "arm moves")
    assert answers.latest(RESET, 1) == RequestAnswer(4, "")
    assert answers.latest(TARE, 1) == RequestAnswer(5, "arm moves")


def test_a_late_answer_to_an_older_one_changes_nothing():
    answers = RequestAnswers()
    answers.note(request(6), "")
    answers.note(request(4), "late")
    assert answers.latest(RESET, 1) == RequestAnswer(6, "")


def test_an_epoch_that_is_over_has_no_answers():
    answers = RequestAnswers()
    answers.note(request(6), "")
    assert answers.latest(RESET, 2) == RequestAnswer()
    answers.note(request(1, epoch=2), "")
    answers.note(request(7), "late")
    assert answers.latest(RESET, 2) == RequestAnswer(1, "")


def test_other_operations_have_no_answers():
    answers = RequestAnswers()
    answers.note(request(6, OperationKind.PAUSE), "refused")
    assert answers.latest(OperationKind.PAUSE, 1) == RequestAnswer()
