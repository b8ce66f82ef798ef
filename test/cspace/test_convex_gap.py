"""Lower bounds on distances of convex solids: coal's distances, never more, and never above 0 where solids overlap."""

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.cspace.proof.convex_gap import gap_of_hulls, gap_to_solid, simplex_of
from telerobot_nodes.cspace.proof.solid_arrays import BOX, CYLINDER, SPHERE
from test.support.coal_solids import EXACT, gap, solid_of

SIMPLEX = simplex_of()
KINDS = {BOX: (0.1, 0.05, 0.2), CYLINDER: (0.08, 0.15, 0.0), SPHERE: (0.0, 0.0, 0.0)}


SIZES, FLAT = [1, 2, 8, 32], [3, 4]  # corners of points, rods and clouds; of flat hulls, of which coal makes none


def corners_of(rng, sizes):
    """Corners of a small hull."""
    count = int(rng.choice(sizes))
    corners = rng.normal(size=(count, 3)) * rng.choice([0.01, 0.05])
    if count == 4:
        corners[:, 2] = 0.0
    return corners @ pin.exp3(rng.normal(size=3)).T + rng.uniform(-0.3, 0.3, 3)


def coal_solid(kind, size):
    if kind == BOX:
        return coal.Box(*(2.0 * np.array(size)))
    return coal.Cylinder(size[0], 2.0 * size[1]) if kind == CYLINDER else coal.Sphere(1e-9)


def agree(found, true):
    """`found` is no more than `true`, and where that is a distance, no less."""
    if true <= 0.0:
        return found <= EXACT
    return abs(found - true) <= 3.0 * EXACT


@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_to_a_solid_is_coal_s(kind):
    rng, solid, seen = np.random.default_rng(kind), coal_solid(kind, KINDS[kind]), set()
    for _ in range(300):
        corners, T = corners_of(rng, SIZES), pin.SE3(pin.exp3(rng.normal(size=3)), rng.uniform(-0.1, 0.1, 3))
        own, at = solid_of(corners)
        true = gap(own, at, solid, T) + EXACT
        size = np.array(KINDS[kind])
        found = gap_to_solid(corners, 0, len(corners), kind, T.translation, T.rotation, size, np.inf, SIMPLEX)
        assert agree(found, true)
        seen.add(true > 0.0)
    assert kind == SPHERE or seen == {True, False}


def test_the_gap_of_hulls_is_coal_s():
    rng, seen = np.random.default_rng(3), set()
    for _ in range(500):
        a, b = corners_of(rng, SIZES), corners_of(rng, SIZES) * rng.choice([1.0, 0.3])
        (one, T), (other, U) = solid_of(a), solid_of(b)
        true = gap(one, T, other, U) + EXACT
        found = gap_of_hulls(np.vstack([a, b]), 0, len(a), len(a), len(a) + len(b), np.inf, SIMPLEX)
        assert agree(found, true)
        seen.add(true > 0.0)
    assert seen == {True, False}


def test_a_bound_is_never_more_than_the_distance_of_any_two_points():
    rng = np.random.default_rng(4)
    for _ in range(300):
        a, b = corners_of(rng, SIZES + FLAT), corners_of(rng, SIZES + FLAT)
        enough = rng.choice([0.0, 0.05, np.inf])
        found = gap_of_hulls(np.vstack([a, b]), 0, len(a), len(a), len(a) + len(b), enough, SIMPLEX)
        x, y = rng.dirichlet(np.ones(len(a)), 50) @ a, rng.dirichlet(np.ones(len(b)), 50) @ b
        assert found <= np.linalg.norm(x[:, None] - y[None], axis=2).min() + 1e-9


def test_the_search_ends_at_what_is_enough():
    a, b = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]]), np.array([[1.0, -2.0, 0.0], [1.0, 3.0, 0.0]])
    both = np.vstack([a, b])
    assert gap_of_hulls(both, 0, 2, 2, 4, np.inf, SIMPLEX) == pytest.approx(1.0, abs=1e-7)
    assert 0.1 <= gap_of_hulls(both, 0, 2, 2, 4, 0.1, SIMPLEX) <= 1.0


def test_hulls_inside_each_other_have_a_depth_that_parts_them():
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    for away in (0.0, 0.3, 0.9):
        both = np.vstack([cube, 0.1 * cube + [away, 0.0, 0.0]])
        found = gap_of_hulls(both, 0, 8, 8, 16, np.inf, SIMPLEX)
        assert -2.0 * np.sqrt(3.0) <= found < 0.0
    assert gap_of_hulls(np.zeros((2, 3)), 0, 1, 1, 2, np.inf, SIMPLEX) < 0.0  # two points at one place
