"""Sixteen configurations at once: the same places and distances as one at a time, and proofs that hold."""

import numba
import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import arm_geometry, clearance, forward_kinematics, link_poses_of, sphere, world_of
from telerobot_nodes.cspace.search import EdgeValidator
from telerobot_nodes.cspace.simd import (
    COLLIDES,
    LANES,
    arm32_of,
    batch_of,
    bound_motion,
    broadcast,
    check_batch,
    load,
    store,
    where_less,
)
from telerobot_nodes.cspace.simd.batch_kinematics import BODY, batch_forward_kinematics
from telerobot_nodes.cspace.simd.simd16 import absolute, floor, less_mask, maximum, minimum, sqrt

SLIDING = """<robot name="sliding">
  <link name="base"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="10"/></joint>
  <link name="one"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.06 0.06 0.4"/></geometry></collision></link>
  <joint name="b" type="prismatic"><origin xyz="0 0 0.4"/><parent link="one"/><child link="two"/><axis xyz="1 0 0"/>
    <limit lower="-0.4" upper="0.4" velocity="1" effort="10"/></joint>
  <link name="two"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.5 0.06 0.06"/></geometry></collision></link>
  <joint name="c" type="revolute"><origin xyz="0.3 0 0"/><parent link="two"/><child link="tool"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="10"/></joint>
  <link name="tool"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.05 0.05"/></geometry></collision></link>
</robot>"""


@pytest.fixture(scope="module")
def sliding(tmp_path_factory):
    """An arm with a sliding joint."""
    file = tmp_path_factory.mktemp("urdf") / "sliding.urdf"
    file.write_text(SLIDING)
    return arm_geometry(load_robot(str(file)))


@numba.njit
def arithmetic(rows):
    a, b = load(rows, 0), load(rows, 1)
    store(rows, 2, (a + b) * (a - 2.0 * b) / (absolute(b) + 1.0))
    store(rows, 3, sqrt(absolute(a)) + floor(b * 3.0))
    store(rows, 4, maximum(a, b) - minimum(a, 0.5))
    store(rows, 5, where_less(a, b, broadcast(1.0), a))
    return less_mask(a, b)


def test_arithmetic_of_lanes_is_that_of_numbers():
    rows = np.random.default_rng(0).uniform(-1.0, 1.0, (6, LANES)).astype(np.float32)
    bits = arithmetic(rows.reshape(-1))
    a, b = rows[0], rows[1]
    assert rows[2] == pytest.approx((a + b) * (a - 2 * b) / (np.abs(b) + 1), abs=1e-6)
    assert rows[3] == pytest.approx(np.sqrt(np.abs(a)) + np.floor(b * np.float32(3)), abs=1e-6)
    assert rows[4] == pytest.approx(np.maximum(a, b) - np.minimum(a, np.float32(0.5)), abs=1e-6)
    assert rows[5] == pytest.approx(np.where(a < b, 1.0, a))
    assert bits == sum(1 << i for i in range(LANES) if a[i] < b[i])


def put(batch, rows, delta, half):
    batch.q[:] = np.asarray(rows).T.ravel()
    batch.delta[:] = delta
    batch.half[:] = half


@pytest.mark.parametrize("name", ["panda", "sliding"])
@pytest.mark.lengthy
def test_sixteen_at_once_stand_where_one_at_a_time_does(name, panda, sliding, samples):
    geometry = panda if name == "panda" else sliding
    arm, poses = geometry.arm, link_poses_of(geometry.arm)
    arm32, batch, rows = arm32_of(arm), batch_of(arm, 1), samples(geometry, LANES)
    put(batch, rows, 0.0, 0.0)
    bound_motion(arm32, batch)
    batch_forward_kinematics(arm32, batch)
    body = batch.body.reshape(-1, BODY, LANES)
    for lane, q in enumerate(rows):
        forward_kinematics(arm, q, poses)
        assert body[:, :3, lane] == pytest.approx(poses.link, abs=3e-6)


@pytest.mark.lengthy
def test_clearance_of_sixteen_is_that_of_each(panda, obstacles, samples):
    world, poses = world_of(obstacles, 0.005), link_poses_of(panda.arm)
    arm32, batch = arm32_of(panda.arm), batch_of(panda.arm, len(obstacles))
    for seed in range(20):
        rows = samples(panda, LANES, seed)
        put(batch, rows, 0.0, 0.0)
        bound_motion(arm32, batch)
        check_batch(arm32, world, batch, 0.0, 0.1, False)
        for lane, q in enumerate(rows):
            d = clearance(panda.arm, world, poses, q)
            if d > 0.0:
                assert 0.1 * batch.ratio[lane] == pytest.approx(min(d, 0.1), abs=1e-5)
            else:
                assert batch.ratio[lane] <= 1e-4


@pytest.mark.parametrize("name", ["panda", "sliding"])
def test_every_piece_proved_free_is_free(name, panda, sliding, obstacles, samples):
    geometry = panda if name == "panda" else sliding
    world = world_of(obstacles[1:] if name == "panda" else [sphere("ball", 0.1, (0.2, 0.0, 0.9))])
    poses, arm32, batch = link_poses_of(geometry.arm), arm32_of(geometry.arm), batch_of(geometry.arm, 4)
    rng, proved = np.random.default_rng(2), 0
    for seed in range(12):
        rows = samples(geometry, LANES, 100 + seed)
        delta, half = rng.uniform(-1.0, 1.0, geometry.dof), rng.uniform(0.05, 0.3)
        put(batch, rows, delta, half)
        bound_motion(arm32, batch)
        check_batch(arm32, world, batch, 3e-5, 0.0, False)
        for lane, q in enumerate(rows):
            part = min(batch.ratio[lane], 1.0)
            if part > 0.0:
                proved += 1
                for t in np.linspace(-part * half, part * half, 15):
                    assert clearance(geometry.arm, world, poses, q + t * delta) > 0.0
    assert proved > 20


def test_a_collision_in_one_lane_is_told_at_once(panda):
    home = np.array(panda.robot.home)
    world = world_of([sphere("thing", 0.1, panda.robot.forward(home).translation)])
    arm32, batch = arm32_of(panda.arm), batch_of(panda.arm, 1)
    put(batch, np.tile(home, (LANES, 1)), 0.0, 0.0)
    bound_motion(arm32, batch)
    assert [check_batch(arm32, world, batch, 0.0, 0.0, True) for _ in range(3)] == [COLLIDES] * 3


@pytest.mark.lengthy
def test_motions_proved_free_are_free_and_motions_with_room_are_proved(panda, obstacles, samples):
    world, poses = world_of(obstacles, 0.005), link_poses_of(panda.arm)
    prover, seen = EdgeValidator(panda.arm, world), set()
    for a, away in zip(samples(panda, 150, 20), samples(panda, 150, 21), strict=True):
        b = a + 0.3 * (away - a)
        least_room = min(clearance(panda.arm, world, poses, a + t * (b - a)) for t in np.linspace(0.0, 1.0, 150))
        free = prover.free(a, b)
        assert free or least_room < 0.008
        assert least_room > 0.0 or not free
        seen.add(free)
    assert seen == {True, False}
