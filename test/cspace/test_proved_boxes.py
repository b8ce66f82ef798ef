"""Boxes in which links are proved to be apart: true at every place that is looked at, and used by every proof."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes
from telerobot_nodes.cspace.covering import LinkContacts
from telerobot_nodes.cspace.covering.proved_boxes import APART, _is_round, _longest, _spread, _TwoJoints, proved_boxes
from telerobot_nodes.cspace.geometry import (
    Attachment,
    arm_geometry,
    bound_cell,
    box,
    link_poses_of,
    nearest,
    part_in_box,
    probe,
    touches_itself,
    world_of,
)
from telerobot_nodes.cspace.geometry.arm_geometry import _Body, _proved_last
from telerobot_nodes.cspace.proof import CellChecker
from telerobot_nodes.cspace.search import EdgeValidator
from telerobot_nodes.cspace.simd import arm32_of, batch_of, bound_motion, check_batch

NOTHING = world_of([])
WRIST = 4  # the joint at which flange and wrist come near to each other


@pytest.fixture(scope="module")
def contacts(arm):
    return LinkContacts(arm.robot, link_shapes(arm.robot))


def proved_pairs(geometry):
    """Links of the pairs that are proved."""
    rows = geometry.arm.pairs[len(geometry.arm.pairs) - geometry.arm.proved :]
    names = [(x, y) for a, b in rows for x in geometry.bodies[a] for y in geometry.bodies[b]]
    return [pair for pair in names if tuple(sorted(pair)) in geometry.checked]


def bent(arm, place):
    """Home with the wrist at `place` [rad]."""
    q = np.array(arm.robot.home)
    q[WRIST] = place
    return q


def test_the_flange_of_the_own_arm_is_proved_against_its_wrist_and_no_pair_of_the_panda_or_the_planar_arm(
    arm, panda, planar
):
    assert ("link4", "link6") in proved_pairs(arm)
    narrow = arm.arm.box != np.column_stack([arm.arm.lower, arm.arm.upper])
    assert set(np.flatnonzero(narrow.any(axis=1))) == {WRIST}
    assert panda.arm.proved == planar.arm.proved == 0


@pytest.mark.lengthy
def test_links_are_apart_everywhere_in_their_box_and_not_far_beyond_it(arm, contacts):
    rng, (low, high) = np.random.default_rng(0), arm.arm.box.T
    least = np.inf
    for k in range(600):
        q = rng.uniform(low, high)
        q[WRIST] = q[WRIST] if k % 2 else rng.choice([low[WRIST], high[WRIST]])
        contacts.place(q)
        distances = [contacts.distance(*pair) for pair in proved_pairs(arm)]
        assert min(distances) >= APART
        least = min(least, *distances)
    assert least < APART + 1e-3
    for beyond in (low[WRIST] - 0.12, high[WRIST] + 0.12):
        contacts.place(bent(arm, beyond))
        assert contacts.distance("link4", "link6") < APART


def test_the_part_of_a_cell_in_the_box_is_that_where_the_pairs_are_apart(arm, planar):
    edge, wide = arm.arm.box[WRIST, 1], np.full(6, 0.1)
    assert part_in_box(arm.arm, 0.0, bent(arm, 0.0), wide) == 1.0
    assert part_in_box(arm.arm, 0.0, bent(arm, edge - 0.025), wide) == pytest.approx(0.25)
    assert part_in_box(arm.arm, 0.0, bent(arm, -edge + 0.05), wide) == pytest.approx(0.5)
    assert part_in_box(arm.arm, 0.0, bent(arm, edge + 1e-3), wide) == 0.0
    assert part_in_box(arm.arm, 2.0 * APART, bent(arm, 0.0), wide) == 0.0
    assert part_in_box(planar.arm, 0.0, np.zeros(2), np.zeros(2)) == 0.0


def test_every_proof_accepts_a_bent_wrist_inside_the_box_and_none_beyond_it(arm):
    poses, none, edge = link_poses_of(arm.arm), np.zeros(6), arm.arm.box[WRIST, 1]
    inside, outside = bent(arm, edge - 0.01), bent(arm, edge + 0.2)
    assert 0.0 < nearest(arm.arm, NOTHING, poses, inside, 1.0)[0] <= APART
    assert nearest(arm.arm, NOTHING, poses, bent(arm, 0.0), 1.0)[0] > 2.0 * APART  # what spheres tell is not forgotten
    assert nearest(arm.arm, NOTHING, poses, outside, 1.0)[0] < 0.0
    assert probe(arm.arm, NOTHING, poses, inside, np.full(6, 1e-3)) == 1.0
    assert probe(arm.arm, NOTHING, poses, outside, none) <= 0.0
    bound_cell(arm.arm, poses, inside, np.full(6, 1e-3))
    assert touches_itself(arm.arm, NOTHING, poses) == (False, False)
    assert probe(arm.arm, NOTHING, poses, inside, np.full(6, 0.04)) == pytest.approx(0.25)
    bound_cell(arm.arm, poses, inside, np.full(6, 0.04))
    assert touches_itself(arm.arm, NOTHING, poses) == (True, False)
    bound_cell(arm.arm, poses, outside, none)
    assert touches_itself(arm.arm, NOTHING, poses)[0]
    assert CellChecker(arm, [], 0.0, 0.0).room(inside, np.full(6, 0.009)) >= 0.0


def test_motions_are_proved_inside_the_box_also_after_one_that_left_it(arm):
    validator, edge = EdgeValidator(arm.arm, NOTHING), arm.arm.box[WRIST, 1]
    across = bent(arm, -edge + 1e-3), bent(arm, edge - 1e-3)
    assert validator.free(*across)
    assert not validator.free(across[0], bent(arm, edge + 0.1))
    assert not validator.free(bent(arm, edge + 0.1), bent(arm, edge + 0.3))
    assert validator.free(*across)


def test_lanes_in_the_box_are_free_whatever_the_others_are(arm):
    arm32, batch = arm32_of(arm.arm), batch_of(arm.arm, 0)
    edge = arm.arm.box[WRIST, 1]
    places = np.linspace(0.0, edge - 1e-3, 16)
    for outside in (0, 3):
        places[:outside] = edge + 0.2
        for lane, place in enumerate(places):
            batch.q[lane::16] = bent(arm, place)
        batch.half[:], batch.delta[:] = 0.0, 0.0
        bound_motion(arm32, batch)
        assert check_batch(arm32, NOTHING, batch, 3e-4, 0.0, False) == (1 << outside) - 1
        assert (batch.ratio[outside:] == 1.0).all()


def test_lanes_whose_motion_leaves_the_box_are_looked_at(arm):
    arm32, batch = arm32_of(arm.arm), batch_of(arm.arm, 0)
    for lane in range(16):
        batch.q[lane::16] = bent(arm, arm.arm.box[WRIST, 1] - 0.01)
    batch.half[:], batch.delta[:] = 1.0, 0.0
    for way, free in ((0.005, True), (0.05, False)):
        batch.delta[WRIST] = way
        bound_motion(arm32, batch)
        assert (check_batch(arm32, NOTHING, batch, 3e-4, 0.0, False) == 0) == free


def test_a_margin_between_links_beyond_what_is_proved_is_kept_by_the_spheres(arm):
    poses, q = link_poses_of(arm.arm), bent(arm, arm.arm.box[WRIST, 1] - 0.01)
    assert nearest(arm.arm, world_of([], 0.0, 0.5 * APART), poses, q, 1.0)[0] == pytest.approx(0.5 * APART, abs=1e-6)
    assert nearest(arm.arm, world_of([], 0.0, 2.0 * APART), poses, q, 1.0)[0] < 0.0
    assert not EdgeValidator(arm.arm, world_of([], 0.0, 2.0 * APART)).free(q, q)


def test_what_is_held_is_checked_by_its_spheres(arm):
    ring = box("ring", (0.3, 0.3, 0.01), (0.0, 0.0, -0.12))
    held = arm_geometry(arm.robot, [Attachment(ring)])
    assert ("link4", "link6") in proved_pairs(held)
    assert all("ring" not in pair for pair in proved_pairs(held))
    q = bent(arm, arm.arm.box[WRIST, 1] - 0.01)
    assert nearest(arm.arm, NOTHING, link_poses_of(arm.arm), q, 1.0)[0] > 0.0
    assert nearest(held.arm, NOTHING, link_poses_of(held.arm), q, 1.0)[0] < 0.0


def test_round_shapes_are_those_about_the_axis(arm):
    flange = next(shape for shape in link_shapes(arm.robot) if shape.body == "link6")
    gripper = next(shape for shape in link_shapes(arm.robot) if shape.body == "gripper")
    axis = np.array([0.0, 0.0, 1.0])
    assert _is_round(flange, axis)
    assert not _is_round(gripper, axis)
    assert not _is_round(flange, np.array([0.0, 1.0, 0.0]))
    beside = pin.SE3(np.eye(3), np.array([0.01, 0.0, 0.0]))
    assert not _is_round(replace(flange, turns=((beside,),)), axis)
    tilted = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.0, 0.0), np.zeros(3))
    assert not _is_round(replace(flange, turns=((tilted,),)), axis)


def test_shapes_that_may_be_elsewhere_take_that_off_their_distance(arm):
    flange = next(shape for shape in link_shapes(arm.robot) if shape.body == "link6")
    ends = tuple(pin.SE3(np.eye(3), np.array([0.0, 0.0, z])) for z in (0.0, 0.03))
    assert _spread(replace(flange, turns=(ends,), slack=0.002)) == pytest.approx(0.017)
    assert _spread(flange) == 0.0


def test_the_box_is_smaller_for_links_that_may_be_elsewhere(arm):
    shapes, pair = link_shapes(arm.robot), ("link4", "link6")
    widths = []
    for slack in (0.0, 0.001, 0.002):
        moved = [replace(shape, slack=slack) if shape.body == pair[1] else shape for shape in shapes]
        widths.append(np.ptp(_TwoJoints(arm.robot, moved, WRIST).box([pair])[WRIST]))
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.lengthy
@pytest.mark.parametrize(
    ("first", "pair"), [(WRIST, ("link4", "link6")), (WRIST, ("link4", "gripper")), (3, ("link3", "link5"))]
)
def test_the_room_of_a_cell_is_never_more_than_the_distance_anywhere_in_it(arm, contacts, first, pair):
    rng, two = np.random.default_rng(0), _TwoJoints(arm.robot, link_shapes(arm.robot), first)
    limits, joints = arm.robot.limits, slice(first, first + 2)
    for _ in range(100):
        width = rng.choice([1e-3, 0.2, 0.6], 2)
        low = rng.uniform(limits.lower[joints], limits.upper[joints] - width)
        room = two._room(pair, (low[0], low[0] + width[0], low[1], low[1] + width[1]))
        for part in [*np.ndindex(2, 2), *rng.uniform(size=(4, 2))]:
            q = np.array(arm.robot.home)
            q[joints] = low + width * part
            contacts.place(q)
            assert contacts.distance(*pair) >= room - 1e-9


def test_links_that_meet_somewhere_in_a_cell_are_not_apart_in_it(arm):
    two, low, high = _TwoJoints(arm.robot, link_shapes(arm.robot), WRIST), *arm.arm.box[WRIST]
    assert two._always_apart(("link4", "link6"), (low, high, 0.0, 1e-3))
    assert not two._always_apart(("link4", "link6"), (low, high + 0.2, 0.0, 1e-3))


def test_a_pair_of_bodies_is_proved_when_all_pairs_of_their_parts_are_inside_all_their_boxes():
    bodies = [_Body(1, ("a",), []), _Body(3, ("b", "c"), [])]
    rows, checked = np.array([[0, 1]]), frozenset({("a", "b"), ("a", "c")})
    limits = np.array([[-3.0, 3.0], [-2.0, 2.0]])
    one, other = np.array([[-1.0, 3.0], [-2.0, 2.0]]), np.array([[-2.0, 0.5], [-2.0, 2.0]])
    assert _proved_last(rows, bodies, checked, {("a", "b"): one}, limits)[1] == 0
    _, proved, box = _proved_last(rows, bodies, checked, {("a", "b"): one, ("a", "c"): other}, limits)
    assert proved == 1
    assert box.tolist() == [[-1.0, 0.5], [-2.0, 2.0]]


def test_the_longest_run_is_found():
    assert _longest([True, False, True, True, True, False, True]) == (2, 5)
    assert _longest([False, True]) == (1, 2)
    assert _longest([False]) == (0, 0)


def test_a_pair_that_spheres_tell_apart_needs_no_box(panda):
    shapes = link_shapes(panda.robot)
    assert proved_boxes(panda.robot, [(shape, []) for shape in shapes], frozenset()) == {}
