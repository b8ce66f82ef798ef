"""Rotations by the library that ROS users know agree with our own."""

import sys
import types

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.nodes.messages import align_z, quaternion_to_matrix

QUATERNION = np.array((0.1, -0.4, 0.2, 0.8)) / np.linalg.norm((0.1, -0.4, 0.2, 0.8))


def test_a_quaternion_of_ros_has_its_scalar_last():
    assert np.allclose(quaternion_to_matrix(QUATERNION), pin.Quaternion(QUATERNION).toRotationMatrix(), atol=1e-12)


def test_tf_transformations_is_used_where_it_is_installed(monkeypatch):
    library = types.ModuleType("tf_transformations")
    library.quaternion_matrix = lambda quaternion: np.diag([*quaternion[:3], 1.0])
    monkeypatch.setitem(sys.modules, "tf_transformations", library)
    assert np.array_equal(quaternion_to_matrix(QUATERNION), np.diag(QUATERNION[:3]))


@pytest.mark.parametrize("direction", [(0, 0, 1), (1, 0, 0), (0, -1, 0), (0.6, 0.0, -0.8), (0, 0, -1)])
def test_the_z_axis_is_turned_into_the_direction(direction):
    turn = align_z(np.array(direction, dtype=float))
    assert np.allclose(turn[:, 2], direction, atol=1e-12)
    assert np.allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(turn) == pytest.approx(1.0)
