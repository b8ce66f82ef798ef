"""Arms of a workcell from parameter rows, and the files of worlds."""

import math

import pytest

from telerobot_nodes.cspace.geometry import load_world
from telerobot_nodes.cspace.service import arms_of, world_file
from telerobot_nodes.errors import InvalidValueError


def test_without_rows_there_is_one_arm_at_the_origin():
    (arm,) = arms_of([], "panda")
    assert (arm.name, arm.robot, arm.namespace) == ("arm", "panda", "")
    assert arm.base == (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def test_a_row_names_robot_place_turn_and_namespace():
    left, right = arms_of([f"left panda 0.1 0.2 0.3 {math.pi}", "right arm 0 0 0 0 /right/"], "arm")
    assert left.base == pytest.approx((0.1, 0.2, 0.3, 0.0, 0.0, 1.0, 0.0))
    assert (right.robot, right.namespace) == ("arm", "right")


BAD_ROWS = [
    "",
    "left",
    "left arm 0 0 0",
    "left arm 0 0 0 x",
    "left arm 0 0 0 nan",
    "1st arm 0 0 0 0",
    "a b 1 2 3 4 c d",
]


@pytest.mark.parametrize("row", BAD_ROWS)
def test_a_row_that_is_none_is_refused_with_its_number(row):
    with pytest.raises(InvalidValueError, match=r"arms\[1\]"):
        arms_of(["first arm 0 0 0 0", row], "arm")


def test_two_arms_cannot_have_one_name():
    with pytest.raises(InvalidValueError, match="names"):
        arms_of(["left arm 0 0 0 0", "left arm 1 0 0 0"], "arm")


def test_a_world_is_a_name_or_a_file(tmp_path):
    assert load_world(world_file("table"))
    own = tmp_path / "own.yaml"
    assert world_file(str(own)) == own
    with pytest.raises(InvalidValueError, match="table"):
        world_file("atlantis")
