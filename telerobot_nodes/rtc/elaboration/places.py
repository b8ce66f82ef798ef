"""Places and directions of a command as poses and vectors [JPL-RTC section 3].

Objects and places have z up in WORLD; a tool comes to them with its z axis down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from telerobot_nodes.core.values import FloatArray, poses, se3_from_pose
from telerobot_nodes.rtc.elaboration.request import HEADINGS
from telerobot_nodes.rtc.language import Direction, Place
from telerobot_nodes.rtc.skills import ExpressionError, axis_of, compose, offset, rotate, shift, unit
from telerobot_nodes.rtc.world import WORLD, View

if TYPE_CHECKING:
    from telerobot_nodes.rtc.skills import Library

NEIGHBORHOOD = 0.15  # [m] before an object
ABOVE = 0.10  # [m] over an object
TOOL_DOWN = rotate("y", math.pi)


class PlaceScope(Protocol):
    """What places are found with."""

    @property
    def view(self) -> View:
        """The database."""

    @property
    def library(self) -> Library:
        """The command-object table is in it."""

    def lookup(self, name: str) -> object:
        """The value of a slot."""


def place_frame(place: Place | None, scope: PlaceScope) -> FloatArray:
    """Pose (7,) of the place itself, z up; raises ExpressionError."""
    if place is None:
        raise ExpressionError("the command names no place")
    if place.kind == "pose":
        return _literal(place, scope)
    if place.name is None:
        raise ExpressionError(f"{place.kind} is no pose")
    frame = scope.view.pose(place.name.text)
    if place.kind == "above":
        frame = shift(frame, (0.0, 0.0, 1.0), place.offset.si if place.offset else ABOVE)
    return frame


def place_pose(place: Place | None, scope: PlaceScope) -> FloatArray:
    """Pose (7,) of the tool at a place; raises ExpressionError."""
    frame = place_frame(place, scope)
    if place is None or place.kind == "pose":
        return frame
    if place.kind == "grasp_point":
        return compose(frame, _grasp_point(place, scope))
    if place.kind == "neighborhood":
        frame = shift(frame, axis_of(frame, "z"), NEIGHBORHOOD)
    return compose(frame, TOOL_DOWN)


def _grasp_point(place: Place, scope: PlaceScope) -> FloatArray:
    name = place.name.text if place.name else ""
    points = scope.library.workcell.command_objects.get(("grasp", name), {}).get("grasp_points")
    if not isinstance(points, Mapping) or not points:
        raise ExpressionError(f"the command-object table has no grasp point of {name}")
    return np.asarray(next(iter(points.values())), dtype=np.float64)


def _literal(place: Place, scope: PlaceScope) -> FloatArray:
    numbers = [number.si for number in place.numbers]
    frame = place.name.text if place.name else WORLD
    base = scope.view.pose(str(scope.lookup("arm")) if frame == "tool" else frame)
    if len(numbers) == 3:  # the orientation stays as it is
        here = scope.view.pose(str(scope.lookup("arm")))
        at = compose(base, offset(*numbers))
        return np.concatenate((at[:3], here[3:]))
    row: FloatArray = poses(numbers, "pose")[0]
    return compose(base, row)


def place_joints(place: Place | None, scope: PlaceScope) -> FloatArray:
    """Joints [rad] of `home` or `joints (...)`; raises ExpressionError."""
    if place is not None and place.kind == "joints":
        return np.array([number.si for number in place.numbers])
    if place is not None and place.kind == "home":
        return np.asarray(scope.view.read(f"{scope.lookup('arm')}.home"), dtype=np.float64)
    raise ExpressionError("the command names no joints")


def direction_vector(direction: Direction | None, scope: PlaceScope) -> FloatArray:
    """Unit vector (3,) in WORLD; raises ExpressionError."""
    if direction is None:
        raise ExpressionError("the command names no direction")
    if direction.kind == "heading":
        frame = _frame(scope)
        turned: FloatArray = se3_from_pose(scope.view.pose(frame)).rotation @ np.array(HEADINGS[direction.word])
        return turned
    if direction.kind == "along":
        if direction.word not in ("x", "y", "z"):
            raise ExpressionError(f"a direction is along x, y or z, not {direction.word}")
        frame = _frame(scope)
        axis = axis_of(scope.view.pose(frame), direction.word)
        return axis * direction.sign
    if direction.name is None:
        raise ExpressionError("the command names no direction")
    here = scope.view.pose(str(scope.lookup("arm")))
    return unit(scope.view.pose(direction.name.text)[:3] - here[:3])


def _frame(scope: PlaceScope) -> str:
    frame = str(scope.lookup("frame_name"))
    return str(scope.lookup("arm")) if frame == "tool" else frame
