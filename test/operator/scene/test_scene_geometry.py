"""Surroundings for the display: the shapes of a MuJoCo model where they stand, with true sizes."""

import mujoco
import numpy as np
import pytest

from telerobot_nodes.operator.scene.scene_geometry import surroundings

SCENE = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="table" pos="1 2 3" euler="0 0 30">
    <geom type="box" size="0.3 0.2 0.1" rgba="1 0 0 1"/>
  </body>
  <body name="post" pos="-1 0 0"><geom type="cylinder" size="0.05 0.4" rgba="0 1 0 1"/></body>
  <body name="rail" pos="0 -1 0.5" euler="90 0 0"><geom type="capsule" size="0.02 0.3" rgba="0 0 1 1"/></body>
  <body name="ball" pos="0 0 1"><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size="0.1" rgba="1 1 0 1"/><geom type="sphere" pos="1 0 0" size="0.1" rgba="1 1 0 1"/></body>
  <body name="robot/link1" pos="9 9 9"><geom type="box" size="1 1 1" rgba="1 0 1 1"/></body>
</worldbody></mujoco>"""


C, S = np.cos(np.pi / 6), np.sin(np.pi / 6)  # of the table's turn about z


@pytest.fixture(scope="module")
def shapes():
    return {shape.colour: shape for shape in surroundings(mujoco.MjModel.from_xml_string(SCENE), "robot/")}


def bounds(shape):
    return np.stack((shape.vertices.min(axis=0), shape.vertices.max(axis=0)))


def volume(shape):
    a, b, c = (shape.vertices[shape.faces[:, k]].astype(float) for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize(
    ("colour", "centre", "half", "true_volume"),
    [
        ((255, 0, 0), (1, 2, 3), (0.3 * C + 0.2 * S, 0.3 * S + 0.2 * C, 0.1), 8 * 0.3 * 0.2 * 0.1),
        ((0, 255, 0), (-1, 0, 0), (0.05, 0.05, 0.4), np.pi * 0.05**2 * 0.8),
        ((0, 0, 255), (0, -1, 0.5), (0.02, 0.32, 0.02), np.pi * 0.02**2 * (0.6 + 4 / 3 * 0.02)),
    ],
)
def test_a_shape_stands_in_world_with_its_size_and_faces_outside(shapes, colour, centre, half, true_volume):
    shape = shapes[colour]
    expected = np.array([np.subtract(centre, half), np.add(centre, half)])
    assert bounds(shape) == pytest.approx(expected, abs=1e-3)
    assert volume(shape) == pytest.approx(true_volume, rel=0.02)  # round ones are inscribed
    assert shape.joint == 0


def test_a_turned_box_has_its_corners_where_they_belong(shapes):
    corner = np.array([1.0 + 0.3 * C - 0.2 * S, 2.0 + 0.3 * S + 0.2 * C, 3.1])
    assert np.linalg.norm(shapes[(255, 0, 0)].vertices - corner, axis=1).min() < 1e-6


def test_shapes_of_one_colour_are_one(shapes):
    both = shapes[(255, 255, 0)]
    assert bounds(both) == pytest.approx(np.array([[-0.1, -0.1, 0.9], [1.1, 0.1, 1.1]]), abs=1e-3)
    assert volume(both) == pytest.approx(2 * 4 / 3 * np.pi * 0.1**3, rel=0.02)


def test_the_floor_and_the_robot_itself_are_left_out(shapes):
    assert set(shapes) == {(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)}
