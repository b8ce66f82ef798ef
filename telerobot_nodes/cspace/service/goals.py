"""Tool poses to joint goals: several solutions from several seeds, the promising ones first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import Kinematics, RobotModel
from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.cspace.search import Planner
from telerobot_nodes.errors import OutOfReachError

SEEDS = 24  # joint configurations from which a solution is sought, besides start and home
TURNS = 8  # orientations inside the tolerance that are tried
TURN = 2.0 * np.pi  # [rad]
PLACES = 4  # of one goal that are planned to
MOST_PLACES = 4096  # looked at
SAME = 0.05  # [rad] solutions nearer than this to each other count once
ENOUGH = 0.05  # [m] clearance beyond which more is not worth a longer way
WORTH = 20.0  # [rad/m] of way that a metre of clearance at the goal is worth


def solutions(planner: Planner, start: FloatArray, pose: FloatArray, tolerance: FloatArray) -> list[FloatArray]:
    """Different joint solutions (dof,) [rad] inside the limits, in the order they were found.

    Raises OutOfReachError when no seed leads to one.
    """
    robot = planner.geometry.robot
    kinematics = Kinematics(robot)
    seeds = [start, np.array(robot.home), *_spread(robot.limits.lower, robot.limits.upper)]
    found: list[FloatArray] = []
    for T in _turned(se3_from_pose(pose, "pose_goal"), tolerance):
        for seed in seeds:
            try:
                q = kinematics.solve(T, seed, max_jump=np.inf)
            except OutOfReachError:
                continue
            if all(np.abs(q - other).max() > SAME for other in found):
                found.append(q)
    if not found:
        tried = f"{len(seeds)} seeds" + (", with the tolerance" if tolerance.any() else "")
        text = ", ".join(f"{value:.3f}" for value in pose)
        raise OutOfReachError(f"pose_goal [{text}]: unreachable, no joint solution inside the limits from {tried}")
    return found


def same_places(robot: RobotModel, start: FloatArray, goal: FloatArray) -> list[FloatArray]:
    """The goal (n,) [rad] and, where joints turn without end stops, what is the same place: the nearest to start first.

    At most PLACES of them, all inside the limits.
    """
    turns = [
        [t for t in (-2, -1, 0, 1, 2) if robot.limits.lower[i] <= q + t * TURN <= robot.limits.upper[i]]
        if name in robot.continuous
        else [0]
        for i, (name, q) in enumerate(zip(robot.joint_names, goal.tolist(), strict=True))
    ]
    places = [goal + TURN * np.array(each) for each in itertools.islice(itertools.product(*turns), MOST_PLACES)]
    return sorted(places, key=lambda q: float(np.linalg.norm(q - start)))[:PLACES]


def ranked(planner: Planner, start: FloatArray, candidates: list[FloatArray]) -> list[tuple[float, FloatArray]]:
    """Clearance [m] and joints of each candidate: free ones first, a short way and room at the goal weighed."""
    rated = [(planner.status(q)[0], q) for q in candidates]

    def price(entry: tuple[float, FloatArray]) -> tuple[bool, float]:
        clearance, q = entry
        if clearance <= 0.0:
            return True, -clearance
        return False, float(np.linalg.norm(q - start)) - WORTH * min(clearance, ENOUGH)

    return sorted(rated, key=price)


def _spread(lower: FloatArray, upper: FloatArray) -> list[FloatArray]:
    """Configurations that fill the joint range evenly, the same ones every time."""
    powers = np.arange(1, lower.size + 1)
    root = 2.0
    for _ in range(40):  # the plastic-number sequence: its ratio solves x^(n + 1) = x + 1
        root = (1.0 + root) ** (1.0 / (lower.size + 1))
    steps = root ** (-powers.astype(np.float64))
    return [lower + np.mod(0.5 + (i + 1) * steps, 1.0) * (upper - lower) for i in range(SEEDS)]


def _turned(T: pin.SE3, tolerance: FloatArray) -> Iterator[pin.SE3]:
    """The pose, then poses turned about its axes inside the tolerance."""
    yield T
    if not tolerance.any():
        return
    corners = itertools.islice(itertools.product((0.5, -0.5, 1.0, -1.0), repeat=int((tolerance > 0.0).sum())), 64)
    shares = list(corners)
    for share in shares[:: max(1, len(shares) // TURNS)]:
        turn = np.zeros(3)
        turn[tolerance > 0.0] = np.array(share) * tolerance[tolerance > 0.0]
        yield pin.SE3(T.rotation @ pin.rpy.rpyToMatrix(turn), T.translation)
