from __future__ import annotations

import itertools

import numpy as np
import pinocchio as pin
import pytest
from wrist_turns import turning_the_wrist

from telerobot_nodes.core.robot import (
    Kinematics,
    Posture,
    chain_of,
    forward,
    inverse,
    jacobian,
    load_robot,
    log6_error,
    workspace_of,
)
from telerobot_nodes.core.robot.kinematics import POSTURE_SPEED, POSTURE_STEP
from telerobot_nodes.core.values.frames import distance, pose_from_se3
from telerobot_nodes.errors import InvalidValueError, OutOfReachError


def box_path(robot, spacing: float = 0.02) -> np.ndarray:
    """From home along three edges of the workspace box, home's orientation."""
    T = robot.forward(robot.home)
    half = 0.5 * robot.workspace.size
    corners = [np.zeros(3), half * [-1, -1, -1], half * [1, -1, -1], half * [1, 1, -1], half * [1, 1, 1]]
    points = [corners[0]]
    for a, b in itertools.pairwise(corners):
        n = int(np.linalg.norm(b - a) / spacing)
        points += [a + (b - a) * i / n for i in range(1, n + 1)]
    return np.array([pose_from_se3(pin.SE3(T.rotation, T.translation + p)) for p in points])


def test_the_compiled_chain_agrees_with_pinocchio(robot):
    chain, ws = chain_of(robot.model, robot.tool_frame_id), workspace_of(robot.dof)
    rng = np.random.default_rng(0)
    for size in (3.0, 1.0, 1e-3, 1e-6, 0.0):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        forward(chain, q, ws)
        jacobian(chain, ws)
        T = robot.forward(q)
        assert np.allclose(ws.rotation, T.rotation, atol=1e-12)
        assert np.allclose(ws.position, T.translation, atol=1e-12)
        assert np.allclose(ws.jacobian, robot.jacobian(q), atol=1e-12)
        direction = rng.normal(size=6)
        goal = T * pin.exp6(size * direction / np.linalg.norm(direction[3:]))
        log6_error(ws, np.ascontiguousarray(goal.rotation), goal.translation)
        assert np.allclose(ws.error, pin.log6(T.actInv(goal)).vector, atol=1e-9)


def test_log6_survives_half_a_turn():
    robot = load_robot("arm")
    chain, ws = chain_of(robot.model, robot.tool_frame_id), workspace_of(6)
    forward(chain, np.array(robot.home), ws)
    for axis in np.eye(3):
        R = np.ascontiguousarray(ws.rotation @ pin.exp3(np.pi * axis))
        _, angle = log6_error(ws, R, ws.position)
        assert angle == pytest.approx(np.pi, abs=1e-7)
        assert np.abs(ws.error[3:]) == pytest.approx(np.pi * axis, abs=1e-6)


def test_steps_repeated_reach_the_goal(robot):
    kinematics = Kinematics(robot)
    goal = robot.forward(robot.home) * pin.exp6(np.array([0.05, -0.03, 0.02, 0.1, -0.1, 0.2]))
    q = robot.home.copy()
    for _ in range(30):
        kinematics.step(q, goal, out=q)
    assert max(distance(robot.forward(q), goal)) < 1e-9


def test_no_step_leaves_the_joint_limits_even_towards_a_pose_out_of_reach(robot):
    kinematics = Kinematics(robot)
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        goal = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3) * 2.0)
        for _ in range(60):
            kinematics.step(q, goal, out=q)
            assert (q >= robot.limits.lower).all() and (q <= robot.limits.upper).all()
        assert np.isfinite(q).all()


def test_motion_away_from_a_limit_is_free():
    robot = load_robot("arm")
    kinematics = Kinematics(robot)
    inside = robot.home.copy()
    at_limit = inside.copy()
    at_limit[0] = robot.limits.upper[0]
    target = at_limit.copy()
    target[0] -= 0.05
    q = kinematics.step(at_limit, robot.forward(target))
    assert q[0] == pytest.approx(target[0], abs=2e-3)


