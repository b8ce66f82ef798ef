"""Reports of the control loop."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import ControlReport


def made(state=ControlState.HOLDING, velocity=(0.0, 0.0), **values):
    return ControlReport(state, 3, 0, values.pop("plan_time", 1.0), np.zeros(2), np.array(velocity), **values)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("state", {"state": 9}),
        ("plan_time", {"plan_time": np.nan}),
        ("joint_velocity", {"velocity": (0.0, np.inf)}),
        ("joint_velocity", {"velocity": (0.0,)}),
    ],
)
def test_a_bad_report_is_refused_by_field(field, values):
    with pytest.raises(InvalidValueError, match=rf"control\.{field}"):
        made(**values)


@pytest.mark.parametrize(
    ("state", "interrupted", "resting"),
    [
        (ControlState.HOLDING, False, True),
        (ControlState.TRACKING, False, False),
        (ControlState.STOPPING, True, False),
        (ControlState.STOPPED, True, True),
        (ControlState.FAULT, True, False),
    ],
)
def test_which_states_are_interruptions_and_which_rest(state, interrupted, resting):
    assert (made(state).interrupted, made(state).resting) == (interrupted, resting)


def test_an_arm_that_moves_or_runs_a_primitive_does_not_rest():
    assert not made(velocity=(0.0, -0.01)).resting
    assert not made(primitive=4).resting


def test_a_number_becomes_a_state():
    assert made(2).state is ControlState.STOPPING
