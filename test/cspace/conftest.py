"""Arms, their balls and worlds shared by the tests of the c-space room."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.arm_geometry import arm_geometry
from telerobot_nodes.cspace.obstacles import box, cylinder, floor, sphere

_made = {}


def geometry_of(name):
    """Balls of a robot, made once per process."""
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
