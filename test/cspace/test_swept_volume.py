"""Swept volumes: obstacles that hold an arm where it stands, and wherever it passes."""

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import sphere_centers
from telerobot_nodes.cspace.multi_arm import standing_obstacles, swept_obstacles

PATH = np.array([[-1.0, 0.2], [0.5, 0.2], [0.5, -1.5]])


def outside(obstacles, centers, radii):
    """The largest distance by which a sphere stands out of the union, judged sphere by sphere."""
    solids = np.array([o.pose[:3] for o in obstacles])
    sizes = np.array([o.size[0] for o in obstacles])
    gap = np.linalg.norm(centers[:, None] - solids[None], axis=2) + radii[:, None] - sizes[None]
    return gap.min(axis=1).max()


def test_a_standing_arm_is_its_spheres(planar):
    q = np.array([0.3, -0.7])
    found = standing_obstacles(planar, q, "left")
    assert np.array([o.pose[:3] for o in found]) == pytest.approx(sphere_centers(planar.arm, q))
    assert [o.size[0] for o in found] == pytest.approx(planar.arm.sphere_radius)
    assert found[0].name == "left_0"


def test_the_first_links_alone_are_fewer_spheres(planar):
    q = np.zeros(2)
    assert len(standing_obstacles(planar, q, "left", 2)) == planar.arm.sphere_first[planar.arm.link_first[2]]
    assert len(standing_obstacles(planar, q, "left", 0)) == 0


@pytest.mark.parametrize("merge", [0.03, 0.06])
def test_every_sphere_is_inside_the_swept_volume_all_along(planar, merge):
    found, radii = swept_obstacles(planar, PATH, "swept", merge), planar.arm.sphere_radius
    for a, b in ((PATH[0], PATH[1]), (PATH[1], PATH[2])):
        for share in np.linspace(0.0, 1.0, 60):
            assert outside(found, sphere_centers(planar.arm, a + share * (b - a)), radii) <= 1e-9


def test_a_finer_volume_stands_out_less(planar):
    sizes = [max(o.size[0] for o in swept_obstacles(planar, PATH, "swept", merge)) for merge in (0.02, 0.1)]
    assert sizes[0] < sizes[1]


def test_names_are_given_once(planar):
    names = [o.name for o in swept_obstacles(planar, PATH)]
    assert len(set(names)) == len(names)
