"""The checker's proof of cells: Pinocchio's frames, coal's distances, and bounds on motion that hold."""

from itertools import product

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes, load_robot
from telerobot_nodes.cspace.geometry import Voxels, box, cylinder, floor, link_pairs, pieces_of, sphere
from telerobot_nodes.cspace.search.cell_checker import CellChecker, _Frames
from telerobot_nodes.cspace.search.obstacle_distances import EXACT, gap

VOXEL = (0.05, 0.05, 0.05)
AT = np.random.default_rng(8).uniform(-0.7, 0.7, (40, 3)) * [1.0, 1.0, 0.5] + [0.0, 0.0, 0.5]
THINGS = [
    box("box", (0.2, 0.3, 0.2), (0.5, 0.1, 0.4)),
    cylinder("post", 0.06, 0.8, (-0.4, 0.3, 0.4)),
    sphere("ball", 0.1, (0.1, -0.5, 0.6)),
    floor(height=-0.05),
    Voxels("cloud", size=VOXEL, centers=AT[np.linalg.norm(AT[:, :2], axis=1) > 0.3]),
]
MARGIN, SELF_MARGIN = 0.004, 0.001


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

    def __init__(self, geometry):
        self.robot, self.data = geometry.robot, geometry.robot.new_data()
        shapes = link_shapes(self.robot, geometry.fingers)
        self.pieces = [piece for shape in shapes for piece in pieces_of(shape)]
        checked = link_pairs(self.robot, shapes).checked
        self.pairs = [
            (a, b)
            for a, b in product(self.pieces, self.pieces)
            if a.link < b.link and tuple(sorted((a.part, b.part))) in {tuple(sorted(pair)) for pair in checked}
        ]
        kinds = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere, "boxes": coal.Box}
        self.solids = [
            (kinds[thing.kind](*thing.size), pin.SE3(thing.T_world_obstacle.rotation, place))
            for thing in THINGS
            if thing.kind in kinds
            for place in (thing.places if isinstance(thing, Voxels) else [thing.T_world_obstacle.translation])
        ]

    def least(self, q):
        """Least distance [m], margins taken off."""
        pin.forwardKinematics(self.robot.model, self.data, q)
        link = [self.data.oMi[k] for k in range(self.robot.dof + 1)]
        found = np.inf
        for piece in (piece for piece in self.pieces if piece.link > 1):
            T = link[piece.link]
            found = min(found, min(T.act(c)[2] for c in piece.corners) + 0.05 - piece.radius - MARGIN)
            for solid, U in self.solids:
                found = min(found, gap(piece.solid, T * piece.T, solid, U) - piece.radius - MARGIN)
        for a, b in self.pairs:
            apart = gap(a.solid, link[a.link] * a.T, b.solid, link[b.link] * b.T)
            found = min(found, apart - a.radius - b.radius - SELF_MARGIN)
        return found


def test_a_configuration_is_free_exactly_where_coal_finds_room_between_all_pieces(panda):
    brute, checker = Brute(panda), CellChecker(panda, THINGS, MARGIN, SELF_MARGIN)
    rng, seen = np.random.default_rng(1), set()
    limits = panda.robot.limits
    for q in rng.uniform(limits.lower, limits.upper, (25, panda.dof)):
        true, room = brute.least(q), checker.room(q, np.zeros(panda.dof))
        assert (room >= 0.0) == (true >= 0.0)
        assert room <= max(true, 0.0) + 2.0 * EXACT
        seen.add(true >= 0.0)
    assert seen == {True, False}


def test_cells_looked_at_together_have_the_room_they_have_alone(panda):
    checker = CellChecker(panda, THINGS, MARGIN, SELF_MARGIN)
    rng, limits = np.random.default_rng(2), panda.robot.limits
    q = rng.uniform(limits.lower, limits.upper, (60, panda.dof))
    half = rng.uniform(0.0, 0.05, q.shape)
    alone = np.array([checker.room(*cell) for cell in zip(q, half, strict=True)])
    free = np.flatnonzero(alone >= 0.0)
    assert len(free) > 10
    assert checker.rooms(q[free], half[free]) == pytest.approx(alone[free], abs=1e-12)
    assert checker.rooms(q, half).min() < 0.0
