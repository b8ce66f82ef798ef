"""The judge of `bench clearance` measures what it should, and proofs that are wrong are seen by it."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.bench.planner import clearance
from telerobot_nodes.bench.planner.families import FAMILIES, family_robot
from telerobot_nodes.bench.planner.true_shapes import TrueShapes
from telerobot_nodes.cspace.geometry import arm_geometry

IDENTITY = pin.SE3.Identity()


def judge_of(family, folder, seed=0):
    return TrueShapes(family_robot(family, folder), np.random.default_rng(seed))


@pytest.mark.parametrize("family", [f for f in FAMILIES if f not in ("panda", "arm", "ur5")])
def test_the_robots_made_here_can_be_loaded(family, tmp_path):
    robot = family_robot(family, tmp_path)
    assert judge_of(family, tmp_path).nearest(np.array(robot.home)).distance < 1.0


def test_distances_are_those_of_the_shapes(tmp_path):
    judge = judge_of("sliding first joint", tmp_path)
    q = np.array([0.5, 0.0, 0.0])  # the forearm's end is at x = 0.7, the axis at z = 0.9, 0.05 m high
    ball = pin.SE3(np.eye(3), np.array([0.9, 0.0, 0.9]))
    judge.surround([("ball", "sphere", (0.05,), ball)])
    found = judge.nearest(q)
    assert found.names == ("fore", "ball")
    assert found.distance == pytest.approx(0.15, abs=1e-5)
    judge.surround([("ground", "half_space", (), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5])))])
    assert judge.nearest(q).distance == pytest.approx(0.05, abs=1e-5)  # of the column's lower end


def test_what_is_wholly_inside_a_mesh_penetrates(tmp_path):
    judge = judge_of("mesh", tmp_path)
    R = np.eye(3)
    q = np.array([0.5, 0.0, 0.0])  # the angle iron begins at x = 0.4, y = -0.025, z = 0.875
    for at, inside in (((0.55, 0.0, 0.9), True), ((0.5, 0.08, 0.9), False), ((0.665, 0.1, 0.9), True)):
        judge.surround([("ball", "sphere", (0.002,), pin.SE3(R, np.array(at)))])
        assert (judge.nearest(q, 0.2).distance <= 0.0) == inside


def test_followers_follow_and_free_fingers_are_anywhere(tmp_path):
    judge = judge_of("mimic", tmp_path)
    q = np.array([0.0, 0.0, 0.0])
    reached = []
    for sign in (1.0, -1.0):  # beside the left and the right finger, the same distance from both
        judge.surround([("ball", "sphere", (0.01,), pin.SE3(np.eye(3), np.array([0.75, 0.2 * sign, 0.4])))])
        judge._rng = np.random.default_rng(1)
        reached.append([judge.nearest(q).distance for _ in range(8)])
    assert reached[0] == pytest.approx(reached[1], abs=1e-6)
    assert np.ptp(reached[0]) > 0.01


@pytest.mark.lengthy
def test_a_proof_by_spheres_that_are_too_small_is_found_out(tmp_path):
    geometry = arm_geometry(family_robot("sliding first joint", tmp_path))
    figures = {}
    for name, scale in (("sound", 1.0), ("wrong", 0.4)):
        arm = geometry.arm._replace(
            sphere_radius=scale * geometry.arm.sphere_radius,
            group_radius=scale * geometry.arm.group_radius,
            link_radius=scale * geometry.arm.link_radius,
            body_radius=scale * geometry.arm.body_radius,
        )
        changed = dataclasses.replace(geometry, arm=arm)
        things = np.random.default_rng(3)
        judge, tally = TrueShapes(geometry.robot, things), clearance.Tally()
        for q in clearance.in_cells(changed, clearance.surround(judge, things), 120, things):
            tally.look(judge, q)
        figures[name] = tally
    assert figures["sound"].count == 120
    assert figures["sound"].penetrations == 0
    assert figures["sound"].least > 0.0
    assert figures["wrong"].penetrations > 3


@pytest.mark.nightly
@pytest.mark.lengthy
def test_the_bench_counts_configurations_and_free_ones(tmp_path):
    found = clearance.run({"families": "arm", "configurations": "60", "free": "40"})
    row = found["figures"]["arm"]
    assert row["cells_configurations"] + row["paths_configurations"] >= 60
    assert row["cells_penetrations"] == row["paths_penetrations"] == 0
    assert row["free"] == 40
    assert [goal["name"] for goal in found["goals"]] == [
        "configurations looked at", "penetrations", "free configurations accepted, arm",
    ]  # fmt: skip
