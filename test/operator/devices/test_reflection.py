"""The tool's wrench on the hand: sign, gain, limits, filter, age; the rumble; the way from sensor to hand."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.devices import InputParameters, ReflectConfig, Reflection, wrench_at_hand

AT_ONCE = ReflectConfig(reflect_smooth=0.0)
PRESSES = np.array([0.0, 0.0, -8.0, 0.3, 0.0, 0.0])  # of the tool on what it touches: down
STILL = np.zeros(6)


def settled(config=AT_ONCE, wrench=PRESSES, gain=1.0):
    """A hand that has pressed against the wrench for half a second, until 0.99 s."""
    reflection = Reflection(config)
    reflection.primitive_gain = gain
    reflection.receive(0.5, wrench)
    force, torque = np.linalg.norm(wrench[:3]), np.linalg.norm(wrench[3:])
    velocity = np.concatenate((wrench[:3] / max(force, 1e-9) * 0.1, wrench[3:] / max(torque, 1e-9) * 2.0))
    for k in range(50):
        reflection.wrench(0.5 + 0.01 * k, velocity)
    reflection.receive(1.0, wrench)
    return reflection


def test_the_hand_feels_what_the_tool_feels_opposite_to_what_it_does():
    np.testing.assert_allclose(settled().wrench(1.0, STILL), [0.0, 0.0, 8.0, -0.3, 0.0, 0.0])


def test_both_gains_scale_it():
    config = ReflectConfig(reflect_smooth=0.0, reflect_gain=0.5)
    assert settled(config, gain=3.0).wrench(1.0, STILL)[2] == pytest.approx(12.0)


def test_force_and_torque_are_limited_in_their_direction():
    config = ReflectConfig(reflect_smooth=0.0, reflect_force=5.0, reflect_torque=0.2)
    felt = settled(config, np.array([-30.0, 0.0, -40.0, 0.0, 3.0, 0.0])).wrench(1.0, STILL)
    np.testing.assert_allclose(felt, [3.0, 0.0, 4.0, 0.0, -0.2, 0.0], atol=1e-12)


def test_a_stale_wrench_is_no_force_at_once():
    reflection = settled(ReflectConfig())
    for k in range(50):
        assert reflection.wrench(1.0 + 0.01 * k, STILL)[2] > 7.0
    assert reflection.wrench(1.5, STILL)[2] > 7.0
    np.testing.assert_array_equal(reflection.wrench(1.501, STILL), STILL)
    assert reflection.rumble(1.501) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_wrench_that_is_not_finite_is_no_measurement(bad):
    reflection = settled()
    reflection.receive(1.05, np.full(6, bad))
    assert reflection.wrench(1.06, STILL)[2] == pytest.approx(8.0)
    assert reflection.is_stale(1.6)


def test_the_force_changes_smoothly():
    reflection = settled(ReflectConfig(reflect_smooth=0.1))
    reflection.receive(1.0, 0.25 * PRESSES)
    felt = np.array([reflection.wrench(1.0 + 0.01 * k, STILL)[2] for k in range(40)])
    assert np.all(np.diff(felt) < 0.0)
    assert felt[9] == pytest.approx(2.0 + 6.0 * np.exp(-1.0), rel=0.1)


def test_a_hand_that_paused_gets_nothing_back_of_what_it_did_before():
    reflection = settled()
    assert reflection.wrench(1.0, STILL)[2] == pytest.approx(8.0)
    assert reflection.energy[0] == pytest.approx(8.0 * 0.1 * 0.49 - 0.5 * 8.0 * 0.008, rel=0.05)
    assert reflection.hand_is_silent(1.51)
    reflection.receive(1.6, PRESSES)
    np.testing.assert_allclose(reflection.wrench(1.6, STILL), 0.0, atol=1e-12)


def test_a_gamepad_rumbles_by_the_force():
    assert settled().rumble(1.0) == pytest.approx(8.0 / 15.0)
    assert settled(wrench=10.0 * PRESSES).rumble(1.0) == 1.0
    assert Reflection(AT_ONCE).rumble(0.0) == 0.0


def test_a_wrench_of_the_sensor_is_turned_and_moved_to_the_tool():
    T = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.5 * np.pi])), np.array([0.0, 0.0, -0.1]))  # SENSOR in the tool frame
    at_tool = wrench_at_hand(np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]), T, np.eye(3))
    np.testing.assert_allclose(at_tool, [0.0, 2.0, 0.0, 0.2, 0.0, 0.0], atol=1e-12)
    down = pin.exp3(np.array([np.pi, 0.0, 0.0]))
    np.testing.assert_allclose(
        wrench_at_hand(np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0]), T, down)[:3], [0.0, 0.0, -5.0], atol=1e-12
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("reflect_gain", -1.0), ("reflect_force", 0.0), ("reflect_stale", float("nan")), ("reflect_tank", 11.0)],
)
def test_a_bad_parameter_is_named(field, value):
    for cls in (ReflectConfig, InputParameters):
        with pytest.raises(InvalidValueError, match=field):
            cls(**{field: value})


def test_the_parameters_of_the_node_are_those_of_the_gamepad_and_of_the_force():
    with pytest.raises(InvalidValueError, match="dead_zone"):
        InputParameters(dead_zone=2.0)
    assert InputParameters().reflect_gain == ReflectConfig().reflect_gain
