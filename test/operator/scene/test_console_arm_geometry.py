"""Shapes of a robot for the console."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import ModelError
from telerobot_nodes.operator.scene import Detail, load_shapes


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("name", ["arm", "panda", "ur5"])
@pytest.mark.lengthy
def test_every_moving_joint_of_a_known_robot_carries_a_shape(name, detail):
    robot = load_robot(name)
    shapes = load_shapes(robot, detail)
    assert {shape.joint for shape in shapes} >= set(range(1, robot.dof + 1))
    for shape in shapes:
        assert np.isfinite(shape.vertices).all()
        assert shape.faces.max() < len(shape.vertices)
        assert np.abs(shape.vertices).max() < 2.0  # metres, not millimetres


def test_a_robot_whose_mesh_cannot_be_read_is_refused_with_the_file_named(tmp_path):
    mesh = tmp_path / "arm.stl"
    mesh.write_bytes(b"not a mesh")
    urdf = tmp_path / "broken.urdf"
    urdf.write_text(
        f"""<robot name="broken"><link name="base"/><link name="tip">
        <visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
        <joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
    )
    with pytest.raises(ModelError, match=r"(broken\.urdf|arm\.stl)"):
        load_shapes(load_robot(str(urdf)), Detail.VISUAL)
