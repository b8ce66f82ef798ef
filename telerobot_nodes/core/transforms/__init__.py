"""Compiled algebra of rotations and rigid transforms, shared by kinematics and control."""

from __future__ import annotations

from telerobot_nodes.core.transforms.transforms import (
    clamp,
    compose,
    copy,
    copy_rotation,
    displacement_from,
    invert,
    length,
    multiply,
    pose_into,
    rotation_into,
    rotation_of_quaternion,
    shorten,
    straighten,
    turn,
    turn_back,
    vector_into,
    wrench_from,
    wrench_into,
)

__all__ = [
    "clamp",
    "compose",
    "copy",
    "copy_rotation",
    "displacement_from",
    "invert",
    "length",
    "multiply",
    "pose_into",
    "rotation_into",
    "rotation_of_quaternion",
    "shorten",
    "straighten",
    "turn",
    "turn_back",
    "vector_into",
    "wrench_from",
    "wrench_into",
]
