import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.parameters import END_BITS, parameters_from
from telerobot_nodes.motion.primitives.endings import SAMPLE_PERIOD, EndingConditions, ending_errors

FORCED = {"sel_vect_fc": [0, 0, 1, 0, 1, 0], "end_time": 10.0}


def state_with(trans=(0, 0, 0), turn=(0, 0, 0), error=(0,) * 6):
    state = lr.new_state(6)
    E = pin.SE3(pin.exp3(np.array(turn, float)), np.array(trans, float)).inverse()
    state.R[lr.StateFrame.DEL_INVERSE], state.p[lr.StateFrame.DEL_INVERSE] = E.rotation, E.translation
    state.value[lr.StateValue.ANGLE] = np.linalg.norm(turn)
    state.six[lr.StateSix.SPRING, :3] = -0.5 * np.array(turn, float)
    state.six[lr.StateSix.FORCE_ERROR] = error
    return state


def run(conditions, states):
    """One state per 200 ms."""
    conditions.begin(3.0)
    for k, state in enumerate(states):
        assert conditions.sample(3.0 + SAMPLE_PERIOD * k, state)
    return conditions


def test_errors_count_the_dofs_they_belong_to():
    state = state_with((0.03, 0.04, 0.5), (0.1, 0.0, 0.2), (9, 9, 3, 9, 4, 9))
    position = ~np.array([0, 0, 1, 0, 1, 0], bool)
    errors = ending_errors(state, position, False)
    np.testing.assert_allclose(errors, [0.05, np.hypot(0.1, 0.2), 3.0, 4.0])
    assert ending_errors(state, position, True)[1] == pytest.approx(0.5 * np.hypot(0.1, 0.2))


def test_samples_are_taken_every_200_ms_and_not_between():
    conditions = EndingConditions(parameters_from({"select": 1, "end_time": 5.0}))
    conditions.begin(1.0)
    taken = [t for t in np.arange(1.0, 2.0, 0.005) if conditions.sample(t, state_with())]
    np.testing.assert_allclose(taken, [1.0, 1.2, 1.4, 1.6, 1.8], atol=1e-9)


def test_an_average_is_over_the_test_time_and_forgets_what_is_older():
    conditions = EndingConditions(parameters_from({"select": 1, "test_time": 0.6, "end_time": 5.0}))
    run(conditions, [state_with((x, 0, 0)) for x in (9, 9, 9, 1, 2, 3)])
    assert conditions.averages[0] == pytest.approx(2.0)
    assert conditions.averages[2] == pytest.approx((8 + 1 + 1) / 3 / SAMPLE_PERIOD)


def test_nothing_holds_before_the_window_is_full():
    conditions = EndingConditions(parameters_from({"select": 1, "test_time": 1.0, "end_time": 5.0}))
    run(conditions, [state_with()] * 5)
    assert np.isnan(conditions.averages).all()
    assert not conditions.satisfied
    assert run(conditions, [state_with()] * 6).satisfied


@pytest.mark.parametrize("name", list(END_BITS))
def test_each_bit_tests_its_own_limit(name):
    select = END_BITS[name]
    moving = "vel" in name
    kind = {"trans": {"trans": (1, 0, 0)}, "ang": {"turn": (1, 0, 0)}}.get(name.split("_")[1])
    kind = kind or {"error": (0, 0, 1, 0, 0, 0) if "force" in name else (0, 0, 0, 0, 1, 0)}

    def states(size):
        for k in range(6):
            yield state_with(**{key: size * ((k % 2) if moving else 1) * np.array(v) for key, v in kind.items()})

    for size, expected in ((0.01, True), (0.5, False)):
        parameters = parameters_from({**FORCED, "select": select, name: 0.1 if not moving else 0.1 / SAMPLE_PERIOD})
        assert run(EndingConditions(parameters), states(size)).satisfied == expected


def test_all_selected_conditions_must_hold():
    parameters = parameters_from({**FORCED, "select": 1 + 16, "end_trans_err": 0.1, "end_force_err": 0.1})
    fine, pushed, off = state_with(), state_with(error=(0, 0, 5, 0, 0, 0)), state_with((5, 0, 0))
    assert run(EndingConditions(parameters), [fine] * 6).satisfied
    assert not run(EndingConditions(parameters), [pushed] * 6).satisfied
    assert not run(EndingConditions(parameters), [off] * 6).satisfied


def test_with_nothing_selected_nothing_is_satisfied():
    assert not run(EndingConditions(parameters_from({})), [state_with()] * 20).satisfied
