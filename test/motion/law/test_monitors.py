"""Each monitor stops for its own condition, and motion away from a limit goes on."""

import math

import pytest

from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.law.law_records import StateValue
from telerobot_nodes.motion.law.monitors import LOST_DISTANCE, watch


def quiet(make_law, arm, **values):
    """A law whose state is far from every condition."""
    law, state, _ = make_law(arm, **values)
    state.value[StateValue.JOINT_MARGIN] = state.value[StateValue.LAST_JOINT_MARGIN] = 1.0
    state.value[StateValue.SIGMA] = state.value[StateValue.LAST_SIGMA] = 1.0
    return law, state


CASES = [
    ({"max_force_thres": 10.0}, StateValue.FELT_FORCE, 10.1, Termination.MAX_FORCE),
    ({"max_torque_thres": 2.0}, StateValue.FELT_TORQUE, 2.1, Termination.MAX_TORQUE),
    ({"trans_threshold": 0.1}, StateValue.TRANS, 0.11, Termination.TRANS_THRESHOLD),
    ({"ang_threshold": 0.2}, StateValue.ANGLE, 0.21, Termination.ANG_THRESHOLD),
    ({}, StateValue.RESIDUAL, 1.01 * LOST_DISTANCE, Termination.UNREACHABLE),
    ({"j_safety_limit": [0.1, 0.0]}, StateValue.JOINT_MARGIN, 0.09, Termination.JOINT_LIMIT),
    ({"j_safety_limit": [0.0, 0.1]}, StateValue.SIGMA, 0.09, Termination.SINGULARITY),
]


@pytest.mark.parametrize(("values", "row", "value", "reason"), CASES, ids=[case[3].name for case in CASES])
def test_each_monitor_stops_beyond_its_threshold_and_not_before(make_law, arm, values, row, value, reason):
    law, state = quiet(make_law, arm, **values)
    assert watch(law, state) == Termination.RUNNING
    state.value[row] = value
    assert watch(law, state) == reason


def test_force_is_reported_before_every_other_monitor(make_law, arm):
    law, state = quiet(make_law, arm, max_force_thres=10.0, max_torque_thres=2.0, trans_threshold=0.1)
    state.value[StateValue.TRANS] = 1.0
    state.value[StateValue.FELT_TORQUE] = 3.0
    assert watch(law, state) == Termination.MAX_TORQUE
    state.value[StateValue.FELT_FORCE] = 11.0
    assert watch(law, state) == Termination.MAX_FORCE


@pytest.mark.parametrize(
    ("row", "last", "limit"),
    [
        (StateValue.JOINT_MARGIN, StateValue.LAST_JOINT_MARGIN, [0.1, 0.0]),
        (StateValue.SIGMA, StateValue.LAST_SIGMA, [0.0, 0.1]),
    ],
)
def test_motion_away_from_a_limit_or_singularity_is_allowed(make_law, arm, row, last, limit):
    law, state = quiet(make_law, arm, j_safety_limit=limit)
    state.value[row], state.value[last] = 0.05, 0.04
    assert watch(law, state) == Termination.RUNNING
    state.value[last] = 0.06
    assert watch(law, state) != Termination.RUNNING


def test_lost_contact_needs_contact_first(make_law, arm):
    law, state = quiet(make_law, arm, min_force_thres=2.0)
    assert watch(law, state) == Termination.RUNNING
    state.value[StateValue.FELT_FORCE] = 3.0
    assert watch(law, state) == Termination.RUNNING
    state.value[StateValue.FELT_FORCE] = 1.0
    assert watch(law, state) == Termination.MIN_FORCE


def test_thresholds_of_zero_are_no_monitors(make_law, arm):
    law, state = quiet(make_law, arm, max_force_thres=0.0, max_torque_thres=0.0)
    state.value[StateValue.FELT_FORCE] = state.value[StateValue.FELT_TORQUE] = math.inf
    assert watch(law, state) == Termination.RUNNING


def test_only_ends_that_reach_their_purpose_succeed():
    succeeded = {reason.name for reason in Termination if reason.succeeded}
    assert succeeded == {"COMPLETED", "CONDITIONS", "TOUCHED", "GRIPPED", "OPENED"}
