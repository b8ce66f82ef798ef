"""Rotations of ROS poses by the library that ROS users know: tf_transformations, or transforms3d beneath it.

tf_transformations is a thin layer over transforms3d and comes with a ROS host only.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray


def quaternion_to_matrix(quaternion: FloatArray) -> FloatArray:
    """(3, 3) rotation of a unit quaternion x, y, z, w, the order of geometry_msgs/Quaternion."""
    try:
        from tf_transformations import quaternion_matrix
    except ImportError:
        from transforms3d.quaternions import quat2mat

        return np.asarray(quat2mat(np.roll(quaternion, 1)), dtype=np.float64)
    return np.asarray(quaternion_matrix(quaternion), dtype=np.float64)[:3, :3]


def align_z(direction: FloatArray) -> FloatArray:
    """(3, 3) shortest rotation that turns the z axis into a unit direction (3,); about x where it is opposite."""
    x, y, z = direction
    quaternion = np.array((-y, x, 0.0, 1.0 + z))
    norm = float(np.linalg.norm(quaternion))
    return quaternion_to_matrix(quaternion / norm if norm > 1e-9 else np.array((1.0, 0.0, 0.0, 0.0)))
