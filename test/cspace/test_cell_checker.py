"""The checker's proof of cells, against coal's distances of all pieces and bounds on motion made here."""

from itertools import product

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes
from telerobot_nodes.cspace.covering import link_pairs
from telerobot_nodes.cspace.geometry import Voxels, arm_geometry, box, cylinder, floor, sphere
from telerobot_nodes.cspace.proof import CellChecker, pieces_of
from telerobot_nodes.cspace.proof.cell_checker import cell_room
from telerobot_nodes.cspace.proof.placed_pieces import placed_of
from test.support.coal_solids import EXACT, gap, solid_of

VOXEL = (0.05, 0.05, 0.05)
AT = np.random.default_rng(8).uniform(-0.7, 0.7, (40, 3)) * [1.0, 1.0, 0.5] + [0.0, 0.0, 0.5]
THINGS = [
    box("box", (0.2, 0.3, 0.2), (0.5, 0.1, 0.4)),
    cylinder("post", 0.06, 0.8, (-0.4, 0.3, 0.4)),
    sphere("ball", 0.1, (0.1, -0.5, 0.6)),
    floor(height=-0.05),
    Voxels("cloud", size=VOXEL, centers=AT[np.linalg.norm(AT[:, :2], axis=1) > 0.3]),
]
MARGINS = [(0.004, 0.001), (0.0, 0.0)]


class Brute:
    """Every piece against every thing and every other piece, by coal alone."""

    def __init__(self, geometry, margins, things=THINGS):
        self.margin, self.self_margin = margins
        self.robot, self.data = geometry.robot, geometry.robot.new_data()
        shapes = link_shapes(self.robot, geometry.fingers)
        self.pieces = [piece for shape in shapes for piece in pieces_of(shape)]
        self.solid = {id(piece): solid_of(piece.corners) for piece in self.pieces}
        checked = link_pairs(self.robot, shapes).checked
        self.pairs = [
            (a, b)
            for a, b in product(self.pieces, self.pieces)
            if a.link < b.link and tuple(sorted((a.part, b.part))) in {tuple(sorted(pair)) for pair in checked}
        ]
        self.planes = [thing.pose[2] for thing in things if thing.kind == "half_space"]
        kinds = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere, "boxes": coal.Box}
        self.solids = [
            (kinds[thing.kind](*thing.size), pin.SE3(thing.T_world_obstacle.rotation, place))
            for thing in things
            if thing.kind in kinds
            for place in (thing.places if isinstance(thing, Voxels) else [thing.T_world_obstacle.translation])
        ]

    def least(self, q):
        """Least distance [m], margins taken off."""
        return self.room(q, np.zeros(q.size))

    def room(self, q, half):
        """Least distance [m] minus what the corners of the piece can move in a cell, margins taken off."""
        pin.computeJointJacobians(self.robot.model, self.data, q)
        link = [self.data.oMi[k] for k in range(self.robot.dof + 1)]
        found = np.inf
        for piece in (piece for piece in self.pieces if piece.link > 1):
            T, keep = link[piece.link], piece.radius + self.margin + self.moved(piece, half, 0)
            lowest = min(T.act(c)[2] for c in piece.corners) if self.planes else np.inf
            found = min(found, lowest - min(self.planes, default=0.0) - keep)
            own, at = self.solid[id(piece)]
            for solid, U in self.solids:
                found = min(found, gap(own, T * at, solid, U) - keep)
        for a, b in self.pairs:
            (one, T), (other, U) = self.solid[id(a)], self.solid[id(b)]
            apart = gap(one, link[a.link] * T, other, link[b.link] * U)
            found = min(found, apart - a.radius - b.radius - self.self_margin - self.moved(b, half, a.link))
        return found

    def moved(self, piece, half, first):
        """Most [m] that a corner moves with the turning joints after `first`: chords of its circles."""
        corners = [self.data.oMi[piece.link].act(corner) for corner in piece.corners]
        total = np.zeros(len(corners))
        for joint in range(first, piece.link):
            axis, origin = self.data.J[3:, joint], self.data.oMi[joint + 1].translation
            lever = np.linalg.norm(np.cross(axis, np.array(corners) - origin), axis=1)
            total += 2.0 * np.sin(0.5 * half[joint]) * lever
        return total.max()


