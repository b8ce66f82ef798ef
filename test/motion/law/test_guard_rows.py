"""Sensor motion is kept out of planes by points of the tool; the room on the way to rest is that of the joints."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.motion.law import GUARD_COLUMNS, Fusion
from telerobot_nodes.motion.law.guard_rows import EDGE, keep_out
from telerobot_nodes.motion.parameters import GcmsfParameters

seeds = st.integers(0, 2**32 - 1)


def rows_of(planes, points, least=0.0):
    """`planes`: (normal, offset)."""
    table = [(*normal, offset, *point, least, 0.0, 0.0, 1.0, 0.0) for normal, offset in planes for point in points]
    return np.array(table).reshape(-1, GUARD_COLUMNS)


def distances(rows, T):
    return np.array([row[:3] @ T.act(row[4:7]) - row[3] for row in rows])


def moved(T, step):
    return T * pin.SE3(pin.exp3(step[3:]), step[:3])


@given(seeds)
@settings(max_examples=50)
@pytest.mark.lengthy
def test_no_step_of_any_kind_takes_a_point_nearer_than_allowed(make_law, arm, seed):
    random = np.random.default_rng(seed)
    law, _, _ = make_law(arm)
    corner = [(np.eye(3)[i], 0.0) for i in range(3)]
    law = law._replace(guard=rows_of(corner, random.uniform(-0.05, 0.05, (2, 3)), least=0.01))
    T = pin.SE3(pin.exp3(random.uniform(-2.0, 2.0, 3)), random.uniform(0.1, 0.2, 3))
    push = random.uniform(-3e-3, 3e-3, 6)  # 0.6 m/s at 5 ms
    for _ in range(400):
        step = push.copy()
        keep_out(law, T.rotation, T.translation, step)
        T = moved(T, step)
        assert distances(law.guard, T).min() > 0.01


def test_a_step_slides_along_a_plane_and_slows_down_before_it(make_law, arm):
    law, _, _ = make_law(arm)
    law = law._replace(guard=rows_of([((0.0, 0.0, 1.0), 0.0)], [(0.0, 0.0, 0.0)]))
    T = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.2]))
    heights = []
    for _ in range(600):
        step = np.array([1e-3, 0.0, -1e-3, 0.0, 0.0, 0.0])
        keep_out(law, T.rotation, T.translation, step)
        assert step[0] == pytest.approx(1e-3)
        T = moved(T, step)
        heights.append(T.translation[2])
    assert np.diff(heights)[0] == pytest.approx(-1e-3)  # far away nothing is changed
    assert heights[-1] == pytest.approx(EDGE, abs=1e-4)


def test_a_point_that_is_too_near_already_goes_no_deeper_and_may_come_out(make_law, arm):
    law, _, _ = make_law(arm)
    law = law._replace(guard=rows_of([((0.0, 0.0, 1.0), 0.0)], [(0.0, 0.0, 0.0)]))
    inside = np.array([0.0, 0.0, -0.01])
    deeper, out = np.array([0.0, 0.0, -1e-3, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1e-3, 0.0, 0.0, 0.0])
    keep_out(law, np.eye(3), inside, deeper)
    np.testing.assert_allclose(deeper, 0.0, atol=1e-12)
    keep_out(law, np.eye(3), inside, out)
    assert out[2] == 1e-3


def test_a_turn_about_nom_is_shortened_by_a_point_that_is_far_from_it(make_law, arm):
    law, _, _ = make_law(arm)
    law = law._replace(guard=rows_of([((0.0, 0.0, 1.0), 0.0)], [(0.2, 0.0, 0.0)]))
    step = np.array([0.0, 0.0, 0.0, 0.0, 0.01, 0.0])  # about y: x goes down
    keep_out(law, np.eye(3), np.array([0.0, 0.0, EDGE]), step)
    T = moved(pin.SE3(np.eye(3), np.array([0.0, 0.0, EDGE])), step)
    assert T.act(np.array([0.2, 0.0, 0.0]))[2] >= EDGE - 1e-4


@pytest.mark.lengthy
@given(seeds)
@settings(max_examples=15)
def test_a_disc_is_kept_out_by_the_nearest_point_of_its_rim(make_law, arm, seed):
    random = np.random.default_rng(seed)
    law, _, _ = make_law(arm)
    row = rows_of([((0.0, 0.0, 1.0), 0.0)], [random.uniform(-0.05, 0.05, 3)])
    axis = random.standard_normal(3)
    row[0, 8:11], row[0, 11] = axis / np.linalg.norm(axis), 0.04
    law = law._replace(guard=row)
    across = np.linalg.svd(row[0, 8:11][None])[2][1:]  # two directions in the disc
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    rim = row[0, 4:7] + 0.04 * (np.outer(np.cos(angles), across[0]) + np.outer(np.sin(angles), across[1]))
    T = pin.SE3(pin.exp3(random.uniform(-2.0, 2.0, 3)), np.array([0.0, 0.0, 0.2]))
    turn, heights = random.uniform(-5e-3, 5e-3, 3), []
    for _ in range(400):
        step = np.concatenate((T.rotation.T @ np.array([0.0, 0.0, -2e-3]), turn))
        keep_out(law, T.rotation, T.translation, step)
        T = moved(T, step)
        heights.append(min(T.act(p)[2] for p in rim))
    assert min(heights) > 0.0
    assert heights[-1] < 0.01  # it came near: the rim is not kept farther away than it must


@given(seeds)
@settings(max_examples=30)
def test_the_room_is_that_of_the_nearest_place_on_the_way_to_rest(arm, seed):
    random = np.random.default_rng(seed)
    fusion = Fusion(arm, 0.005, GcmsfParameters())
    rows = rows_of([((0.0, 0.0, 1.0), 0.1)], random.uniform(-0.1, 0.1, (2, 3)), least=0.02)
    fusion.use(fusion.parameters, fusion._law._replace(guard=rows))
    q, qd = np.array(arm.home), random.uniform(-0.5, 0.5, arm.dof)
    times = random.uniform(0.2, 0.4, arm.dof)
    braked = [np.minimum(t, times) for t in np.linspace(0.0, 0.4, 101)]
    way = [arm.forward(q + qd * (t - 0.5 * t * t / times)) for t in braked]
    nearest = min(distances(rows, T).min() for T in way) - 0.02
    assert fusion.room(q, qd, times) == pytest.approx(nearest, abs=2e-3)


def test_without_a_guard_nothing_is_near(arm):
    assert Fusion(arm, 0.005, GcmsfParameters()).room(np.array(arm.home), np.ones(arm.dof), np.ones(arm.dof)) == np.inf
