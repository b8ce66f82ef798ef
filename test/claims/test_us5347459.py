"""A test per claim of US5347459: paths planned in configuration space, executed beside an artificial force field.

Claims 8 to 14 say of robotic manipulators what 1 to 7 say of mobile objects; 15 to 21 and 22 to 28 say both as
methods. Each group of four is shown by one test, on manipulators.
"""

import math

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.timing import time_path
from telerobot_nodes.cspace.geometry import (
    ArmPredictor,
    FieldSettings,
    ForceField,
    arm_geometry,
    box,
    clearance,
    link_poses_of,
    sphere,
    sphere_centers,
    world_of,
)
from telerobot_nodes.cspace.multi_arm import sampled
from telerobot_nodes.cspace.multi_arm.execution import Execution
from telerobot_nodes.cspace.search import CellDatabase, EdgeValidator, Planner, check_certificate
from telerobot_nodes.cspace.search.cells import FREE, FULL, MIXED
from telerobot_nodes.cspace.search.edge_validation import edges_of
from telerobot_nodes.cspace.search.trial_path import orthogonal_basis, trial_of, trial_path


@pytest.fixture(scope="module")
def pair():
    """Two manipulators in a common workspace."""
    turned = pin.SE3(pin.utils.rotate("z", math.pi), np.array([1.2, 0.0, 0.0]))
    return arm_geometry(load_robot("panda")), arm_geometry(load_robot("panda", T_world_base=turned))


@pytest.fixture(scope="module")
def query(pair):
    """A pole stands in the straight way of the first arm."""
    turn = np.array([1.0, 0, 0, 0, 0, 0, 0])
    home = np.array(pair[0].robot.home)
    return home - turn, home + turn, [box("pole", (0.04, 0.04, 0.3), pair[0].robot.forward(home).translation)]


def apart(pair, q, p):
    a, b = sphere_centers(pair[0].arm, q), sphere_centers(pair[1].arm, p)
    gap = np.linalg.norm(a[:, None] - b[None], axis=2)
    return float((gap - pair[0].arm.sphere_radius[:, None] - pair[1].arm.sphere_radius[None]).min())


def executed(pair, obstacles, paths, settings=None):
    """Both arms follow their paths as commanded: least clearance from obstacles, between arms, and all positions."""
    execution = Execution(pair, obstacles, paths, 0.01, settings)
    worlds = [(world_of(obstacles, margin=0.0), link_poses_of(geometry.arm)) for geometry in pair]
    q, v = [path.path[0].copy() for path in paths], [np.zeros(7), np.zeros(7)]
    from_obstacles, from_each_other, rows = [], [], []
    for _ in range(1500):
        setpoints = execution.step(q, v)
        v = [(s - old) / 0.01 for s, old in zip(setpoints, q, strict=True)]
        q = [s.copy() for s in setpoints]
        rows.append(np.concatenate(q))
        from_obstacles += [clearance(g.arm, *placed, row) for g, placed, row in zip(pair, worlds, q, strict=True)]
        from_each_other.append(apart(pair, *q))
        if execution.arrived:
            break
    assert execution.arrived
    return min(from_obstacles), min(from_each_other), np.array(rows)


@pytest.mark.lengthy
def test_claims_1_8_15_22_a_coarse_plan_is_executed_with_a_field_that_keeps_objects_apart(pair, query):
    home, goal, obstacles = query
    plan = Planner(pair[0], obstacles).plan(home, goal)
    assert plan.found
    still = np.array(pair[1].robot.home)
    paths = [time_path(plan.path, pair[0].robot.limits), time_path(np.array([still, still]), pair[1].robot.limits)]
    from_obstacles, from_each_other, rows = executed(pair, obstacles, paths)
    assert min(from_obstacles, from_each_other) > 0.0
    assert np.abs(rows[-1, :7] - goal).max() < 0.02
    without, _, planned = executed(pair, obstacles, paths, FieldSettings(gain=0.0))
    assert from_obstacles > without + 0.002  # the paths followed are determined in part by the planner ...
    rounds = min(len(rows), len(planned))
    assert np.abs(rows[:rounds] - planned[:rounds]).max() > 0.005  # ... and in part by the field


def test_claims_2_9_16_23_cells_are_full_free_or_mixed_and_the_plan_keeps_to_free_ones(pair, query):
    home, goal, obstacles = query
    planner = Planner(pair[0], obstacles)
    plan = planner.plan(home, goal)
    checked = check_certificate(plan.certificate, plan.path, pair[0], obstacles, planner.settings.margin)
    assert checked.valid, checked.reason
    cells = CellDatabase(pair[0], obstacles)
    assert cells.status[0] == MIXED
    assert cells.status[cells.refine(home, 0.01)] == FREE
    assert cells.status[cells.refine(0.5 * (home + goal), 0.002)] == FULL


