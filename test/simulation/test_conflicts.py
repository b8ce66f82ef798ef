"""Predicted conflicts of one point."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.simulation.conflicts import collision_conflict, limit_conflict, speed_conflict

ROBOT = load_robot("arm")


@pytest.mark.parametrize(("end", "offset"), [("upper", -0.01), ("lower", 0.01)])
def test_the_joint_nearest_to_its_limit_is_named(end, offset):
    q = np.array(ROBOT.home)
    q[2] = getattr(ROBOT.limits, end)[2] + offset
    found = limit_conflict(ROBOT, q, 0.05)
    assert (found.kind, found.subject) == (ConflictKind.LIMIT, f"{ROBOT.joint_names[2]} {end} limit")
    assert limit_conflict(ROBOT, q, 0.009) is None


def test_a_joint_that_is_too_slow_is_named_with_its_factor():
    q = np.array(ROBOT.home)
    q[1] += 3.0 * ROBOT.limits.velocity[1] * 0.1
    found = speed_conflict(ROBOT, ROBOT.home, q, 0.1)
    assert (found.kind, found.subject) == (ConflictKind.SPEED, ROBOT.joint_names[1])
    assert "3.0 times" in found.text
    assert speed_conflict(ROBOT, ROBOT.home, q, 0.31) is None
    assert speed_conflict(ROBOT, ROBOT.home, q, 0.0) is None


@pytest.mark.parametrize(
    ("depth", "text"), [(0.004, "collision: arm and wall, 4 mm"), (0.0, "collision: arm and wall")]
)
def test_a_collision_names_the_bodies_and_the_depth_if_known(depth, text):
    found = collision_conflict("arm and wall", depth)
    assert (found.kind, found.subject, found.text) == (ConflictKind.COLLISION, "arm and wall", text)