def test_at_a_joint_limit_the_other_joints_take_over():
    robot = load_robot("panda")
    kinematics = Kinematics(robot)
    q = robot.home.copy()
    q[2] = robot.limits.upper[2]
    T = robot.forward(q)
    goals = (T * pin.exp6(1e-3 * sign * unit) for unit in np.eye(6)[:3] for sign in (1.0, -1.0))
    towards_limit = [(goal, kinematics.step(q, goal)) for goal in goals]
    assert any(step[2] == q[2] for _, step in towards_limit)
    for goal, step in towards_limit:
        assert distance(robot.forward(step), goal)[0] < 2e-5


def test_steps_stay_small_at_a_singularity():
    robot = load_robot("arm")
    kinematics = Kinematics(robot)
    stretched = np.array([0.0, 0.5, -np.pi / 2 + 0.047, 0.0, 0.0, 0.0])
    assert kinematics.smallest_singular_value(stretched) < 0.01
    T = robot.forward(stretched)
    goal = pin.SE3(T.rotation, T.translation + T.rotation @ np.array([0.01, 0.01, 0.01]))
    assert np.abs(kinematics.step(stretched, goal) - stretched).max() <= 0.2 + 1e-12


def test_the_smallest_singular_values_of_many_configurations_are_those_of_each(robot):
    kinematics = Kinematics(robot)
    rows = np.random.default_rng(3).uniform(robot.limits.lower, robot.limits.upper, (50, robot.dof))
    rows[0, :] = 0.0
    each = [kinematics.smallest_singular_value(q) for q in rows]
    assert kinematics.smallest_singular_values(rows) == pytest.approx(each, abs=1e-6)


def test_the_smallest_singular_value_is_estimated_where_it_matters(robot):
    kinematics = Kinematics(robot)
    rng = np.random.default_rng(2)
    for _ in range(200):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        exact = kinematics.smallest_singular_value(q)
        if exact < inverse.SIGMA_SAFE:
            ws = kinematics._ws
            ws.jacobian[:] = robot.jacobian(q)
            ws.free[:] = 1.0
            assert inverse.smallest_singular(ws) == pytest.approx(exact, rel=0.05, abs=2e-6)


def test_a_posture_moves_a_redundant_arm_without_moving_the_tool():
    robot = load_robot("panda")
    kinematics = Kinematics(robot)
    T = robot.forward(robot.home)
    posture = robot.home + np.array([0.3, 0.0, -0.3, 0.0, 0.0, 0.0, 0.0])
    q = robot.home.copy()
    before = np.linalg.norm(posture - q)
    for _ in range(100):
        kinematics.step(q, T, posture=posture, out=q)
        assert max(distance(robot.forward(q), T)) < 5e-3
    assert np.linalg.norm(posture - q) < 0.8 * before
    for _ in range(10):
        kinematics.step(q, T, out=q)
    assert max(distance(robot.forward(q), T)) < 1e-9


def test_every_edge_of_the_workspace_box_is_reached_exactly_and_smoothly(robot):
    poses = box_path(robot)
    q = Kinematics(robot).solve_path(poses, robot.home)
    for row, pose in zip(q, poses, strict=True):
        T = robot.forward(row)
        assert np.linalg.norm(T.translation - pose[:3]) < 1e-6
    assert (q >= robot.limits.lower).all() and (q <= robot.limits.upper).all()
    assert np.abs(np.diff(q, axis=0)).max() < 0.2


def test_the_default_arm_is_far_from_singular_in_its_whole_box():
    robot = load_robot("arm")
    kinematics = Kinematics(robot)
    for q in kinematics.solve_path(box_path(robot), robot.home):
        assert kinematics.smallest_singular_value(q) > 0.08


def test_solving_for_the_present_pose_changes_nothing(robot):
    q = Kinematics(robot).solve(robot.forward(robot.home), robot.home)
    assert np.allclose(q, robot.home, atol=1e-9)


def test_a_pose_out_of_reach_is_told_by_its_row(robot):
    poses = box_path(robot)[:3].copy()
    poses[2, :3] = 5.0
    with pytest.raises(OutOfReachError, match=r"poses\[2\]"):
        Kinematics(robot).solve_path(poses, robot.home)


def test_a_jump_between_neighbours_is_refused(robot):
    poses = box_path(robot)[[0, -1]]
    with pytest.raises(OutOfReachError, match=r"poses\[1\].*more than 0.05 rad"):
        Kinematics(robot).solve_path(poses, robot.home, max_jump=0.05)