def test_claims_3_10_17_24_segments_are_timed_under_dynamic_constraints(pair, query):
    home, goal, obstacles = query
    plan = Planner(pair[0], obstacles).plan(home, goal)
    limits = pair[0].robot.limits
    timed = time_path(plan.path, limits)
    for t in np.linspace(0.0, timed.duration, 500):
        _, v, a = timed.at(float(t))
        assert (np.abs(v) <= limits.velocity + 1e-9).all()
        assert (np.abs(a) <= limits.acceleration + 1e-9).all()


def test_claims_4_11_18_25_the_interpolated_path_is_timed_by_the_same_constraints(pair, query):
    home, goal, obstacles = query
    plan = Planner(pair[0], obstacles).plan(home, goal)
    limits, period = pair[0].robot.limits, 0.01
    fine = sampled(time_path(plan.path, limits), period)
    assert len(fine) > 10 * len(plan.path)
    assert (np.abs(np.diff(fine, axis=0)) <= period * limits.velocity + 1e-9).all()


def test_claims_5_12_19_26_other_trial_paths_are_chosen_when_the_first_collides(pair, query):
    home, goal, obstacles = query
    planner = Planner(pair[0], obstacles)
    assert not EdgeValidator(pair[0].arm, planner.world).free(home, goal)
    plan = planner.plan(home, goal)
    assert plan.found
    assert plan.stage == "trial"
    assert len(plan.path) > 2


def test_claims_6_13_20_27_trial_waypoints_lie_on_lines_orthogonal_to_the_trial_path(pair, query):
    home, goal, obstacles = query
    arm, world = pair[0].arm, world_of(obstacles)
    poses, edges, trial = link_poses_of(arm), edges_of(arm), trial_of(7)
    edges.effort.budget = 600
    count, straight = trial_path(arm, world, edges, trial, home, goal, 2e-3), goal - home
    assert count > 2
    parts = np.linspace(0.0, 1.0, 2001)
    collides = [part for part in parts if clearance(arm, world, poses, home + part * straight) <= 0.0]
    middle = home + 0.5 * (collides[0] + collides[-1]) * straight
    piece = np.linalg.norm(straight) / 16.0  # the collision region's ends are found to sixteenths of the path
    off = [abs((q - middle) @ straight) / np.linalg.norm(straight) for q in trial.path[1 : count - 1]]
    waypoint = trial.path[1 + int(np.argmin(off))]  # the first one; the others stand beside its halves
    assert min(off) < piece
    assert np.linalg.norm(waypoint - middle) > 0.2
    assert clearance(arm, world, poses, waypoint) > 0.0
    basis = np.zeros((7, 7))
    assert orthogonal_basis(straight, basis) == 6
    assert basis[:6] @ straight == pytest.approx(np.zeros(6), abs=1e-12)
    assert basis[:6] @ basis[:6].T == pytest.approx(np.eye(6), abs=1e-12)


def test_claims_7_14_21_28_the_dynamic_model_predicts_the_configuration(pair):
    robot = pair[0].robot
    predictor = ArmPredictor(robot)
    q, v = np.array(robot.home), np.full(7, 0.2)
    at_rest = pin.rnea(robot.model, robot.new_data(), q, v, np.zeros(7))
    predicted = predictor.predict(q, v, at_rest, 0.02)
    assert predicted == pytest.approx(q + 0.02 * v, abs=1e-9)
    pushed = predictor.predict(q, v, at_rest + 5.0, 0.02)
    assert np.abs(pushed - predicted).max() > 1e-5


def test_claims_7_14_21_28_the_control_law_and_the_field_use_the_predicted_configuration(pair):
    home = np.array(pair[0].robot.home)
    near = [sphere("near", 0.05, pair[0].robot.forward(home).translation + np.array([0.16, 0.0, 0.0]))]
    robots = [geometry.robot for geometry in pair]
    paths = [time_path(np.array([home, home + 0.1]), robot.limits) for robot in robots]
    q, v = [home + 0.02, home], [np.full(7, 0.3), np.zeros(7)]
    effort = [pin.rnea(r.model, r.new_data(), *state, np.full(7, 20.0)) for r, *state in zip(robots, q, v, strict=True)]

    def stepped(places, horizon):
        execution = Execution(pair, near, paths, 0.01, horizon=horizon)
        setpoints = execution.step(places, v, effort)
        assert execution.pushed[0]
        return np.array(setpoints), execution.field.least[0]

    predicted = [ArmPredictor(r).predict(a, b, e, 0.02) for r, a, b, e in zip(robots, q, v, effort, strict=True)]
    (ahead, gap_ahead), (told, gap_told), (now, gap_now) = stepped(q, 0.02), stepped(predicted, 0.0), stepped(q, 0.0)
    assert ahead == pytest.approx(told, abs=1e-12)
    assert gap_ahead == pytest.approx(gap_told, abs=1e-12)
    assert np.abs(ahead - now).max() > 1e-4
    assert abs(gap_ahead - gap_now) > 1e-4


def test_the_field_acts_on_proximity_alone(pair):
    home = np.array(pair[0].robot.home)
    field = ForceField(pair, [sphere("far", 0.1, (0.0, 0.0, 3.0))])
    assert not any(v.any() for v in field.step([home, home]))
