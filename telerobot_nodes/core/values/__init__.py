"""Arrays, poses and checks of values, for all packages."""

from __future__ import annotations

from telerobot_nodes.core.values.frames import interpolate, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.core.values.growable_array import GrowableArray
from telerobot_nodes.core.values.validation import FloatArray, IntArray, finite, finite_array, in_range, one_of, poses

__all__ = [
    "FloatArray",
    "GrowableArray",
    "IntArray",
    "finite",
    "finite_array",
    "in_range",
    "interpolate",
    "one_of",
    "pose_distance",
    "pose_from_se3",
    "poses",
    "se3_from_pose",
]
