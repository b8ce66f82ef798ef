"""Solids, obstacles and the arm as collision spheres; distances and the force field [US5347459]."""

from __future__ import annotations

from telerobot_nodes.cspace.geometry.arm_geometry import ArmGeometry, Attachment, arm_geometry
from telerobot_nodes.cspace.geometry.clearance import (
    bound_cell,
    clearance,
    least_clearance,
    nearest,
    probe,
    touches,
    touches_itself,
)
from telerobot_nodes.cspace.geometry.distances import square_distance
from telerobot_nodes.cspace.geometry.force_field import FieldSettings, ForceField, step_twist
from telerobot_nodes.cspace.geometry.forward_kinematics import (
    Arm,
    IntArray,
    LinkPoses,
    bound_links,
    chords,
    forward_kinematics,
    lever,
    link_poses_of,
    place_spheres,
    sphere_centers,
    sphere_motion_bounds,
)
from telerobot_nodes.cspace.geometry.obstacles import (
    BOX,
    CYLINDER,
    MOST_OBSTACLES,
    SPHERE,
    Obstacle,
    World,
    box,
    cylinder,
    floor,
    load_world,
    sphere,
    sphere_obstacles,
    world_of,
)
from telerobot_nodes.cspace.geometry.scene import PART, Change, Scene, addition, hull, scene_of
from telerobot_nodes.cspace.geometry.self_check import SelfCheck
from telerobot_nodes.cspace.geometry.shapes import arm_shapes
from telerobot_nodes.cspace.geometry.solids import CollisionSphere, bounding_sphere, box_points

__all__ = [
    "BOX",
    "CYLINDER",
    "MOST_OBSTACLES",
    "PART",
    "SPHERE",
    "Arm",
    "ArmGeometry",
    "Attachment",
    "Change",
    "CollisionSphere",
    "FieldSettings",
    "ForceField",
    "IntArray",
    "LinkPoses",
    "Obstacle",
    "Scene",
    "SelfCheck",
    "World",
    "addition",
    "arm_geometry",
    "arm_shapes",
    "bound_cell",
    "bound_links",
    "bounding_sphere",
    "box",
    "box_points",
    "chords",
    "clearance",
    "cylinder",
    "floor",
    "forward_kinematics",
    "hull",
    "least_clearance",
    "lever",
    "link_poses_of",
    "load_world",
    "nearest",
    "place_spheres",
    "probe",
    "scene_of",
    "sphere",
    "sphere_centers",
    "sphere_motion_bounds",
    "sphere_obstacles",
    "square_distance",
    "step_twist",
    "touches",
    "touches_itself",
    "world_of",
]
