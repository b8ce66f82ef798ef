"""Collision shapes of a URDF: what cannot be one is refused by name; flat ones are held like others."""

import numpy as np
import pytest

from telerobot_nodes.cspace.covering import arm_shapes
from telerobot_nodes.cspace.covering.shapes import _mesh_points
from telerobot_nodes.errors import ModelError

TRIANGLE = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.2, 0.0]])
FACE = np.array([[0, 1, 2]])


@pytest.mark.parametrize("vertices", [np.empty((0, 3)), np.full((3, 3), np.nan)])
def test_a_mesh_that_is_none_is_refused_by_name(vertices):
    with pytest.raises(ModelError, match="hand"):
        _mesh_points("hand", vertices, FACE, 0.05)


@pytest.mark.parametrize("faces", [FACE, np.empty((0, 3), dtype=np.int64), np.array([[0, 0, 0], [0, 1, 2]])])
def test_a_degenerate_mesh_keeps_all_its_points(faces):
    clouds = _mesh_points("plate", TRIANGLE, faces, 0.05)
    kept = np.vstack(clouds)
    assert all((np.abs(kept - v).max(axis=1) < 1e-9).any() for v in TRIANGLE)


def test_every_shape_of_the_arm_moves_with_a_joint_of_it(panda):
    shapes = arm_shapes(panda.robot)
    assert {link for link, _, _ in shapes} <= set(range(panda.dof + 1))
    assert len(shapes) > panda.dof
