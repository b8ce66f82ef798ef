"""Scale and jumps of a recorded hand."""

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.operator.devices import HandRecording, box_reach, fit
from telerobot_nodes.operator.devices.hand_fit import MARGIN, jump_free, jumps


def hand(jump=0.0, n=100, length=0.2):
    position = np.column_stack((np.linspace(0.0, length, n), np.zeros((n, 2))))
    position[n // 2 :, 1] += jump
    return HandRecording("test", 0.01 * np.arange(n), position)


def cube(half):
    return box_reach(np.full(3, -half), np.full(3, half))


def test_a_smooth_motion_has_no_jump():
    assert not jumps(hand()).any()


def test_a_jump_is_found_at_its_sample_with_its_length():
    found = jumps(hand(jump=0.06))
    assert np.flatnonzero(found).tolist() == [50]
    assert found[50] == pytest.approx(0.06, abs=1e-3)


def test_the_motion_without_its_jump_ends_beside_the_start_by_the_motion_alone():
    path = jump_free(hand(jump=0.06))
    assert np.abs(path[:, 1]).max() == 0.0
    assert path[-1, 0] == pytest.approx(0.2, abs=0.003)  # the step of the jump is left out


def test_a_motion_within_reach_keeps_its_size():
    found = fit(hand(jump=0.06), cube(0.3))
    assert (found.scale, found.fits, found.jumps) == (1.0, True, 1)
    assert found.upper[0] == pytest.approx(0.2, abs=0.003)


def test_a_motion_too_large_is_scaled_until_it_fits_with_the_margin():
    found = fit(hand(length=0.4), cube(0.23))
    assert found.fits
    assert 0.4 * found.scale + MARGIN / np.sqrt(3.0) <= 0.23 + 1e-9
    assert found.scale > 0.45


def test_a_motion_of_which_not_a_tenth_fits_is_rejected():
    with pytest.raises(OutOfReachError, match="tenth"):
        fit(hand(), cube(0.001))


def test_a_given_scale_is_kept_even_if_it_does_not_fit():
    assert fit(hand(), cube(0.05), scale=1.0).fits is False
    with pytest.raises(InvalidValueError, match="scale"):
        fit(hand(), cube(0.05), scale=11.0)
