"""The checker's proof of cells: Pinocchio's frames, coal's distances, and bounds on motion that hold."""

from itertools import product

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes, load_robot
from telerobot_nodes.cspace.geometry import Voxels, box, cylinder, floor, link_pairs, pieces_of, sphere
from telerobot_nodes.cspace.search.cell_checker import CellChecker, _Frames
from telerobot_nodes.cspace.search.obstacle_distances import EXACT, WIDER, gap

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


INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SLIDE = f"""<robot name="slide"><link name="base"/>
  <joint name="a" type="prismatic"><origin xyz="0 0.1 0" rpy="0.2 0 0.4"/><parent link="base"/><child link="one"/>
    <axis xyz="0 0.6 0.8"/><limit lower="-0.4" upper="0.4" velocity="1" effort="10"/></joint>
  <link name="one">{INERTIA}</link>
  <joint name="b" type="revolute"><origin xyz="0.4 0 0"/><parent link="one"/><child link="tool"/><axis xyz="0.6 0 0.8"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="10"/></joint>
  <link name="tool">{INERTIA}
    <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.05"/></geometry></collision></link>
</robot>"""


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    """A robot whose first joint slides; no axis is along one of a frame."""
    file = tmp_path_factory.mktemp("slide") / "slide.urdf"
    file.write_text(SLIDE)
    return load_robot(str(file), tool_frame="tool")


@pytest.mark.parametrize("name", ["panda", "ur5", "slide"])
def test_frames_and_axes_are_pinocchio_s(name, slide):
    robot = slide if name == "slide" else load_robot(name)
    q = np.random.default_rng(0).uniform(robot.limits.lower, robot.limits.upper, (20, robot.dof))
    at, data = _Frames(robot).at(q, np.full_like(q, 0.2)), robot.new_data()
    for c, one in enumerate(q):
        J = pin.computeJointJacobians(robot.model, data, one)
        for link in range(1, robot.dof + 1):
            assert at.rotation[c, link] == pytest.approx(data.oMi[link].rotation, abs=1e-12)
            assert at.origin[c, link] == pytest.approx(data.oMi[link].translation, abs=1e-12)
        assert np.hstack([at.moments[c], at.axes[c]]) == pytest.approx(J.T, abs=1e-12)


class Brute:
    """Every piece against every thing and every other piece, by coal alone."""

    def __init__(self, geometry, margins, things=THINGS):
        self.margin, self.self_margin = margins
        self.robot, self.data = geometry.robot, geometry.robot.new_data()
        shapes = link_shapes(self.robot, geometry.fingers)
        self.pieces = [piece for shape in shapes for piece in pieces_of(shape)]
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
            for solid, U in self.solids:
                found = min(found, gap(piece.solid, T * piece.T, solid, U) - keep)
        for a, b in self.pairs:
            apart = gap(a.solid, link[a.link] * a.T, b.solid, link[b.link] * b.T)
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


@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_the_room_of_a_cell_is_never_more_than_what_all_pieces_leave(geometry):
    brute, checker = Brute(geometry, MARGINS[0]), CellChecker(geometry, THINGS, *MARGINS[0])
    rng, seen = np.random.default_rng(4), set()
    limits = geometry.robot.limits
    for q in rng.uniform(limits.lower, limits.upper, (8, geometry.dof)):
        half = rng.uniform(0.0, 0.04, geometry.dof)
        found, true = checker._bounds(q[None], half[None]).room[0], brute.room(q, half)
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
    together = checker.rooms(q[free], half[free])
    assert np.minimum(together, WIDER) == pytest.approx(np.minimum(alone[free], WIDER), abs=1e-12)
    assert checker.rooms(q, half).min() < 0.0
