"""MoveIt's motion plan requests: start state, goals of one arm, to requests of ours.

A goal is given by every joint of the arm, or by position and orientation of a link that does not move against the tool.
What cannot be planned as it is meant is refused by name.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray, finite, pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.covering import NamePair
from telerobot_nodes.cspace.geometry import Scene
from telerobot_nodes.cspace.scenes.frames import Frames
from telerobot_nodes.cspace.scenes.planning_scene import allowed_contacts, attached_after, scene_after
from telerobot_nodes.cspace.scenes.scene_files import PlanningScene, read_request, read_scene
from telerobot_nodes.cspace.service import Goal, PlanAnswer, PlanningService, PlanRequest
from telerobot_nodes.errors import InvalidValueError, ParameterFileError

ARM = "arm"
ROUNDED = 1e-6  # [rad] that a file's joints may lie outside the limits, as numbers are rounded
BUDGET = 2.0  # [s] for requests that give none
LONGEST, SHORTEST = 60.0, 1e-3  # [s]


@dataclass(frozen=True)
class PlanningProblem:
    """A scene, and requests of which any that is answered with a path is enough."""

    scene: Scene
    requests: tuple[PlanRequest, ...]

    def with_options(
        self, back_end: str, budget: float | None = None, speed: float | None = None, display: bool = False
    ) -> PlanningProblem:
        """The problem for another planner, with another time [s] for all requests or share of the joint limits.

        `display`: whether data for displays is wanted.
        """
        count = len(self.requests)
        return replace(
            self,
            requests=tuple(
                replace(
                    request,
                    back_end=back_end,
                    budget=request.budget if budget is None else budget / count,
                    speed=request.speed if speed is None else speed,
                    display=display,
                )
                for request in self.requests
            ),
        )

    def solve(self, service: PlanningService) -> PlanAnswer:
        """The first path; without one the last reason. Raises TelerobotError on an invalid request."""
        service.set_scene(self.scene)
        for request in self.requests:
            answer = service.plan(request)
            if answer.found:
                break
        return answer


def load_problem(robot: RobotModel, request: Path, scene: Path | None = None) -> PlanningProblem:
    """The problem of two YAML files; raises ParameterFileError naming file and key."""
    read = read_scene(scene) if scene else PlanningScene()
    asked = read_request(request)
    try:
        problem = _Problem(robot, read, asked.start_state)
    except InvalidValueError as error:
        raise ParameterFileError(str(scene or request), 0, error.field, f"{error.value!r}: {error.allowed}") from None
    try:
        return problem.with_request(asked)
    except InvalidValueError as error:
        raise ParameterFileError(str(request), 0, error.field, f"{error.value!r}: {error.allowed}") from None


def planning_problem(robot: RobotModel, scene: Any, request: Any) -> PlanningProblem:
    """The problem of a PlanningScene and a MotionPlanRequest, messages or files; raises InvalidValueError."""
    return _Problem(robot, scene, request.start_state).with_request(request)


@dataclass(frozen=True)
class LoadedScene:
    """A scene, the contacts it allows, and the state of the robot in it."""

    scene: Scene
    allowed: frozenset[NamePair]
    fingers: Mapping[str, float]  # [rad], [m]
    start: FloatArray | None  # (n,) [rad]; None: not all joints of the arm are given


def load_scene(robot: RobotModel, file: Path) -> LoadedScene:
    """The scene of a PlanningScene file; raises ParameterFileError naming file and key."""
    scene = read_scene(file)
    try:
        problem = _Problem(robot, scene, None)
    except InvalidValueError as error:
        raise ParameterFileError(str(file), 0, error.field, f"{error.value!r}: {error.allowed}") from None
    return LoadedScene(problem.scene, problem.allowed, fingers_of(robot, problem.joints), problem.start)


def joints_of(state: Any) -> dict[str, float]:
    """Joints [rad], [m] by name of a RobotState; raises InvalidValueError."""
    names, values = list(state.joint_state.name), list(state.joint_state.position)
    if len(names) != len(values):
        raise InvalidValueError("joint_state.position (length)", len(values), f"allowed: {len(names)}, as names")
    for entry in state.multi_dof_joint_state.transforms:
        move, turn = entry.translation, entry.rotation
        pose = [move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w]
        if not np.allclose(pose, (0, 0, 0, 0, 0, 0, 1)):
            raise InvalidValueError("multi_dof_joint_state.transforms", pose, "allowed: a base at the origin")
    return {
        name: finite(float(value), f"joint_state.position {name}") for name, value in zip(names, values, strict=True)
    }


class _Problem:
    """A scene with the state of its robot, and the requests in it."""

    def __init__(self, robot: RobotModel, message: Any, start: Any) -> None:
        self._robot = robot
        self.joints = joints_of(message.robot_state)
        if start is not None:
            self.joints |= joints_of(start)
        self.start = self._arm_joints() if set(robot.joint_names) <= set(self.joints) else None
        self.frames = Frames(robot, self.start)
        self.scene = scene_after(message, Scene(), self.frames, ARM)
        if start is not None:
            self.scene = attached_after(start, self.scene, self.frames, ARM)
        links = {shape.body for shape in link_shapes(robot)}
        self.allowed = allowed_contacts(message.allowed_collision_matrix, links | set(self.scene.entries))

    def _arm_joints(self) -> FloatArray:
        missing = [name for name in self._robot.joint_names if name not in self.joints]
        if missing:
            raise InvalidValueError(
                "start_state.joint_state.name", list(self.joints), f"allowed: with {', '.join(missing)}"
            )
        q = np.array([self.joints[name] for name in self._robot.joint_names])
        return _inside(self._robot, q, "start_state.joint_state.position")

    def with_request(self, request: Any) -> PlanningProblem:
        """The problem of a MotionPlanRequest; raises InvalidValueError."""
        _refuse_unkept(request)
        self._check_group(request.group_name)
        start, constraints = self._arm_joints(), list(request.goal_constraints)
        if not constraints:
            raise InvalidValueError("goal_constraints (number)", 0, "allowed: 1 or more")
        time = float(np.clip(request.allowed_planning_time or BUDGET, SHORTEST, LONGEST)) / len(constraints)
        speed = request.max_velocity_scaling_factor or 1.0
        fingers = fingers_of(self._robot, self.joints)
        goals = [self._goal(start, entry, f"goal_constraints[{i}]") for i, entry in enumerate(constraints)]
        return PlanningProblem(
            self.scene,
            tuple(
                PlanRequest((goal,), budget=time, speed=speed, allowed=self.allowed, fingers=fingers) for goal in goals
            ),
        )

    def _check_group(self, name: str) -> None:
        """A group that the SRDF knows must be the arm's joints."""
        group = self._robot.srdf.groups.get(name) if self._robot.srdf is not None else None
        joints = set(self._robot.joint_names)
        if group is not None and _moving(self._robot, group) != joints:
            raise InvalidValueError("group_name", name, f"allowed: a group of the joints {', '.join(sorted(joints))}")

    def _goal(self, start: FloatArray, entry: Any, field: str) -> Goal:
        counts = [len(getattr(entry, f"{kind}_constraints")) for kind in ("joint", "position", "orientation")]
        if len(entry.visibility_constraints):
            raise InvalidValueError(f"{field}.visibility_constraints", "some", "allowed: none")
        if counts[0] and not any(counts[1:]):
            return Goal(ARM, start, joints=self._joint_goal(entry.joint_constraints, field))
        if counts == [0, 1, 1]:
            return self._pose_goal(start, entry.position_constraints[0], entry.orientation_constraints[0], field)
        allowed = "allowed: joint_constraints alone, or one position and one orientation constraint"
        raise InvalidValueError(field, dict(zip(("joint", "position", "orientation"), counts, strict=True)), allowed)

    def _joint_goal(self, constraints: Any, field: str) -> FloatArray:
        given = {entry.joint_name: float(entry.position) for entry in constraints}
        missing = [name for name in self._robot.joint_names if name not in given]
        if missing or len(given) < len(constraints):
            problem = f"also {', '.join(missing)}" if missing else "each joint once"
            raise InvalidValueError(f"{field}.joint_constraints", list(given), f"allowed: {problem}")
        q = np.array([given[name] for name in self._robot.joint_names])
        return _inside(self._robot, q, f"{field}.joint_constraints")

    def _pose_goal(self, start: FloatArray, place: Any, turn: Any, field: str) -> Goal:
        """The middle of the position's region is the goal."""
        if place.link_name != turn.link_name:
            names = [place.link_name, turn.link_name]
            raise InvalidValueError(f"{field}: link_name", names, "allowed: position and orientation of one link")
        T_tool_link = self.frames.fixed_to_tool(place.link_name, f"{field}.position_constraints[0].link_name")
        region, offset = place.constraint_region, place.target_point_offset
        if len(region.primitives) != 1 or len(region.primitive_poses) != 1 or len(region.meshes):
            count = len(region.primitives) + len(region.meshes)
            raise InvalidValueError(
                f"{field}: constraint_region (number)", count, "allowed: one primitive and its pose"
            )
        middle, w = region.primitive_poses[0].position, turn.orientation
        where = f"{field}.orientation_constraints[0]"
        T_turned = se3_from_pose([0.0, 0.0, 0.0, w.x, w.y, w.z, w.w], where)
        R = (self.frames.pose(turn.header.frame_id, f"{where}.frame_id") * T_turned).rotation
        T_region = self.frames.pose(place.header.frame_id, f"{field}.position_constraints[0].frame_id")
        point = T_region.act(np.array([middle.x, middle.y, middle.z]))
        T_world_link = pin.SE3(R, point - R @ np.array([offset.x, offset.y, offset.z]))
        tolerance = np.array([getattr(turn, f"absolute_{axis}_axis_tolerance") for axis in "xyz"])
        tool = pose_from_se3(T_world_link * T_tool_link.inverse())
        return Goal(ARM, start, pose=tool, tolerance=_about_tool(np.minimum(tolerance, math.pi), T_tool_link))


