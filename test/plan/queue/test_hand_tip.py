"""The tool ahead of the last point is published while it is ahead, of the path that is recorded, and only then."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.plan.queue.hand_tip import HandTip

HEAD = np.array([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])


def ahead(y):
    return HEAD + np.array([0.0, y, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture
def tip():
    return HandTip()


def shown(updates):
    assert all(update.kind is UpdateKind.TIP for update in updates)
    return [(update.trial, None if update.tip is None else round(float(update.tip[1]), 6)) for update in updates]


def test_a_tool_at_the_last_point_is_not_published(tip):
    assert tip.updates(HEAD, HEAD, trial=False) == []
    assert tip.updates(HEAD + 1e-9, HEAD, trial=False) == []
    assert tip.updates(np.empty(0), None, trial=False) == []
    assert tip.updates(ahead(0.1), None, trial=False) == []  # every point has its time


def test_a_tool_ahead_is_published_when_it_moves(tip):
    assert shown(tip.updates(ahead(0.1), HEAD, trial=False)) == [(False, 0.1)]
    assert tip.updates(ahead(0.1), HEAD, trial=False) == []
    assert shown(tip.updates(ahead(0.2), HEAD, trial=False)) == [(False, 0.2)]


def test_that_the_points_have_come_to_the_tool_is_published_once(tip):
    tip.updates(ahead(0.1), HEAD, trial=True)
    assert shown(tip.updates(ahead(0.1), ahead(0.1), trial=True)) == [(True, None)]
    assert tip.updates(ahead(0.1), ahead(0.1), trial=True) == []


def test_a_change_of_the_path_ends_the_tip_of_the_other(tip):
    tip.updates(ahead(0.1), HEAD, trial=False)
    assert shown(tip.updates(ahead(0.1), HEAD, trial=True)) == [(False, None), (True, 0.1)]
    assert shown(tip.updates(ahead(0.1), None, trial=False)) == [(True, None)]


def test_with_the_time_clutch_engaged_the_tip_waits_for_the_points_and_then_goes(tip):
    tip.updates(ahead(0.1), HEAD, trial=False)
    assert tip.updates(ahead(0.12), ahead(0.02), False, time_clutch=True) == []  # it stays where it was
    assert tip.updates(ahead(0.15), ahead(0.02), False, time_clutch=True) == []
    assert tip.updates(ahead(0.15), ahead(0.08), False, time_clutch=True) == []
    assert shown(tip.updates(ahead(0.30), ahead(0.19), False, time_clutch=True)) == [(False, None)]  # gone past
    assert tip.updates(ahead(0.30), ahead(0.19), False, time_clutch=True) == []


def test_a_tip_that_waits_goes_when_the_points_end_or_another_path_is_recorded(tip):
    tip.updates(ahead(0.1), HEAD, trial=False)
    assert shown(tip.updates(HEAD, HEAD, False, time_clutch=True)) == [(False, None)]  # the tool is held there
    tip.updates(ahead(0.1), HEAD, trial=False)
    assert shown(tip.updates(ahead(0.1), HEAD, True, time_clutch=True)) == [(False, None)]


def test_with_the_time_clutch_engaged_from_the_start_there_is_no_tip(tip):
    assert tip.updates(ahead(0.1), HEAD, False, time_clutch=True) == []


def test_the_sign_of_a_quaternion_does_not_count(tip):
    other = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    assert tip.updates(other * HEAD, HEAD, trial=False) == []
    tip.updates(other * ahead(0.1), HEAD, trial=False)
    assert tip.updates(other * ahead(0.2), ahead(0.05), False, time_clutch=True) == []
    assert shown(tip.updates(other * ahead(0.3), ahead(0.2), False, time_clutch=True)) == [(False, None)]
