"""Places and directions of a command as poses and vectors."""

from types import SimpleNamespace

import numpy as np
import pytest

from telerobot_nodes.rtc.elaboration.places import direction_vector, place_frame, place_joints, place_pose
from telerobot_nodes.rtc.language.parser import parse_one
from telerobot_nodes.rtc.skills import ExpressionError
from telerobot_nodes.rtc.world import Database, Item

ITEMS = [
    Item("dock.pose", (0.5, 0.2, 0.1, 0, 0, 0, 1.0)),
    Item("turned.pose", (0.0, 0.0, 0.0, 0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4))),
    Item("arm.pose", (0.1, 0.0, 0.5, 0, 1.0, 0, 0)),
    Item("arm.home", (0.1, 0.2)),
]


def scope(frame="world"):
    table = {("grasp", "dock"): {"grasp_points": {"top": (0, 0, 0.01, 0, 1, 0, 0)}}}
    library = SimpleNamespace(workcell=SimpleNamespace(command_objects=table))
    slots = {"arm": "arm", "frame_name": frame}
    return SimpleNamespace(view=Database(ITEMS).view, library=library, lookup=slots.__getitem__)


def place(text):
    return parse_one(f"move a to {text}").place


def direction(text):
    return parse_one(f"push a {text}").direction


DOWN = [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "position", "orientation"),
    [
        ("dock", [0.5, 0.2, 0.1], DOWN),
        ("above dock", [0.5, 0.2, 0.2], DOWN),
        ("above dock offset 5 cm", [0.5, 0.2, 0.15], DOWN),
        ("neighborhood-of dock", [0.5, 0.2, 0.25], DOWN),
        ("grasp-point-of dock", [0.5, 0.2, 0.11], DOWN),
        ("(0.3, 0, 0.4)", [0.3, 0, 0.4], DOWN),  # as the tool is now
        ("(0.3, 0, 0.4, 0, 0, 0, 1)", [0.3, 0, 0.4], [0, 0, 0, 1]),
        ("(10 cm, 0, 0) in dock", [0.6, 0.2, 0.1], DOWN),
        ("(0.1, 0, 0) in turned", [0.0, 0.1, 0.0], DOWN),
        ("(0, 0, 0.1) in tool", [0.1, 0.0, 0.4], DOWN),
    ],
)
def test_a_place_is_a_pose_of_the_tool(text, position, orientation):
    pose = place_pose(place(text), scope())
    np.testing.assert_allclose(pose[:3], position, atol=1e-12)
    assert abs(pose[3:] @ np.array(orientation)) == pytest.approx(1.0)


def test_the_frame_of_a_place_has_z_up():
    np.testing.assert_allclose(place_frame(place("above dock"), scope()), [0.5, 0.2, 0.2, 0, 0, 0, 1], atol=1e-12)


def test_joints_are_those_given_or_home():
    np.testing.assert_allclose(place_joints(place("joints (10 deg, 1)"), scope()), [np.radians(10), 1.0])
    np.testing.assert_allclose(place_joints(place("home"), scope()), [0.1, 0.2])


@pytest.mark.parametrize(
    ("text", "frame", "vector"),
    [
        ("up", "world", [0, 0, 1]),
        ("left", "world", [0, 1, 0]),
        ("along -y", "world", [0, -1, 0]),
        ("along x", "turned", [0, 1, 0]),
        ("along z", "tool", [0, 0, -1]),
        ("toward dock", "world", np.array([0.4, 0.2, -0.4]) / 0.6),
    ],
)
def test_a_direction_is_a_unit_vector_in_world(text, frame, vector):
    np.testing.assert_allclose(direction_vector(direction(text), scope(frame)), vector, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: place_pose(None, scope()), "names no place"),
        (lambda: place_pose(place("home"), scope()), "home is no pose"),
        (lambda: place_pose(place("grasp-point-of turned"), scope()), "no grasp point of turned"),
        (lambda: place_joints(place("dock"), scope()), "names no joints"),
        (lambda: direction_vector(None, scope()), "no direction"),
        (lambda: direction_vector(direction("along rx"), scope()), "along x, y or z"),
    ],
)
def test_what_is_missing_is_named(call, problem):
    with pytest.raises(ExpressionError, match=problem):
        call()
