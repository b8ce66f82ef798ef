"""Distances of the sphere model: never larger than those of the true shapes, exact against obstacles; proofs hold."""

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes, load_robot
from telerobot_nodes.cspace.geometry import (
    Attachment,
    arm_geometry,
    bound_cell,
    box,
    clearance,
    link_poses_of,
    nearest,
    probe,
    sphere,
    sphere_centers,
    sphere_motion_bounds,
    touches,
    touches_itself,
    world_of,
)
from telerobot_nodes.cspace.geometry.distances import distance, nearest_point


class Exact:
    """The true shapes in coal: the reference."""

    def __init__(self, geometry):
        robot = self.robot = geometry.robot
        self.pairs, self.first = geometry.checked, geometry.arm.first_moving
        self.shapes = [(s.link, s.body, s.solid, T) for s in link_shapes(robot) for T in s.placements]

    def placed(self, q):
        pin.forwardKinematics(self.robot.model, self.robot.data, q)
        frames = [self.robot.T_world_base, *list(self.robot.data.oMi)[1:]]
        return [
            (link, body, solid, (frames[link] if link else pin.SE3.Identity()) * T)
            for link, body, solid, T in self.shapes
        ]

    @staticmethod
    def gap(a, T_a, b, T_b):
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        A = coal.Transform3s(T_a.rotation, T_a.translation)
        return coal.distance(a, A, b, coal.Transform3s(T_b.rotation, T_b.translation), request, result)

    def clearance(self, q, solids):
        placed = self.placed(q)
        gaps = [self.gap(s, T, o, T_o) for link, _, s, T in placed if link >= self.first for o, T_o in solids]
        for a, b in self.pairs:
            first = [(s, T) for _, body, s, T in placed if body == a]
            gaps += [self.gap(s, T, u, U) for s, T in first for _, body, u, U in placed if body == b]
        return min(gaps)


def solid_of(obstacle):
    T = obstacle.T_world_obstacle
    if obstacle.kind == "half_space":
        deep = coal.Box(20.0, 20.0, 20.0)
        return deep, T * pin.SE3(np.eye(3), np.array([0, 0, -10.0]))
    size = obstacle.size
    kinds = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}
    return kinds[obstacle.kind](*size), T


@pytest.mark.brief(1)
@pytest.mark.parametrize("name", ["arm", "panda", "ur5"])
@pytest.mark.lengthy
def test_the_balls_are_never_farther_away_than_the_true_shapes(name, obstacles, samples):
    geometry = arm_geometry(load_robot(name))
    world, exact = world_of(obstacles), Exact(geometry)
    solids = [solid_of(o) for o in obstacles]
    poses, closest = link_poses_of(geometry.arm), []
    for q in samples(geometry, 40 if name == "ur5" else 120):
        ours, true = nearest(geometry.arm, world, poses, q, 2.0)[0], exact.clearance(q, solids)
        if true > 0.0:
            assert ours <= true + 1e-6
            closest.append(true - ours)
        else:
            assert ours <= 1e-6
    assert np.median(closest) < 0.08  # and not uselessly far


def test_distances_to_obstacles_are_those_of_coal(obstacles):
    world, rng = world_of(obstacles), np.random.default_rng(3)
    for o, obstacle in enumerate(obstacles):
        solid, T = solid_of(obstacle)
        for point in rng.uniform(-1.0, 1.5, (60, 3)):
            true = Exact.gap(coal.Sphere(1e-4), pin.SE3(np.eye(3), point), solid, T) + 1e-4
            ours = distance(world, o, point)
            assert ours == pytest.approx(true, abs=1e-5) or (ours < 0.0 and true < 1e-4)


def test_the_normal_is_the_gradient_of_the_distance(obstacles):
    world, rng, normal = world_of(obstacles), np.random.default_rng(4), np.zeros(3)
    for o in range(len(obstacles)):
        for point in rng.uniform(-1.0, 1.5, (60, 3)):
            nearest_point(world, o, point, normal)
            here = distance(world, o, point)
            assert distance(world, o, point + 1e-4 * normal) == pytest.approx(here + 1e-4, abs=2e-6)


