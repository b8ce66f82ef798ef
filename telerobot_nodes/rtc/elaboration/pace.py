"""How long each straight piece of a path takes, so that tool and joints keep their limits [JPL-RTC section 3.1].

The executive stands still at the ends of each piece. A piece thus takes a ramp longer than its length at full speed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray, pose_distance
from telerobot_nodes.rtc.elaboration.straight_pieces import pose_length
from telerobot_nodes.rtc.skills import RAMP_TIME

RAMP_PEAK = 1.5  # [-] peak over mean acceleration of the executive's ramps (`motion/primitives/trajectory.py`)
STANDING = 0.05  # [s] for a piece of no length
SAMPLE = 0.025  # [rad] of a joint, between the places where a joint motion is examined
FEWEST, MOST = 8, 400  # samples of a joint motion
TINY = 1e-9  # [m], [rad] a piece of no length


@dataclass(frozen=True)
class Limits:
    """What a motion may not exceed."""

    tool: float  # [m/s]
    turn: float  # [rad/s]
    joint: float  # [rad/s]
    acceleration: float | None = None  # [m/s^2] of the tool


@dataclass(frozen=True)
class PieceSize:
    """Ways of one straight piece, each as long as if all of it were as fast as its fastest part."""

    tool: float  # [m]
    turn: float  # [rad]
    joint: float  # [rad]
    bend: float = 0.0  # [m] acceleration of the tool in a piece that takes 1 s at constant speed


@dataclass(frozen=True)
class Pace:
    """Times of straight pieces: all of each, and its ramp at either end, both [s]."""

    pieces: tuple[float, ...]
    ramps: tuple[float, ...]

    def at_least(self, duration: float) -> Pace:
        """The same, made as long as `duration` [s] where it is shorter."""
        total = sum(self.pieces)
        if total >= duration:
            return self
        return Pace(tuple(piece * duration / total for piece in self.pieces), self.ramps)


def joint_piece(forward: Callable[[FloatArray], FloatArray], start: FloatArray, end: FloatArray) -> PieceSize:
    """The size of a straight joint motion from `start` to `end` (dof,); `forward`: pose (7,) of the tool at joints."""
    joint = float(np.abs(end - start).max())
    if joint < TINY:
        return PieceSize(0.0, 0.0, 0.0)
    n = int(np.clip(np.ceil(joint / SAMPLE), FEWEST, MOST))
    poses = np.array([forward(start + (end - start) * k / n) for k in range(n + 1)])
    tool, turn = np.max([pose_distance(a, b) for a, b in itertools.pairwise(poses)], axis=0)
    bend = np.linalg.norm(np.diff(poses[:, :3], n=2, axis=0), axis=1).max()
    return PieceSize(n * float(tool), n * float(turn), joint, n * n * float(bend))


def task_piece(poses: FloatArray, joints: FloatArray) -> PieceSize:
    """The size of a straight motion of the tool through `poses` (n, 7), with the joints (n, dof) that take it there."""
    tool, turn = pose_distance(poses[0], poses[-1])
    if tool + turn < TINY:
        return PieceSize(0.0, 0.0, 0.0)
    swing = np.abs(np.diff(joints, axis=0)).max(axis=1)
    way = np.array([pose_length(a, b) for a, b in itertools.pairwise(poses)])
    share = np.maximum(way / way.sum(), 0.5 / len(way))  # of a row close to the next, rounding is most
    return PieceSize(tool, turn, float((swing / share).max()))


def pace_of(sizes: Sequence[PieceSize], limits: Limits, ramp_time: float = RAMP_TIME) -> Pace:
    """The shortest pace that keeps the limits; one of acceleration makes `ramp_time` [s] longer."""
    pieces, ramps = zip(*(_timed(size, limits, ramp_time) for size in sizes), strict=True)
    return Pace(pieces, ramps)


def _timed(size: PieceSize, limits: Limits, ramp: float) -> tuple[float, float]:
    """Time of a piece and of its ramp [s]."""
    cruise = max(size.tool / limits.tool, size.turn / limits.turn, size.joint / limits.joint)  # [s] without ramps
    if cruise <= 0.0:
        return STANDING, ramp
    most = limits.acceleration
    if most is not None and size.tool > TINY:
        cruise = max(cruise, float(np.sqrt((RAMP_PEAK * size.tool + size.bend) / most)))  # the shorter it is: all ramps
        along = most - size.bend / cruise**2  # what the bend leaves
        ramp = max(ramp, RAMP_PEAK * size.tool / (cruise * along))
    return max(cruise, ramp) + ramp, ramp
