"""Conversion between messages and values."""

from __future__ import annotations

from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.messages.convert import (
    LinkCounter,
    doubles,
    pose_stamped,
    pose_to_array,
    pose_to_message,
    twist_stamped,
)
from telerobot_nodes.nodes.messages.rotations import align_z, quaternion_to_matrix

__all__ = [
    "LinkCounter",
    "align_z",
    "convert",
    "doubles",
    "pose_stamped",
    "pose_to_array",
    "pose_to_message",
    "quaternion_to_matrix",
    "twist_stamped",
]
