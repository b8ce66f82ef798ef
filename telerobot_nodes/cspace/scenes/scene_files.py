"""MoveIt's messages as YAML files: PlanningScene and MotionPlanRequest, with the field names of the messages.

Points are `[x, y, z]` or `{x, y, z}`, orientations `[x, y, z, w]` or `{x, y, z, w}`, kinds of shapes and operations
words or the messages' numbers. A key that the message does not have is refused with its line; fields whose type is
`Ignored` change nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NewType

from telerobot_nodes.core.config import Rules, Spot, build, read_yaml
from telerobot_nodes.errors import InvalidValueError

Text = NewType("Text", str)  # may be empty
Ignored = NewType("Ignored", object)
ShapeKind = NewType("ShapeKind", int)
Operation = NewType("Operation", int)
NOTHING = Ignored(None)
EMPTY = Text("")
ADDED = Operation(0)

SHAPES = {"box": 1, "sphere": 2, "cylinder": 3, "cone": 4, "prism": 5}
OPERATIONS = {"add": 0, "remove": 1, "append": 2, "move": 3}


@dataclass(frozen=True)
class Point:
    """geometry_msgs/Point and Vector3 [m]."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


@dataclass(frozen=True)
class Quaternion:
    """geometry_msgs/Quaternion."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float = 1.0


@dataclass(frozen=True)
class Pose:
    """geometry_msgs/Pose."""

    position: Point = field(default_factory=Point)
    orientation: Quaternion = field(default_factory=Quaternion)


@dataclass(frozen=True)
class Transform:
    """geometry_msgs/Transform."""

    translation: Point = field(default_factory=Point)
    rotation: Quaternion = field(default_factory=Quaternion)


@dataclass(frozen=True)
class Header:
    """std_msgs/Header."""

    frame_id: Text = EMPTY
    stamp: Ignored = NOTHING
    seq: Ignored = NOTHING


@dataclass(frozen=True)
class TransformStamped:
    """geometry_msgs/TransformStamped."""

    child_frame_id: str
    header: Header = field(default_factory=Header)
    transform: Transform = field(default_factory=Transform)


@dataclass(frozen=True)
class Primitive:
    """shape_msgs/SolidPrimitive."""

    type: ShapeKind
    dimensions: tuple[float, ...]
    polygon: Ignored = NOTHING


@dataclass(frozen=True)
class Mesh:
    """shape_msgs/Mesh; the hull of its corners counts, whatever its triangles are."""

    vertices: tuple[Point, ...]
    triangles: Ignored = NOTHING


@dataclass(frozen=True)
class Plane:
    """shape_msgs/Plane."""

    coef: tuple[float, ...]


@dataclass(frozen=True)
class CollisionObject:
    """moveit_msgs/CollisionObject."""

    id: Text = EMPTY
    header: Header = field(default_factory=Header)
    pose: Pose = field(default_factory=Pose)
    type: Ignored = NOTHING
    primitives: tuple[Primitive, ...] = ()
    primitive_poses: tuple[Pose, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    mesh_poses: tuple[Pose, ...] = ()
    planes: tuple[Plane, ...] = ()
    plane_poses: tuple[Pose, ...] = ()
    subframe_names: Ignored = NOTHING
    subframe_poses: Ignored = NOTHING
    operation: Operation = ADDED


@dataclass(frozen=True)
class AttachedCollisionObject:
    """moveit_msgs/AttachedCollisionObject."""

    object: CollisionObject
    link_name: Text = EMPTY
    touch_links: tuple[str, ...] = ()
    detach_posture: Ignored = NOTHING
    weight: Ignored = NOTHING


@dataclass(frozen=True)
class JointState:
    """sensor_msgs/JointState."""

    name: tuple[str, ...] = ()
    position: tuple[float, ...] = ()
    header: Ignored = NOTHING
    velocity: Ignored = NOTHING
    effort: Ignored = NOTHING


@dataclass(frozen=True)
class MultiDofJointState:
    """sensor_msgs/MultiDOFJointState."""

    joint_names: tuple[str, ...] = ()
    transforms: tuple[Transform, ...] = ()
    header: Ignored = NOTHING
    twist: Ignored = NOTHING
    wrench: Ignored = NOTHING


@dataclass(frozen=True)
class RobotState:
    """moveit_msgs/RobotState."""

    joint_state: JointState = field(default_factory=JointState)
    multi_dof_joint_state: MultiDofJointState = field(default_factory=MultiDofJointState)
    attached_collision_objects: tuple[AttachedCollisionObject, ...] = ()
    is_diff: bool = False


@dataclass(frozen=True)
class MatrixRow:
    """moveit_msgs/AllowedCollisionEntry."""

    enabled: tuple[bool, ...] = ()


@dataclass(frozen=True)
class AllowedCollisionMatrix:
    """moveit_msgs/AllowedCollisionMatrix."""

    entry_names: tuple[str, ...] = ()
    entry_values: tuple[MatrixRow, ...] = ()
    default_entry_names: tuple[str, ...] = ()
    default_entry_values: tuple[bool, ...] = ()


@dataclass(frozen=True)
class LinkPadding:
    """moveit_msgs/LinkPadding."""

    link_name: str
    padding: float


@dataclass(frozen=True)
class LinkScale:
    """moveit_msgs/LinkScale."""

    link_name: str
    scale: float


@dataclass(frozen=True)
class Octomap:
    """octomap_msgs/Octomap."""

    header: Header = field(default_factory=Header)
    binary: bool = False
    id: Text = EMPTY
    resolution: float = 0.0
    data: tuple[int, ...] = ()


@dataclass(frozen=True)
class OctomapWithPose:
    """octomap_msgs/OctomapWithPose."""

    header: Header = field(default_factory=Header)
    origin: Pose = field(default_factory=Pose)
    octomap: Octomap = field(default_factory=Octomap)


@dataclass(frozen=True)
class SceneWorld:
    """moveit_msgs/PlanningSceneWorld."""

    collision_objects: tuple[CollisionObject, ...] = ()
    octomap: OctomapWithPose = field(default_factory=OctomapWithPose)


@dataclass(frozen=True)
class PlanningScene:
    """moveit_msgs/PlanningScene."""

    name: Ignored = NOTHING
    robot_state: RobotState = field(default_factory=RobotState)
    robot_model_name: Text = EMPTY
    fixed_frame_transforms: tuple[TransformStamped, ...] = ()
    allowed_collision_matrix: AllowedCollisionMatrix = field(default_factory=AllowedCollisionMatrix)
    link_padding: tuple[LinkPadding, ...] = ()
    link_scale: tuple[LinkScale, ...] = ()
    object_colors: Ignored = NOTHING
    world: SceneWorld = field(default_factory=SceneWorld)
    is_diff: bool = False


@dataclass(frozen=True)
class JointConstraint:
    """moveit_msgs/JointConstraint."""

    joint_name: str
    position: float
    tolerance_above: float = 0.0
    tolerance_below: float = 0.0
    weight: Ignored = NOTHING


@dataclass(frozen=True)
class BoundingVolume:
    """moveit_msgs/BoundingVolume."""

    primitives: tuple[Primitive, ...] = ()
    primitive_poses: tuple[Pose, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    mesh_poses: tuple[Pose, ...] = ()


@dataclass(frozen=True)
class PositionConstraint:
    """moveit_msgs/PositionConstraint."""

    header: Header = field(default_factory=Header)
    link_name: Text = EMPTY
    target_point_offset: Point = field(default_factory=Point)
    constraint_region: BoundingVolume = field(default_factory=BoundingVolume)
    weight: Ignored = NOTHING


@dataclass(frozen=True)
class OrientationConstraint:
    """moveit_msgs/OrientationConstraint."""

    header: Header = field(default_factory=Header)
    orientation: Quaternion = field(default_factory=Quaternion)
    link_name: Text = EMPTY
    absolute_x_axis_tolerance: float = 0.0
    absolute_y_axis_tolerance: float = 0.0
    absolute_z_axis_tolerance: float = 0.0
    parameterization: Ignored = NOTHING
    weight: Ignored = NOTHING


@dataclass(frozen=True)
class Constraints:
    """moveit_msgs/Constraints."""

    name: Ignored = NOTHING
    joint_constraints: tuple[JointConstraint, ...] = ()
    position_constraints: tuple[PositionConstraint, ...] = ()
    orientation_constraints: tuple[OrientationConstraint, ...] = ()
    visibility_constraints: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class TrajectoryConstraints:
    """moveit_msgs/TrajectoryConstraints."""

    constraints: tuple[Constraints, ...] = ()


@dataclass(frozen=True)
class MotionPlanRequest:
    """moveit_msgs/MotionPlanRequest."""

    workspace_parameters: Ignored = NOTHING
    start_state: RobotState = field(default_factory=RobotState)
    goal_constraints: tuple[Constraints, ...] = ()
    path_constraints: Constraints = field(default_factory=Constraints)
    trajectory_constraints: TrajectoryConstraints = field(default_factory=TrajectoryConstraints)
    reference_trajectories: Ignored = NOTHING
    pipeline_id: Ignored = NOTHING
    planner_id: Ignored = NOTHING
    group_name: Text = EMPTY
    num_planning_attempts: Ignored = NOTHING
    allowed_planning_time: float = 0.0
    max_velocity_scaling_factor: float = 0.0
    max_acceleration_scaling_factor: float = 0.0
    cartesian_speed_end_effector_link: Ignored = NOTHING
    cartesian_speed_limited_link: Ignored = NOTHING
    max_cartesian_speed: Ignored = NOTHING


def read_scene(file: str | Path) -> PlanningScene:
    """The PlanningScene of a YAML file; raises ParameterFileError naming file, line and key."""
    return build(PlanningScene, read_yaml(Path(file)), Spot(str(file)), RULES)


def read_request(file: str | Path) -> MotionPlanRequest:
    """The MotionPlanRequest of a YAML file; raises ParameterFileError naming file, line and key."""
    return build(MotionPlanRequest, read_yaml(Path(file)), Spot(str(file)), RULES)


def _numbers(value: Any, names: str, kind: Callable[..., Any]) -> Any:
    """A point or orientation, from a list of all its numbers or from a mapping of some."""
    given = value
    if isinstance(value, (list, tuple)) and len(value) == len(names):
        given = dict(zip(names, value, strict=True))
    if not isinstance(given, Mapping) or not set(given) <= set(names) or not all(map(_is_number, given.values())):
        raise InvalidValueError("value", value, f"allowed: finite numbers {', '.join(names)}")
    return kind(**{name: float(number) for name, number in given.items()})


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _word(value: Any, words: Mapping[str, int]) -> int:
    """The number of a word; numbers, and bytes as YAML may have them, stand for themselves."""
    if isinstance(value, str) and len(value) == 1 and value not in words:
        value = ord(value)
    number = words.get(value.lower(), -1) if isinstance(value, str) else value
    if isinstance(number, bool) or number not in words.values():
        raise InvalidValueError("value", value, f"allowed: {', '.join(f'{n} {word}' for word, n in words.items())}")
    return int(number)


def _text(value: Any) -> Text:
    if value is None:
        return Text("")
    if not isinstance(value, str):
        raise InvalidValueError("value", value, "allowed: a text")
    return Text(value)


RULES = Rules(
    converters={
        Point: lambda value: _numbers(value, "xyz", Point),
        Quaternion: lambda value: _numbers(value, "xyzw", Quaternion),
        Text: _text,
        Ignored: Ignored,
        ShapeKind: lambda value: ShapeKind(_word(value, SHAPES)),
        Operation: lambda value: Operation(_word(value, OPERATIONS)),
    }
)
