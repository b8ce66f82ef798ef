from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.interpolation.hermite import quintic, quintic_into
from telerobot_nodes.errors import InvalidValueError

VECTOR = st.lists(st.floats(-5.0, 5.0), min_size=3, max_size=3).map(np.array)


@settings(max_examples=40, deadline=None)
@given(VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, st.floats(0.01, 10.0))
def test_a_quintic_meets_both_ends_in_position_velocity_and_acceleration(q0, v0, a0, q1, v1, a1, duration):
    q, v, a = quintic(q0, v0, a0, q1, v1, a1, duration, np.array([0.0, duration]))
    scale = 1.0 + 1.0 / duration**2
    assert np.allclose(q, [q0, q1], atol=1e-10 * scale)
    assert np.allclose(v, [v0, v1], atol=1e-9 * scale)
    assert np.allclose(a, [a0, a1], atol=1e-8 * scale)


def test_velocity_and_acceleration_are_the_derivatives_of_position():
    rng = np.random.default_rng(3)
    ends = [rng.normal(size=4) for _ in range(6)]
    t, h = 0.37, 1e-5
    q, v, a = quintic(*ends, 0.9, np.array([t - h, t, t + h]))
    assert np.allclose((q[2] - q[0]) / (2 * h), v[1], atol=1e-7)
    assert np.allclose((v[2] - v[0]) / (2 * h), a[1], atol=1e-6)


def test_a_quintic_is_held_outside_its_duration():
    ends = [np.array([float(i)]) for i in range(6)]
    assert np.array_equal(quintic(*ends, 2.0, -1.0)[0], quintic(*ends, 2.0, 0.0)[0])
    assert np.array_equal(quintic(*ends, 2.0, 9.0)[0], quintic(*ends, 2.0, 2.0)[0])


def test_read_only_and_strided_inputs_set_off_no_compilation():
    fixed = np.zeros(3)
    fixed.setflags(write=False)
    strided = np.zeros((3, 2))[:, 0]
    out = [np.zeros(3) for _ in range(3)]
    quintic_into(fixed, strided, fixed, strided, fixed, fixed, 1.0, 0.5, *out)
    assert len(quintic_into.signatures) == 1


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan])
def test_a_duration_that_is_not_positive_is_refused(duration):
    z = np.zeros(2)
    with pytest.raises(InvalidValueError, match="duration"):
        quintic(z, z, z, z, z, z, duration, 0.0)
