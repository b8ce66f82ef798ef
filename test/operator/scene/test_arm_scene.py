"""What the scene of an arm computes before it draws."""

import numpy as np

from telerobot_nodes.operator.scene.arm_scene import force_in_world
from telerobot_nodes.operator.view import SceneView


def test_the_force_is_turned_into_world_with_the_tool():
    half_turn_about_x = np.array((0.3, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0))
    seen = SceneView(*[None] * 9, lead=0.0, plan_version=0, executed_seq=0)
    assert np.allclose(force_in_world(seen), 0.0)
    pressed = SceneView(
        robot=None,
        robot_stale=False,
        estimate=None,
        head=None,
        trial=None,
        tool_pose=half_turn_about_x,
        head_pose=None,
        target_pose=None,
        wrench=np.array((1.0, 2.0, 8.0, 0.0, 0.0, 0.0)),
        lead=0.0,
        plan_version=0,
        executed_seq=0,
    )
    assert np.allclose(force_in_world(pressed), (1.0, -2.0, -8.0))
