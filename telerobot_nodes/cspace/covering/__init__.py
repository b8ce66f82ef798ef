"""Solids and the links of an arm as spheres that hold them; which links are checked against each other."""

from __future__ import annotations

from telerobot_nodes.cspace.covering.covered_links import Piece
from telerobot_nodes.cspace.covering.kept_coverings import covered_links
from telerobot_nodes.cspace.covering.link_pairs import LinkContacts, NamePair, link_pairs, name_pair
from telerobot_nodes.cspace.covering.proved_boxes import APART, Boxes
from telerobot_nodes.cspace.covering.shapes import arm_shapes
from telerobot_nodes.cspace.covering.solids import (
    THINNEST,
    CollisionSphere,
    bounding_sphere,
    box_points,
    cover,
    cover_capsule,
    cylinder_points,
    hull_points,
    oriented_box,
    protrusion,
    slabs,
)

__all__ = [
    "APART",
    "THINNEST",
    "Boxes",
    "CollisionSphere",
    "LinkContacts",
    "NamePair",
    "Piece",
    "arm_shapes",
    "bounding_sphere",
    "box_points",
    "cover",
    "cover_capsule",
    "covered_links",
    "cylinder_points",
    "hull_points",
    "link_pairs",
    "name_pair",
    "oriented_box",
    "protrusion",
    "slabs",
]
