import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.motion.law.law_records import StateFrame, new_state
from telerobot_nodes.motion.parameters import Guard, parameters_from
from telerobot_nodes.motion.primitives.guard import GuardBand

BAND = 0.02


def guard_at(height, tr_nom=None, tr_base=None):
    """A horizontal plane at z = 0 in WORLD; NOM begins at `height` [m] above it."""
    T_nom = pin.SE3.Identity() if tr_nom is None else tr_nom
    T_base = pin.SE3.Identity() if tr_base is None else tr_base
    parameters = parameters_from({"tr_nom": pose_from_se3(T_nom), "tr_base": pose_from_se3(T_base)})
    guard = Guard(guard_plane=(0.0, 0.0, 0.0, 0.0, 0.0, 2.0), guard_band=BAND)
    T_world_nom = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5])), np.array([0.1, 0.2, height]))
    T_base_tn = T_base.actInv(T_world_nom) * T_nom.inverse()
    return GuardBand(guard, parameters, T_base_tn), T_base, T_nom, T_world_nom


def state_of(T_base, T_nom, T_world_nom):
    state = new_state(6)
    goal = T_base.actInv(T_world_nom) * T_nom.inverse()
    state.R[StateFrame.GOAL], state.p[StateFrame.GOAL] = goal.rotation, goal.translation
    return state


FRAMES = [
    {},
    {"tr_nom": pin.SE3(pin.exp3(np.array([0.4, 0.1, -0.3])), np.array([0.0, 0.05, 0.1]))},
    {"tr_base": pin.SE3(pin.exp3(np.array([0.0, 0.0, 1.0])), np.array([0.5, -0.3, 0.2]))},
]


@pytest.mark.parametrize("frames", FRAMES, ids=["plain", "tr_nom", "tr_base"])
def test_nom_inside_the_band_is_moved_back_to_its_edge_along_the_normal(frames):
    guard, T_base, T_nom, T = guard_at(0.1, **frames)
    inside = pin.SE3(T.rotation, np.array([0.1, 0.2, 0.5 * BAND]))
    state = state_of(T_base, T_nom, inside)
    assert guard.displacement(state) is None  # no sample before the first
    d = guard.displacement(state)
    moved = inside * pin.SE3(np.eye(3), d[:3])
    np.testing.assert_allclose(moved.translation, [0.1, 0.2, BAND], atol=1e-12)
    assert not d[3:].any()


def test_outside_the_band_nothing_is_done():
    guard, T_base, T_nom, T = guard_at(0.1)
    state = state_of(T_base, T_nom, pin.SE3(T.rotation, np.array([0.0, 0.0, 1.01 * BAND])))
    guard.displacement(state)
    assert guard.displacement(state) is None


def test_a_tool_that_begins_inside_the_band_is_kept_no_deeper_than_there():
    guard, T_base, T_nom, T = guard_at(0.4 * BAND)
    assert guard.band == pytest.approx(0.4 * BAND)
    state = state_of(T_base, T_nom, pin.SE3(T.rotation, np.array([0.0, 0.0, 0.4 * BAND + 1e-6])))
    guard.displacement(state)
    assert guard.displacement(state) is None
    deeper = state_of(T_base, T_nom, pin.SE3(T.rotation, np.array([0.0, 0.0, 0.3 * BAND])))
    assert np.linalg.norm(guard.displacement(deeper)) == pytest.approx(0.1 * BAND)