@pytest.mark.lengthy
def test_no_ball_moves_farther_than_its_bound_anywhere_in_a_cell(geometry, samples):
    rng = np.random.default_rng(5)
    for q in samples(geometry, 20, 6):
        half = rng.uniform(0.0, 0.8, q.size) * (rng.uniform(size=q.size) < 0.7)
        bounds, start = sphere_motion_bounds(geometry.arm, q, half), sphere_centers(geometry.arm, q)
        corners = np.where(rng.uniform(size=(40, q.size)) < 0.5, -1.0, 1.0)
        inner = rng.uniform(-1.0, 1.0, (40, q.size))
        for u in np.vstack([corners, inner]):
            moved = np.linalg.norm(sphere_centers(geometry.arm, q + u * half) - start, axis=1)
            assert (moved <= bounds + 1e-9).all()


def test_the_bound_of_one_joint_alone_is_reached(geometry, samples):
    q = samples(geometry, 1, 7)[0]
    for joint in range(q.size):
        half = np.zeros(q.size)
        half[joint] = 0.5
        moved = np.linalg.norm(sphere_centers(geometry.arm, q + half) - sphere_centers(geometry.arm, q), axis=1)
        assert moved == pytest.approx(sphere_motion_bounds(geometry.arm, q, half), abs=1e-8)


@pytest.mark.lengthy
def test_every_configuration_of_a_cell_proved_free_is_free(geometry, obstacles, samples):
    world, poses, rng, proved = world_of(obstacles, 0.005), link_poses_of(geometry.arm), np.random.default_rng(8), 0
    for q in samples(geometry, 400, 9):
        half = rng.uniform(0.0, 0.15, q.size)
        ratio = probe(geometry.arm, world, poses, q, half)
        if ratio <= 0.0:
            assert clearance(geometry.arm, world, poses, q) <= 0.0
            continue
        proved += 1
        for u in rng.uniform(-1.0, 1.0, (20, q.size)):
            assert clearance(geometry.arm, world, poses, q + ratio * u * half) > 0.0
    assert proved > 50


def test_every_configuration_of_a_cell_proved_full_collides(geometry, obstacles, samples):
    world, poses, rng, proved = world_of(obstacles, 0.005), link_poses_of(geometry.arm), np.random.default_rng(10), 0
    for q in samples(geometry, 300, 11):
        half = rng.uniform(0.0, 0.04, q.size)
        bound_cell(geometry.arm, poses, q, half)
        full = touches_itself(geometry.arm, world, poses)[1]
        full = full or any(touches(geometry.arm, world, poses, o)[1] for o in range(len(obstacles)))
        if full:
            proved += 1
            for u in rng.uniform(-1.0, 1.0, (20, q.size)):
                assert clearance(geometry.arm, world, poses, q + u * half) <= 0.0
    assert proved > 20


def test_a_margin_is_taken_off_every_distance(panda, samples):
    poses, table = link_poses_of(panda.arm), [box("table", (0.5, 0.5, 0.1), (0.6, 0.0, 0.1))]
    near = world_of(table, 0.0)
    far = world_of(table, 0.03, 0.03)
    for q in samples(panda, 20, 12):
        a, b = clearance(panda.arm, near, poses, q), clearance(panda.arm, far, poses, q)
        assert b == pytest.approx(a - 0.03, abs=1e-8) or a >= 0.97


def test_what_the_tool_holds_counts(panda):
    held = Attachment(sphere("held", 0.05, (0.0, 0.0, 0.3)))
    loaded = arm_geometry(panda.robot, [held])
    q = np.array(panda.robot.home)
    there = panda.robot.forward(q).act(np.array([0.0, 0.0, 0.3]))
    world = world_of([sphere("it", 0.02, there)])
    assert clearance(panda.arm, world, link_poses_of(panda.arm), q) > 0.0
    assert clearance(loaded.arm, world, link_poses_of(loaded.arm), q) < 0.0
    assert loaded.key() != panda.key()
    assert "held" in loaded.sphere_names


def test_an_empty_world_leaves_only_the_arm_itself(panda):
    q = np.array(panda.robot.home)
    d, _, other = nearest(panda.arm, world_of([]), link_poses_of(panda.arm), q, 1.0)
    assert d > 0.0
    assert other < 0
