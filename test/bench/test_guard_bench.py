"""The benchmark of the guard: its judge sees a tool that goes beyond, and the same motions with the guard do not."""

import numpy as np
import pytest

from telerobot_nodes.bench.contact import guard
from telerobot_nodes.bench.contact.guard_judge import Planes, ToolGeometry
from telerobot_nodes.bench.contact.guard_motions import KINDS, random_motion
from telerobot_nodes.core.robot import load_robot


def goals(result):
    return {entry["name"]: entry["value"] for entry in result["goals"]}


def beyond(result):
    return goals(result)["beyond plane or box, largest"]


@pytest.mark.nightly
@pytest.mark.lengthy
def test_without_the_guard_the_same_motions_go_beyond():
    motions = {"motions": "10", "seed": "3", "processes": "1"}
    free = guard.run({**motions, "guard": "false"})
    assert beyond(free) > 10.0
    assert goals(free)["towards a destination beyond, and no reason"] > 0
    guarded = guard.run(motions)
    assert beyond(guarded) == 0.0
    assert goals(guarded)["towards a destination beyond, and no reason"] == 0
    assert goals(guarded)["stopped from outside, unasked or for time"] == 0
    assert any("GUARD" in kind["reasons"] for kind in guarded["figures"]["kinds"].values())


def test_the_motions_are_of_every_kind_and_of_every_speed():
    robot, random = load_robot("arm"), np.random.default_rng(1)
    tool = ToolGeometry(robot)
    motions = [random_motion(random, robot, tool, robot.home) for _ in range(200)]
    assert {motion.kind for motion in motions} == set(KINDS)
    speeds = [motion.values["time_vel_val"] for motion in motions if "time_vel_val" in motion.values]
    assert min(speeds) < 0.03
    assert max(speeds) > 1.0
    guards = [tuple(name in motion.values for name in ("guard_plane", "guard_box")) for motion in motions]
    assert set(guards) == {(True, False), (False, True), (True, True)}
    begins = [m.planes.distances(tool.last(robot.home[None]), m.solids).min() for m in motions]
    assert 5 < sum(d < 0.0 for d in begins) < 80  # the tool begins beyond in some, in most inside
    assert sum("guard_points" in motion.values for motion in motions) > 50


def test_the_judge_sees_the_fingertips_and_the_sides_of_the_hand():
    robot = load_robot("arm")
    tool = ToolGeometry(robot)
    T = tool.last(robot.home[None])
    np.testing.assert_allclose(T[0] @ tool.T_last_tn, robot.forward(robot.home).homogeneous, atol=1e-9)
    R, p = robot.forward(robot.home).rotation, robot.forward(robot.home).translation
    reach = [-Planes(np.concatenate((p, R @ axis)), None).distances(T, tool.solids).min() for axis in -np.eye(3)]
    # fingertips 0.124 and the tool frame 0.11 from the gripper; palm 0.12 wide, sensor 0.04 in radius
    np.testing.assert_allclose(reach, [0.04, 0.06, 0.014], atol=1e-9)
