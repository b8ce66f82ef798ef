from __future__ import annotations

import pytest

from telerobot_nodes.core.robot import RobotModel, load_robot

ROBOTS = ("arm", "panda", "ur5")


@pytest.fixture(params=ROBOTS)
def robot(request) -> RobotModel:
    return load_robot(request.param)
