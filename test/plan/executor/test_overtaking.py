"""Operations that wait for earlier ones: which of them hold the arm before their turn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from motion_rig import Rig
from plan_values import points

from telerobot_nodes.core.protocol import OperationKind as K
from telerobot_nodes.plan.executor.overtaking import BRAKE_SLACK, stop_overtakes
from telerobot_nodes.plan.log import Operation


def operation(kind, number=7, **values):
    laid = points(9, 1) if kind is K.APPEND else None
    return Operation(1, number, kind, "operator", laid, **values)


@pytest.fixture(scope="module")
def motion():
    """A motion at rest at plan time 0, with points 1 .. 100 at 0.1 .. 10 s ahead."""
    rig = Rig()
    times = 0.1 * np.arange(1, 101)
    rig.lay(times, np.tile(0.01 * times[:, None], 3))
    assert rig.motion.stop_time == 0.0
    return rig.motion


def test_nothing_that_waits_holds_nothing(motion):
    assert not stop_overtakes([], motion)


@pytest.mark.parametrize("kind", [kind for kind in K if kind is not K.TRUNCATE])
def test_of_the_others_only_pause_and_clear_hold(motion, kind):
    assert stop_overtakes([operation(kind)], motion) is (kind in (K.PAUSE, K.CLEAR))


@given(words=st.lists(st.sampled_from([K.PAUSE, K.RESUME, K.APPEND, K.RATE]), max_size=8))
def test_of_pause_and_resume_the_last_counts(motion, words):
    held = False
    for kind in words:
        held = kind is K.PAUSE or (held and kind is not K.RESUME)
    assert stop_overtakes([operation(kind, 7 + i) for i, kind in enumerate(words)], motion) is held


def test_a_resume_does_not_undo_a_clear(motion):
    assert stop_overtakes([operation(K.CLEAR), operation(K.RESUME, 8)], motion)


@given(last=st.integers(0, 120))
def test_a_truncation_holds_half_a_second_before_the_last_point_that_stays(motion, last):
    soon = last < 100 and 0.1 * last <= BRAKE_SLACK + 1e-9
    assert stop_overtakes([operation(K.TRUNCATE, after_seq=last)], motion) is soon


def test_a_truncation_ahead_holds_when_the_arm_comes_near():
    rig = Rig()
    times = 0.1 * np.arange(1, 101)
    rig.lay(times, np.tile(0.01 * times[:, None], 3))
    waiting = [operation(K.TRUNCATE, after_seq=30)]
    assert not stop_overtakes(waiting, rig.motion)
    for _ in range(80):
        before = rig.motion.stop_time
        rig.run(0.05)
        if stop_overtakes(waiting, rig.motion):
            break
    assert before < 3.0 - BRAKE_SLACK <= rig.motion.stop_time < 3.0