@pytest.mark.lengthy
@pytest.mark.parametrize("margins", MARGINS)
@pytest.mark.brief(2)
def test_a_configuration_is_free_exactly_where_coal_finds_room_between_all_pieces(geometry, margins):
    brute, checker = Brute(geometry, margins), CellChecker(geometry, THINGS, *margins)
    rng, seen = np.random.default_rng(1), set()
    limits = geometry.robot.limits
    for q in rng.uniform(limits.lower, limits.upper, (8, geometry.dof)):
        true, room = brute.least(q), checker.room(q, np.zeros(geometry.dof))
        assert (room >= 0.0) == (true >= 0.0)
        assert room <= max(true, 0.0) + 2.0 * EXACT
        seen.add(true >= 0.0)
    assert seen == {True, False}


def whole_room(checker, margins, q, half):
    """The room of a cell that is not halved."""
    arm = checker._arm
    return cell_room(arm, checker._solids, checker._alone, *margins, placed_of(arm), q, half).room


@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_the_room_of_a_cell_is_never_more_than_what_all_pieces_leave(geometry):
    brute, checker = Brute(geometry, MARGINS[0]), CellChecker(geometry, THINGS, *MARGINS[0])
    rng, seen = np.random.default_rng(4), set()
    limits = geometry.robot.limits
    for q in rng.uniform(limits.lower, limits.upper, (8, geometry.dof)):
        half = rng.uniform(0.0, 0.04, geometry.dof)
        found, true = whole_room(checker, MARGINS[0], q, half), brute.room(q, half)
        assert (found >= 0.0) == (true >= 0.0)
        assert found <= max(true, 0.0) + 2.0 * EXACT
        seen.add(true >= 0.0)
    assert seen == {True, False}


@pytest.mark.lengthy
def test_links_that_a_motion_does_not_turn_against_each_other_are_measured_too(arm):
    checker, limits = CellChecker(arm, [], 0.0, 0.0), arm.robot.limits
    brute, rng, touching = Brute(arm, (0.0, 0.0), []), np.random.default_rng(3), 0
    for q in rng.uniform(limits.lower, limits.upper, (20, arm.dof)):
        half = np.zeros(arm.dof)
        half[0] = 0.2  # the first joint alone: all links but the base keep their places to each other
        if brute.least(q) < 0.0:
            touching += 1
            assert checker.room(q, half) < 0.0
    assert touching > 0


@pytest.mark.lengthy
def test_cells_looked_at_together_have_the_room_they_have_alone(panda):
    checker = CellChecker(panda, THINGS, *MARGINS[0])
    rng, limits = np.random.default_rng(2), panda.robot.limits
    q = rng.uniform(limits.lower, limits.upper, (60, panda.dof))
    half = rng.uniform(0.0, 0.05, q.shape)
    alone = np.array([checker.room(*cell) for cell in zip(q, half, strict=True)])
    free = np.flatnonzero(alone >= 0.0)
    assert len(free) > 10
    assert checker.rooms(q[free], half[free]) == pytest.approx(alone[free], abs=1e-12)
    assert checker.rooms(q, half).min() < 0.0


def test_a_cell_that_is_not_finite_is_not_free_and_ends_the_proof(panda):
    checker = CellChecker(panda, [], 0.0, 0.0)
    q, half = np.tile(panda.robot.home, (3, 1)), np.full((3, panda.dof), 1e-3)
    assert (checker.rooms(q, half) >= 0.0).all()
    for broken in (np.nan, np.inf):
        wrong = half.copy()
        wrong[1, 2] = broken
        rooms = checker.rooms(q, wrong)
        assert rooms[0] >= 0.0
        assert rooms[1] == -np.inf


def test_what_may_be_touched_is_not_measured(panda):
    inside = box("can", (0.05, 0.05, 0.05), panda.robot.forward(panda.robot.home).translation)
    hand = [name for names, link in zip(panda.bodies, panda.arm.body_link, strict=True) if link for name in names]
    free = arm_geometry(panda.robot, allowed=[(name, "can") for name in hand])
    q, half = np.array(panda.robot.home), np.zeros(panda.dof)
    assert CellChecker(panda, [inside], 0.0, 0.0).room(q, half) < 0.0
    assert CellChecker(free, [inside], 0.0, 0.0).room(q, half) >= 0.0