def test_solve_refuses_a_joint_that_would_turn_too_far():
    robot = load_robot("arm")
    T = robot.forward(robot.home + np.array([0.5, 0, 0, 0, 0, 0]))
    with pytest.raises(OutOfReachError, match="would turn"):
        Kinematics(robot).solve(T, robot.home, max_jump=0.1)


def test_bad_numbers_are_refused_by_field(robot):
    kinematics = Kinematics(robot)
    poses = box_path(robot)[:2].copy()
    poses[1, 2] = np.nan
    with pytest.raises(InvalidValueError, match="poses"):
        kinematics.solve_path(poses, robot.home)
    with pytest.raises(InvalidValueError, match="q_seed"):
        kinematics.solve_path(box_path(robot)[:2], robot.home[:-1])


def test_read_only_arguments_set_off_no_compilation(robot):
    kinematics = Kinematics(robot)
    kinematics.step(np.array(robot.home), robot.forward(robot.home))
    known = len(inverse.inverse_step.signatures)
    kinematics.step(robot.home, robot.forward(robot.home), posture=robot.home)
    assert len(inverse.inverse_step.signatures) == known


def circles(robot, count, per=200, radius=0.1):
    """Tool poses (n, 7) of horizontal circles through home, with a turn that comes back as well."""
    T = robot.forward(robot.home)
    angle = 2.0 * np.pi * np.arange(count * per + 1) / per
    offsets = radius * np.column_stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros(angle.size)])
    turns = [pin.exp3(0.3 * np.array([np.sin(a), 0.0, np.cos(a) - 1.0])) for a in angle]
    return np.array(
        [pose_from_se3(pin.SE3(R @ T.rotation, T.translation + d)) for R, d in zip(turns, offsets, strict=True)]
    )


def test_a_redundant_arm_does_not_drift_on_closed_paths_when_it_is_pulled_to_where_it_began():
    robot = load_robot("panda")
    kinematics, poses, home = Kinematics(robot), circles(robot, 5), np.array(robot.home)
    free = kinematics.solve_path(poses, home)
    pulled = kinematics.solve_path(poses, home, posture=Posture(home))
    assert np.abs(free[-1] - home).max() > 0.3
    assert np.abs(pulled[::200] - home).max() < 0.005
    off = [distance(robot.forward(q), pin.XYZQUATToSE3(pose)) for q, pose in zip(pulled, poses, strict=True)]
    assert np.max(off) < 1e-8
    assert np.abs(np.diff(pulled, axis=0)).max() < 2.0 * np.abs(np.diff(free, axis=0)).max()


def test_hints_move_the_elbow_by_plan_time_and_no_faster_while_the_tool_is_exact_and_may_stand():
    robot = load_robot("panda")
    home, pose = np.array(robot.home), pose_from_se3(robot.forward(robot.home))
    far = np.tile(home + np.array([1.5, 0.0, -1.5, 0.0, 0.0, 0.0, 0.0]), (50, 1))
    poses, times = np.tile(pose, (50, 1)), 0.1 * np.arange(1, 51)
    hinted = Posture.of(home, far, times, 0.0)
    q = Kinematics(robot).solve_path(poses, home, posture=hinted)
    steps = np.linalg.norm(np.diff(q, axis=0, prepend=home[None]), axis=1)
    assert steps[:10] == pytest.approx(POSTURE_SPEED * 0.1, rel=0.05)
    assert steps.max() < 1.05 * POSTURE_SPEED * 0.1
    assert np.linalg.norm(far[0] - q[-1]) < np.linalg.norm(far[0] - home) - 0.5
    assert max(max(distance(robot.forward(row), pin.XYZQUATToSE3(pose))) for row in q) < 1e-8


