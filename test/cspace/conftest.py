"""Arms, their spheres and worlds shared by the tests of the c-space room."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import arm_geometry, box, cylinder, floor, sphere

PLANAR = """<robot name="two">
  <link name="base"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="10"/></joint>
  <link name="one"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.06 0.06"/></geometry></collision></link>
  <joint name="b" type="revolute"><origin xyz="0.5 0 0"/><parent link="one"/><child link="tool"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="10"/></joint>
  <link name="tool"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry></collision></link>
</robot>"""

_made = {}


def geometry_of(name):
    """Spheres of a robot, made once per process."""
    if name not in _made:
        _made[name] = arm_geometry(load_robot(name))
    return _made[name]


@pytest.fixture(scope="session", params=["arm", "panda"])
def geometry(request):
    """The 6-DOF arm, then the 7-DOF one."""
    return geometry_of(request.param)


@pytest.fixture(scope="session")
def panda():
    """The 7-DOF arm."""
    return geometry_of("panda")


@pytest.fixture(scope="session")
def arm():
    """The 6-DOF arm."""
    return geometry_of("arm")


@pytest.fixture(scope="session")
def obstacles():
    """One of each kind, turned."""
    turned = np.array([0.5, 0.3, 0.45, *(np.array([0.1, 0.4, 0.2, 0.8]) / np.linalg.norm([0.1, 0.4, 0.2, 0.8]))])
    return [
        floor(height=-0.05),
        box("table", (0.4, 0.8, 0.04), (0.7, 0.0, 0.3)),
        box("turned", (0.2, 0.1, 0.3), turned),
        cylinder("post", 0.05, 0.6, (0.4, -0.4, 0.5, 0.0, 0.3826834323650898, 0.0, 0.9238795325112867)),
        sphere("ball", 0.12, (-0.3, 0.4, 0.8)),
    ]


@pytest.fixture(scope="session")
def samples():
    """Configurations inside the limits: `samples(geometry, count, seed)`."""

    def draw(geometry, count, seed=0):
        limits = geometry.robot.limits
        return np.random.default_rng(seed).uniform(limits.lower, limits.upper, (count, limits.dof))

    return draw


@pytest.fixture(scope="session")
def planar(tmp_path_factory):
    """Two joints that turn about z, links of 0.5 and 0.4 m along x: small enough for complete answers."""
    file = tmp_path_factory.mktemp("urdf") / "two.urdf"
    file.write_text(PLANAR)
    return arm_geometry(load_robot(str(file)))
