"""Signed distances to obstacles at places where the answer is known by hand."""

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import box, cylinder, floor, sphere, square_distance, world_of
from telerobot_nodes.cspace.geometry.distances import distance, farther, nearest_point

WORLD = world_of(
    [
        box("box", (0.2, 0.4, 0.6), (1.0, 0.0, 0.0)),
        sphere("ball", 0.1, (0.0, 1.0, 0.0)),
        cylinder("can", 0.1, 0.4, (0.0, 0.0, 1.0)),
        floor(height=-1.0),
    ]
)
BOX, BALL, CAN, FLOOR = range(4)


@pytest.mark.parametrize(
    ("obstacle", "point", "expected"),
    [
        (BOX, (1.5, 0.0, 0.0), 0.4),
        (BOX, (1.13, 0.24, 0.0), 0.05),  # off an edge: 3, 4, 5
        (BOX, (1.0, 0.0, 0.0), -0.1),  # inside: the nearest face
        (BALL, (0.0, 1.0, 0.5), 0.4),
        (BALL, (0.0, 1.05, 0.0), -0.05),
        (CAN, (0.3, 0.0, 1.0), 0.2),
        (CAN, (0.0, 0.0, 1.5), 0.3),
        (CAN, (0.13, 0.0, 1.24), 0.05),  # off the rim
        (CAN, (0.0, 0.0, 1.0), -0.1),
        (FLOOR, (5.0, 5.0, -0.7), 0.3),
        (FLOOR, (5.0, 5.0, -1.2), -0.2),
    ],
)
def test_the_signed_distance_is_the_one_known_by_hand(obstacle, point, expected):
    assert distance(WORLD, obstacle, np.array(point)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("obstacle", "point", "normal"),
    [
        (BOX, (1.5, 0.0, 0.0), (1.0, 0.0, 0.0)),
        (BOX, (1.0, -0.19, 0.0), (0.0, -1.0, 0.0)),  # inside, out through the nearest face
        (BALL, (0.0, 1.0, 0.5), (0.0, 0.0, 1.0)),
        (CAN, (0.0, -0.3, 1.0), (0.0, -1.0, 0.0)),
        (CAN, (0.0, 0.0, 0.5), (0.0, 0.0, -1.0)),
        (FLOOR, (2.0, 3.0, 4.0), (0.0, 0.0, 1.0)),
    ],
)
def test_the_normal_points_where_the_distance_grows(obstacle, point, normal):
    found = np.zeros(3)
    assert nearest_point(WORLD, obstacle, np.array(point), found) == distance(WORLD, obstacle, np.array(point))
    assert found == pytest.approx(normal)


def test_the_middle_of_a_sphere_has_a_unit_normal_too():
    found = np.zeros(3)
    nearest_point(WORLD, BALL, np.array([0.0, 1.0, 0.0]), found)
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_farther_is_true_only_of_what_is_farther():
    point = np.array([0.0, 1.0, 0.5])  # 0.4 m from the ball
    assert farther(WORLD, BALL, point, 0.39)
    assert not farther(WORLD, BALL, point, 0.41)
    assert not farther(WORLD, FLOOR, np.array([0.0, 0.0, 100.0]), 0.0)  # it has no end


def test_the_square_of_a_distance():
    assert square_distance(np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 7.0])) == pytest.approx(25.0)