def _about_tool(tolerance: FloatArray, T_tool_link: pin.SE3) -> FloatArray:
    """Tolerances about the axes of the tool of those about a link's: along shared axes, else the least."""
    share = np.abs(T_tool_link.rotation)
    if np.allclose(share, np.round(share), atol=1e-6):
        return np.asarray(np.round(share) @ tolerance)
    return np.full(3, float(tolerance.min()))


def _moving(robot: RobotModel, joints: tuple[str, ...]) -> set[str]:
    """Those of the joints that move."""
    kinds = {joint.get("name", ""): joint.get("type") for joint in ET.fromstring(robot.urdf).findall("joint")}
    return {name for name in joints if kinds[name] != "fixed"}


def fingers_of(robot: RobotModel, joints: Mapping[str, float]) -> dict[str, float]:
    """The places [rad], [m] of the URDF's moving joints that are not the arm's; names of other robots are left out."""
    moving = _moving(robot, tuple(joint.get("name", "") for joint in ET.fromstring(robot.urdf).findall("joint")))
    return {name: value for name, value in joints.items() if name in moving - set(robot.joint_names)}


def _inside(robot: RobotModel, q: FloatArray, field: str) -> FloatArray:
    """The joints inside the limits, put there where a file's rounding left them outside; raises InvalidValueError."""
    limits = robot.limits
    near = np.clip(q, limits.lower, limits.upper)
    return limits.check_position(near if np.abs(q - near).max() <= ROUNDED else q, field)


def _refuse_unkept(request: Any) -> None:
    """Raise InvalidValueError for constraints along the path, which are not planned."""
    rows = [("path_constraints", request.path_constraints)]
    rows += [(f"trajectory_constraints[{i}]", c) for i, c in enumerate(request.trajectory_constraints.constraints)]
    for field, entry in rows:
        for kind in ("joint", "position", "orientation", "visibility"):
            count = len(getattr(entry, f"{kind}_constraints"))
            if count:
                raise InvalidValueError(f"{field}.{kind}_constraints (number)", count, "allowed: none; not planned")
