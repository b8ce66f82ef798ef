"""The planner plugin `moveit`: MoveIt through moveit_py where installed, else an error that names what is missing.

Start, goal and obstacles go to MoveIt; its path is proved here like any other. One MoveItPy per process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
from functools import cache
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Obstacle, Voxels
from telerobot_nodes.cspace.search import Outcome, Plan, Planner
from telerobot_nodes.cspace.service import PlannerPlugin, proved
from telerobot_nodes.errors import NotInstalledError

GROUP_VARIABLE = "TELEROBOT_MOVEIT_GROUP"  # names the planning group; default: manipulator
CONFIG_VARIABLE = "TELEROBOT_MOVEIT_CONFIG"  # parameter file of MoveIt for this robot
MODULES = ("moveit.planning", "moveit.core.robot_state", "moveit_msgs.msg")
HALF_SPACE = 10.0  # [m] edge of the box that stands for one


def moveit_plugins() -> dict[str, PlannerPlugin]:
    """The plugin `moveit`; whether MoveIt is installed is checked at each request."""
    return {"moveit": plan_moveit}


def missing() -> str:
    """What of MoveIt is not installed or not configured; empty if none."""
    absent = [name for name in MODULES if not _importable(name)]
    if absent:
        return f"Python module {', '.join(absent)} not importable; install ros-jazzy-moveit-py and source the ROS host"
    if not os.environ.get(CONFIG_VARIABLE):
        return f"{CONFIG_VARIABLE} is not set; it names MoveIt's parameter file of this robot"
    return ""


def plan_moveit(planner: Planner, start: FloatArray, goal: FloatArray, budget: float) -> Plan:
    """Plan with MoveIt and prove its path. Raises NotInstalledError naming what is missing."""
    trouble = missing()
    if trouble:
        raise NotInstalledError(f"back_end moveit: {trouble}")
    collision = planner.ends_collide(start, goal)
    if collision is not None:
        return collision
    path = _moveit_path(planner, start, goal, budget)
    if not len(path):
        return Plan(Outcome.BUDGET_SPENT, path, reason=f"MoveIt found nothing in {budget:g} s")
    return proved(planner, path, "moveit")


def _moveit_path(planner: Planner, start: FloatArray, goal: FloatArray, budget: float) -> FloatArray:
    from moveit.core.robot_state import RobotState
    from moveit.planning import PlanRequestParameters

    moveit = _moveit()
    component = moveit.get_planning_component(os.environ.get(GROUP_VARIABLE, "manipulator"))
    names = planner.geometry.robot.joint_names
    _put_obstacles(moveit, planner.obstacles)
    for q, put in ((start, component.set_start_state), (goal, component.set_goal_state)):
        state = RobotState(moveit.get_robot_model())
        state.joint_positions = dict(zip(names, q.tolist(), strict=True))
        state.update()
        put(robot_state=state)
    parameters = PlanRequestParameters(moveit, "")
    parameters.planning_time = budget
    result = component.plan(single_plan_parameters=parameters)
    if not result:
        return np.empty((0, start.size))
    trajectory = result.trajectory.get_robot_trajectory_msg().joint_trajectory
    order = [list(trajectory.joint_names).index(name) for name in names]
    path = np.array([[point.positions[i] for i in order] for point in trajectory.points])
    path[0], path[-1] = start, goal
    return path


@cache
def _moveit() -> Any:
    import rclpy
    from moveit.planning import MoveItPy

    if not rclpy.ok():
        rclpy.init()
    return MoveItPy(node_name="cspace_planner_moveit", launch_params_filepaths=[os.environ[CONFIG_VARIABLE]])


def _put_obstacles(moveit: Any, obstacles: list[Obstacle]) -> None:
    from moveit_msgs.msg import CollisionObject

    with moveit.get_planning_scene_monitor().read_write() as scene:
        scene.remove_all_collision_objects()
        for obstacle in obstacles:
            scene.apply_collision_object(collision_object(obstacle, CollisionObject))
        scene.current_state.update()


def collision_object(obstacle: Obstacle, message: Any) -> Any:
    """moveit_msgs/CollisionObject (the class is given) of an obstacle; a half-space becomes a large box."""
    from shape_msgs.msg import SolidPrimitive

    from telerobot_nodes.nodes.messages import pose_to_message

    kinds = {"box": SolidPrimitive.BOX, "sphere": SolidPrimitive.SPHERE, "cylinder": SolidPrimitive.CYLINDER}
    pose = np.array(obstacle.pose)
    if isinstance(obstacle, Voxels):
        entry = message(id=obstacle.name, operation=message.ADD)
        entry.header.frame_id = "world"
        for place in obstacle.places:
            entry.primitives.append(SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(obstacle.size)))
            entry.primitive_poses.append(pose_to_message(np.concatenate([place, pose[3:]])))
        return entry
    if obstacle.kind == "half_space":
        kind, dimensions = SolidPrimitive.BOX, [HALF_SPACE] * 3
        pose[:3] -= 0.5 * HALF_SPACE * obstacle.T_world_obstacle.rotation[:, 2]
    else:
        kind = kinds[obstacle.kind]
        dimensions = list(obstacle.size[::-1] if obstacle.kind == "cylinder" else obstacle.size)
    entry = message(id=obstacle.name, operation=message.ADD)
    entry.header.frame_id = "world"
    entry.primitives.append(SolidPrimitive(type=kind, dimensions=dimensions))
    entry.primitive_poses.append(pose_to_message(pose))
    return entry


def _importable(name: str) -> bool:
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.util.find_spec(name) is not None
    return False
