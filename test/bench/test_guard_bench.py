"""The benchmark of the guard: its judge sees a tool that goes beyond, and the same motions with the guard do not."""

import numpy as np
import pytest

from telerobot_nodes.bench.contact import guard
from telerobot_nodes.bench.contact.guard_motions import KINDS, random_motion
from telerobot_nodes.core.robot import load_robot


def goals(result):
    return {entry["name"]: entry["value"] for entry in result["goals"]}


def beyond(result):
    return goals(result)["beyond plane or box, largest"]


@pytest.mark.lengthy
def test_without_the_guard_the_same_motions_go_beyond():
    motions = {"motions": "10", "seed": "3"}
    free = guard.run({**motions, "guard": "false"})
    assert beyond(free) > 10.0
    assert goals(free)["towards a destination beyond, and no reason"] > 0
    guarded = guard.run(motions)
    assert beyond(guarded) == 0.0
    assert goals(guarded)["towards a destination beyond, and no reason"] == 0
    assert any("GUARD" in kind["reasons"] for kind in guarded["figures"]["kinds"].values())


def test_the_motions_are_of_every_kind_and_of_every_speed():
    robot, random = load_robot("arm"), np.random.default_rng(1)
    motions = [random_motion(random, robot, robot.home) for _ in range(200)]
    assert {motion.kind for motion in motions} == set(KINDS)
    speeds = [motion.values["time_vel_val"] for motion in motions if "time_vel_val" in motion.values]
    assert min(speeds) < 0.03
    assert max(speeds) > 1.0
    guards = [tuple(name in motion.values for name in ("guard_plane", "guard_box")) for motion in motions]
    assert set(guards) == {(True, False), (False, True), (True, True)}
