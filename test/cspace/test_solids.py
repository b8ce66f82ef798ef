"""Spheres that cover solids."""

import numpy as np
import pytest

from telerobot_nodes.cspace.covering import CollisionSphere, bounding_sphere, box_points
from telerobot_nodes.cspace.covering.solids import cover, cover_capsule, cylinder_points, slabs


def covered(points, spheres):
    gaps = [np.linalg.norm(points - sphere.center, axis=1) - sphere.radius for sphere in spheres]
    return bool((np.min(gaps, axis=0) <= 1e-9).all())


@pytest.mark.parametrize("size", [(0.4, 0.1, 0.1), (0.1, 0.1, 0.1), (0.02, 0.3, 0.3), (0.5, 0.3, 0.01)])
def test_every_point_of_a_box_is_inside_a_ball(size):
    rng = np.random.default_rng(0)
    spheres = cover(box_points(np.array(size)), 0.02)
    assert covered(rng.uniform(-0.5, 0.5, (20000, 3)) * size, spheres)
    assert 1 <= len(spheres) <= 12


@pytest.mark.parametrize(("radius", "length"), [(0.05, 0.4), (0.1, 0.05), (0.03, 0.03)])
def test_every_point_of_a_cylinder_is_inside_a_ball(radius, length):
    rng = np.random.default_rng(1)
    angle, r = rng.uniform(0, 2 * np.pi, 20000), radius * np.sqrt(rng.uniform(0, 1, 20000))
    z = rng.uniform(-0.5, 0.5, 20000) * length
    points = np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
    assert covered(points, cover(cylinder_points(radius, length), 0.01))


def test_every_point_of_a_capsule_is_inside_a_ball():
    rng = np.random.default_rng(2)
    a, b, radius = np.array([0.1, 0.0, 0.2]), np.array([0.1, 0.3, -0.1]), 0.06
    u = rng.normal(size=(20000, 3))
    u *= (radius * rng.uniform(0, 1, 20000) ** (1 / 3) / np.linalg.norm(u, axis=1))[:, None]
    points = a + rng.uniform(0, 1, (20000, 1)) * (b - a) + u
    assert covered(points, cover_capsule(a, b, radius, 0.01))


def test_a_finer_tolerance_gives_balls_that_fit_closer():
    coarse = cover(box_points(np.array([0.4, 0.1, 0.1])), 0.05)
    fine = cover(box_points(np.array([0.4, 0.1, 0.1])), 0.02)
    assert max(b.radius for b in fine) < max(b.radius for b in coarse)


def test_the_bounding_ball_of_a_cube_is_nearly_the_smallest():
    sphere = bounding_sphere(box_points(np.ones(3)))
    assert np.sqrt(0.75) <= sphere.radius < 1.02 * np.sqrt(0.75)


@pytest.mark.lengthy
def test_slices_of_a_closed_surface_hold_what_it_encloses():
    import trimesh

    mesh = trimesh.creation.torus(0.3, 0.08)
    points = np.random.default_rng(1).uniform((-0.4, -0.4, -0.08), (0.4, 0.4, 0.08), (20_000, 3))
    ring = np.hypot(points[:, 0], points[:, 1]) - 0.3
    inside = points[np.hypot(ring, points[:, 2]) < 0.078]  # flat facets lie inside the round torus
    assert len(inside) > 2000
    clouds = slabs(np.asarray(mesh.vertices), np.asarray(mesh.faces), 0.05)
    spheres = [sphere for cloud in clouds for sphere in cover(cloud, 0.02, 4)]
    assert covered(inside, spheres)


def test_a_flat_cloud_gets_one_ball_and_no_error():
    spheres = cover(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), 10.0)
    assert len(spheres) == 1
    assert isinstance(spheres[0], CollisionSphere)
