"""The checker's arrays of an arm: derived from the robot's description, whatever the planner's arrays say."""

from dataclasses import replace

import numpy as np

from telerobot_nodes.core.robot import link_shapes
from telerobot_nodes.cspace.covering import link_pairs, name_pair
from telerobot_nodes.cspace.geometry import Attachment, arm_geometry, box
from telerobot_nodes.cspace.proof.arm_pieces import arm_pieces


def pairs_of(pieces):
    arrays, parts = pieces.arrays, pieces.parts
    return {name_pair(parts[i], parts[j]) for i, j in arrays.pair.tolist()}


def test_pieces_lie_in_the_order_of_their_links_and_spheres_hold_them(geometry):
    arrays = arm_pieces(geometry).arrays
    assert (np.diff(arrays.link) >= 0).all()
    assert np.bincount(arrays.link, minlength=geometry.dof + 1).tolist() == np.diff(arrays.link_first).tolist()
    for i, link in enumerate(arrays.link):
        corners = arrays.corner[arrays.corner_first[i] : arrays.corner_first[i + 1]]
        assert np.linalg.norm(corners - arrays.middle[i], axis=1).max() <= arrays.reach[i] + 1e-12
        assert arrays.joints[i] in (link, max(link - 1, 0))


def test_only_a_round_piece_is_not_moved_by_the_joint_that_spins_it(arm):
    pieces = arm_pieces(arm)
    behind = pieces.arrays.link - pieces.arrays.joints
    of = {part: set(behind[[name == part for name in pieces.parts]].tolist()) for part in pieces.parts}
    assert of["link6"] == {1}
    assert of["gripper"] == of["left_finger"] == {0}


def test_pairs_are_those_of_the_true_shapes_whatever_the_planner_s_are(panda):
    checked = link_pairs(panda.robot, link_shapes(panda.robot)).checked
    blind = replace(panda, checked=frozenset(), arm=panda.arm.without_pairs())
    pieces = arm_pieces(blind)
    assert pairs_of(pieces) == checked
    arrays = pieces.arrays
    for first, last in zip(arrays.pair_first[:-1], arrays.pair_first[1:], strict=True):
        links = {(arrays.link[i], arrays.link[j]) for i, j in arrays.pair[first:last]}
        assert len(links) == 1
        assert all(a < b for a, b in links)
    assert arrays.pair_first[-1] == len(arrays.pair)


def test_what_is_held_is_checked_against_all_links_but_its_touch_links(panda):
    links = {name for names, link in zip(panda.bodies, panda.arm.body_link, strict=True) if link < 7 for name in names}
    free = min(links)
    held = arm_geometry(panda.robot, [Attachment(box("bar", (0.1, 0.1, 0.1), (0.0, 0.0, 0.1)), frozenset({free}))])
    with_bar = {pair for pair in pairs_of(arm_pieces(held)) if "bar" in pair}
    assert with_bar == {name_pair("bar", link) for link in links - {free}}


def test_contacts_that_are_allowed_are_no_pairs(panda):
    pair = min(pairs_of(arm_pieces(panda)))
    assert pairs_of(arm_pieces(arm_geometry(panda.robot, allowed=[pair]))) == pairs_of(arm_pieces(panda)) - {pair}


def test_pieces_of_the_same_geometry_are_kept(panda):
    assert arm_pieces(panda) is arm_pieces(panda)