def test_a_long_time_before_a_point_is_no_leave_for_a_large_pull():
    robot = load_robot("panda")
    home, pose = np.array(robot.home), pose_from_se3(robot.forward(robot.home))[None]
    far = home[None] + np.array([2.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0])
    q = Kinematics(robot).solve_path(pose, home, posture=Posture.of(home, far, np.array([1000.0]), 0.0))[0]
    assert 0.05 < np.linalg.norm(q - home) < 1.1 * POSTURE_STEP
    first = Kinematics(robot).solve_path(pose, home, posture=Posture.of(home, far, np.array([1000.0]), None))[0]
    assert first == pytest.approx(home, abs=1e-12)


def test_without_hints_the_elbow_stands_while_the_tool_stands():
    robot = load_robot("panda")
    kinematics, home = Kinematics(robot), np.array(robot.home)
    away = kinematics.solve_path(circles(robot, 1)[:60], home)[-1]
    stands = np.tile(pose_from_se3(robot.forward(away)), (20, 1))
    q = kinematics.solve_path(stands, away, posture=Posture(home))
    assert np.abs(q - away).max() < 1e-8


@pytest.mark.parametrize("name", ["arm", "ur5"])
def test_an_arm_of_six_joints_has_no_posture_to_choose(name):
    robot = load_robot(name)
    kinematics, poses, other = Kinematics(robot), box_path(robot), np.array(robot.home) + 0.3
    hinted = Posture.of(other, np.tile(other, (len(poses), 1)), 0.1 * np.arange(len(poses)), 0.0)
    free = kinematics.solve_path(poses, robot.home)
    for posture in (hinted, Posture(other)):
        assert np.array_equal(kinematics.solve_path(poses, robot.home, posture=posture), free)


def test_a_point_that_its_pull_would_make_unreachable_is_solved_without():
    robot = load_robot("panda")
    kinematics, poses, home = Kinematics(robot), circles(robot, 1)[:40], np.array(robot.home)
    hints = np.tile(home + np.array([3.0, 0.0, -3.0, 0.0, 0.0, 0.0, 3.0]), (len(poses), 1))
    q = kinematics.solve_path(poses, home, max_jump=0.03, posture=Posture.of(home, hints, np.arange(1.0, 41.0), 0.0))
    assert np.abs(np.diff(q, axis=0)).max() <= 0.03


def test_beside_a_singularity_the_joints_are_found_exactly():
    """The wrist turns half a turn while the tool passes 10 mrad beside it."""
    robot = load_robot("arm")
    poses, start = beside_the_wrist(robot, 0.01, 0.002)
    kinematics = Kinematics(robot)
    q = kinematics.solve_path(poses, start)
    assert kinematics.smallest_singular_values(q).min() < 0.006
    assert (
        max(max(distance(robot.forward(row), pin.XYZQUATToSE3(pose))) for row, pose in zip(q, poses, strict=True))
        < 1e-8
    )


def beside_the_wrist(robot, side, step):
    """Poses (n, 7) of a turn of joint 5, `side` [rad] beside; joints (dof,) where it begins."""
    poses, q = turning_the_wrist(robot, step, side)
    return poses, Kinematics(robot).solve(pin.XYZQUATToSE3(poses[0]), q)


def test_the_deviation_is_that_of_the_tool_half_way(robot):
    poses = box_path(robot, spacing=0.1)
    kinematics = Kinematics(robot)
    q = kinematics.solve_path(poses, robot.home, max_jump=np.inf)
    turned = pin.SE3(pin.XYZQUATToSE3(poses[1])).rotation @ pin.exp3(np.array([0.0, 0.2, 0.0]))
    poses[1] = pose_from_se3(pin.SE3(turned, poses[1, :3])) * np.array([1.0] * 3 + [-1.0] * 4)
    away, turns = kinematics.deviations(q, poses)
    for k in range(len(poses) - 1):
        T = robot.forward(0.5 * (q[k] + q[k + 1]))
        assert away[k] == pytest.approx(np.linalg.norm(T.translation - 0.5 * (poses[k, :3] + poses[k + 1, :3])))
        a, b = (pin.XYZQUATToSE3(poses[i]).rotation for i in (k, k + 1))
        even = a @ pin.exp3(0.5 * pin.log3(a.T @ b))
        assert turns[k] == pytest.approx(np.linalg.norm(pin.log3(even.T @ T.rotation)), abs=1e-9)
    assert away.max() > 1e-3
    assert turns[:2] == pytest.approx(0.1, abs=0.03)
