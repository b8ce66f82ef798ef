"""Solids, obstacles and the arm as collision spheres; distances and the force field [US5347459]."""

from __future__ import annotations

from telerobot_nodes.cspace.geometry.arm_geometry import ArmGeometry, arm_geometry
from telerobot_nodes.cspace.geometry.clearance import (
    bound_cell,
    clearance,
    least_clearance,
    nearest,
    probe,
    touches,
    touches_itself,
)
from telerobot_nodes.cspace.geometry.convex_pieces import Piece, held_pieces, pieces_of, stands_still
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
from telerobot_nodes.cspace.geometry.link_pairs import LinkContacts, NamePair, link_pairs, name_pair
from telerobot_nodes.cspace.geometry.link_shapes import LinkShape, link_shapes
from telerobot_nodes.cspace.geometry.obstacles import (
    BOX,
    CYLINDER,
    MOST_OBSTACLES,
    PART,
    SPHERE,
    Attachment,
    Obstacle,
    World,
    box,
    cylinder,
    floor,
    load_world,
    object_name,
    sphere,
    sphere_obstacles,
    world_of,
)
from telerobot_nodes.cspace.geometry.scene import Change, Scene, addition, hull, scene_of
from telerobot_nodes.cspace.geometry.self_check import SelfCheck, contact_requests
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
    "LinkContacts",
    "LinkPoses",
    "LinkShape",
    "NamePair",
    "Obstacle",
    "Piece",
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
    "contact_requests",
    "cylinder",
    "floor",
    "forward_kinematics",
    "held_pieces",
    "hull",
    "least_clearance",
    "lever",
    "link_pairs",
    "link_poses_of",
    "link_shapes",
    "load_world",
    "name_pair",
    "nearest",
    "object_name",
    "pieces_of",
    "place_spheres",
    "probe",
    "scene_of",
    "sphere",
    "sphere_centers",
    "sphere_motion_bounds",
    "sphere_obstacles",
    "square_distance",
    "stands_still",
    "step_twist",
    "touches",
    "touches_itself",
    "world_of",
]
