"""A robot's own points: coal's distances to the true shapes decide."""

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes, load_robot
from telerobot_nodes.cspace.geometry import Attachment, box
from telerobot_nodes.cspace.scenes import RobotPoints

PADDING = 0.02


def true_distances(robot, q, points):
    """Distances (n,) [m] of points to the arm's shapes."""
    data = robot.new_data()
    pin.forwardKinematics(robot.model, data, q)
    solids = [
        (shape.solid, (pin.SE3.Identity() if shape.link == 0 else data.oMi[shape.link]) * T)
        for shape in link_shapes(robot)
        for T in shape.placements
    ]
    placed, dot = [(solid, coal.Transform3s(T.rotation, T.translation)) for solid, T in solids], coal.Sphere(1e-9)

    def gap(solid, T, point):
        at = coal.Transform3s(np.eye(3), point)
        return coal.distance(solid, T, dot, at, coal.DistanceRequest(), coal.DistanceResult())

    return np.array([min(gap(solid, T, point) for solid, T in placed) for point in points])


@pytest.mark.parametrize("name", ["arm", "panda"])
def test_what_is_nearer_than_the_padding_is_the_robot_s(name):
    robot = load_robot(name)
    q = np.array(robot.home) + 0.1
    data = robot.new_data()
    pin.forwardKinematics(robot.model, data, q)
    middles = np.array([T.translation for T in data.oMi])
    rng = np.random.default_rng(0)
    points = middles[rng.integers(0, len(middles), 400)] + rng.normal(0.0, 0.08, (400, 3))
    shapes, distances = RobotPoints(robot), true_distances(robot, q, points)
    own = shapes.own(points, q, PADDING)
    assert own[distances <= PADDING - 1e-4].all()
    assert not own[distances > 2.5 * PADDING].any()  # off a corner, its moved faces reach farther
    assert shapes.near(points, q, PADDING)[own].all()
    assert not shapes.near(points + 5.0, q, PADDING).any()


def test_what_the_tool_holds_is_the_robot_s_too():
    robot = load_robot("arm")
    q = np.array(robot.home)
    held = Attachment(box("part", (0.04, 0.04, 0.4), (0.0, 0.0, 0.2)))
    end = robot.forward(q).act(np.array([0.0, 0.0, 0.38]))[None]
    assert not RobotPoints(robot).own(end, q, PADDING).any()
    assert RobotPoints(robot, [held]).own(end, q, PADDING).all()
