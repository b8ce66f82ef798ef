"""The links of an arm covered with spheres, the pairs of links to check, and where pairs are proved to be apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from telerobot_nodes.core.robot import LinkShape, RobotModel
from telerobot_nodes.cspace.covering.coverings import cover_links
from telerobot_nodes.cspace.covering.link_pairs import LinkPairs, link_pairs
from telerobot_nodes.cspace.covering.proved_boxes import Boxes, proved_boxes
from telerobot_nodes.cspace.covering.solids import CollisionSphere


@dataclass(frozen=True)
class Piece:
    """A shape of a URDF link or of a held thing (`part`), with its spheres in the frame of `link`'s joint."""

    link: int
    part: str
    name: str
    spheres: list[CollisionSphere]


@dataclass(frozen=True)
class CoveredLinks:
    """What is known of an arm's links before anything moves."""

    pieces: list[Piece]
    pairs: LinkPairs
    boxes: Boxes


def cover_shapes(robot: RobotModel, shapes: Sequence[LinkShape]) -> CoveredLinks:
    """Cover the `shapes` of the robot's links and compare the links with each other; takes seconds."""
    pairs = link_pairs(robot, shapes)
    rows = cover_links(robot, shapes, pairs.checked)
    pieces = [Piece(shape.link, shape.body, shape.name, spheres) for shape, spheres in rows]
    return CoveredLinks(pieces, pairs, proved_boxes(robot, rows, pairs.checked))
