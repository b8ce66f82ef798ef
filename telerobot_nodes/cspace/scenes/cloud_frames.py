"""Where the frames of clouds are that no URDF names, such as a camera's: rows of a parameter."""

from __future__ import annotations

from collections.abc import Sequence

import pinocchio as pin

from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.cspace.scenes.frames import Frames
from telerobot_nodes.errors import InvalidValueError

ROW = "NAME PARENT X Y Z QX QY QZ QW"

FrameRow = tuple[str, str, pin.SE3]  # name, parent, T_parent_frame


def frame_rows(rows: Sequence[str]) -> list[FrameRow]:
    """Frames of rows `NAME PARENT X Y Z QX QY QZ QW` [m]. Raises InvalidValueError naming row and word."""
    return [_row(f"cloud_frames[{i}]", row) for i, row in enumerate(rows)]


def _row(where: str, row: str) -> FrameRow:
    words = row.split()
    if len(words) != len(ROW.split()):
        raise InvalidValueError(where, row, f"allowed: {ROW}")
    try:
        values = [float(word) for word in words[2:]]
    except ValueError:
        raise InvalidValueError(where, row, f"allowed: {ROW}, numbers from X on") from None
    return words[0], words[1], se3_from_pose(values, where)


def add_frames(rows: Sequence[FrameRow], frames: Frames) -> None:
    """Add them to `frames`, each after its parent. Raises InvalidValueError on a parent that is not known."""
    for name, parent, T in rows:
        frames.add(name, frames.pose(parent, f"cloud_frames: parent of {name}") * T)
