"""The convex pieces of an arm and of what it holds as arrays for compiled code, derived from the robot's description.

Frames are those of Pinocchio's model, pieces those of `convex_pieces`; the planner's spheres are not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.covering import covered_links, name_pair
from telerobot_nodes.cspace.geometry import ArmGeometry
from telerobot_nodes.cspace.proof.convex_pieces import Piece, held_pieces, is_round_about, pieces_of

KEPT = 8  # arms whose pieces are kept


class PieceArrays(NamedTuple):
    """n joints in series, and the m pieces of the links 0 .. n that they move, in the order of the links.

    A piece is the hull of its corners, grown by a radius.
    """

    rotation: FloatArray  # (n, 3, 3) joint i in joint i - 1 at zero
    offset: FloatArray  # (n, 3) [m]
    turn: FloatArray  # (n, 3) unit vector about which a joint turns, in its frame; 0: it slides
    slide: FloatArray  # (n, 3) unit vector along which it slides; 0: it turns
    turns: IntArray  # (n,) 1: it turns
    link_first: IntArray  # (n + 2,) pieces of link k: link_first[k] .. link_first[k + 1]
    link_middle: FloatArray  # (n + 1, 3) [m] of a sphere around the pieces of a link, in its frame
    link_reach: FloatArray  # (n + 1,) [m] its radius
    link: IntArray  # (m,)
    middle: FloatArray  # (m, 3) [m] of a sphere around the corners of a piece, in the frame of its link
    reach: FloatArray  # (m,) [m] its radius
    radius: FloatArray  # (m,) [m] of the piece
    joints: IntArray  # (m,) that move it: as many as its link, one less where the last one only spins it; 0: none
    corner: FloatArray  # (k, 3) [m] in the frame of the link
    corner_first: IntArray  # (m + 1,) corners of piece i: corner_first[i] .. corner_first[i + 1]
    pair: IntArray  # (p, 2) pieces, that of the lower link first, that must not touch
    pair_first: IntArray  # (g + 1,) pairs of the same two links follow each other


@dataclass(frozen=True)
class ArmPieces:
    """The arrays, and the URDF link or held thing that each piece belongs to."""

    arrays: PieceArrays
    parts: tuple[str, ...]  # (m,)


_KEPT: list[tuple[ArmGeometry, ArmPieces]] = []  # of the same object: what follows from it alone


def arm_pieces(geometry: ArmGeometry) -> ArmPieces:
    """The pieces of an arm; those of the last few are kept.

    Of `geometry` only the robot, what it holds, its known fingers and its allowed contacts are used.
    """
    known = next((pieces for kept, pieces in _KEPT if kept is geometry), None)
    if known is None:
        known = _derived(geometry)
        _KEPT.append((geometry, known))
        del _KEPT[:-KEPT]
    return known


def _derived(geometry: ArmGeometry) -> ArmPieces:
    robot = geometry.robot
    shapes = link_shapes(robot, geometry.fingers)
    found = [piece for shape in shapes for piece in pieces_of(shape)] + held_pieces(robot, geometry.attachments)
    pieces = sorted(found, key=lambda piece: piece.link)
    slide, turn = _axes(robot)
    turns = np.abs(turn).max(axis=1) > 0.5
    placements = [robot.model.jointPlacements[j + 1] for j in range(robot.dof)]
    spheres = [_sphere(piece.corners) for piece in pieces]
    links = [_around([(*spheres[i], p.radius) for i, p in enumerate(pieces) if p.link == k]) for k in _links(robot)]
    pairs, pair_first = _pairs(
        pieces, _against_each_other(geometry, pieces, covered_links(robot, geometry.fingers).pairs.checked)
    )
    arrays = PieceArrays(
        rotation=np.array([T.rotation for T in placements]),
        offset=np.array([T.translation for T in placements]),
        turn=turn,
        slide=slide,
        turns=turns.astype(np.int64),
        link_first=_firsts([sum(piece.link == k for piece in pieces) for k in _links(robot)]),
        link_middle=np.array([middle for middle, _ in links]),
        link_reach=np.array([reach for _, reach in links]),
        link=np.array([piece.link for piece in pieces], dtype=np.int64),
        middle=np.array([middle for middle, _ in spheres]),
        reach=np.array([reach for _, reach in spheres]),
        radius=np.array([piece.radius for piece in pieces]),
        joints=np.array([piece.link - _is_spun(piece, turn, turns) for piece in pieces], dtype=np.int64),
        corner=np.vstack([piece.corners for piece in pieces]),
        corner_first=_firsts([len(piece.corners) for piece in pieces]),
        pair=pairs,
        pair_first=pair_first,
    )
    return ArmPieces(arrays, tuple(piece.part for piece in pieces))


def _is_spun(piece: Piece, turn: FloatArray, turns: npt.NDArray[np.bool_]) -> bool:
    """True when the joint that moves a piece's link turns it about its own axis."""
    return piece.link > 0 and bool(turns[piece.link - 1]) and is_round_about(piece, turn[piece.link - 1])


def _links(robot: RobotModel) -> range:
    return range(robot.dof + 1)


def _axes(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Along what (n, 3) and about what (n, 3) each joint moves, in its frame."""
    model, data, n = robot.model, robot.new_data(), robot.dof
    pin.computeJointJacobians(model, data, pin.neutral(model))
    subspace = np.array([pin.getJointJacobian(model, data, j + 1, pin.LOCAL)[:, j] for j in range(n)])
    return np.ascontiguousarray(subspace[:, :3]), np.ascontiguousarray(subspace[:, 3:])


def _sphere(corners: FloatArray) -> tuple[FloatArray, float]:
    """Centre and radius of a sphere around points: the centre is that of a box around them."""
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    return middle, float(np.linalg.norm(corners - middle, axis=1).max())


def _around(spheres: list[tuple[FloatArray, float, float]]) -> tuple[FloatArray, float]:
    """Centre and radius of a sphere around spheres, each with a radius more; of none, radius 0."""
    if not spheres:
        return np.zeros(3), 0.0
    middles, radii = np.array([s[0] for s in spheres]), np.array([s[1] + s[2] for s in spheres])
    middle = 0.5 * ((middles - radii[:, None]).min(axis=0) + (middles + radii[:, None]).max(axis=0))
    return middle, float((np.linalg.norm(middles - middle, axis=1) + radii).max())


def _firsts(counts: list[int]) -> IntArray:
    return np.cumsum([0, *counts]).astype(np.int64)


def _pairs(pieces: list[Piece], pairs: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """The pairs (p, 2) in the order of their links, and where (g + 1,) those of other links begin."""

    def links(pair: tuple[int, int]) -> tuple[int, int]:
        return pieces[pair[0]].link, pieces[pair[1]].link

    ordered = sorted(pairs, key=links)
    counts = [len(list(group)) for _, group in groupby(ordered, links)]
    return np.array(ordered, dtype=np.int64).reshape(-1, 2), _firsts(counts)


def _against_each_other(
    geometry: ArmGeometry, pieces: list[Piece], checked: frozenset[tuple[str, str]]
) -> list[tuple[int, int]]:
    """Pairs of pieces, that of the lower link first, that must not touch."""
    free = {(a.name, link) for a in geometry.attachments for link in a.touch_links}
    held = {a.name for a in geometry.attachments}
    found = []
    for i, j in combinations(range(len(pieces)), 2):  # in the order of their links
        first, second = pieces[i].part, pieces[j].part
        wanted = second in held and (second, first) not in free
        names = name_pair(first, second)
        if pieces[i].link < pieces[j].link and (wanted or names in checked) and names not in geometry.allowed:
            found.append((i, j))
    return found
