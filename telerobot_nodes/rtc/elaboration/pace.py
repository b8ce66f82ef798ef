"""How long each straight piece of a path takes, so that tool and joints keep their speeds [JPL-RTC section 3.1].

The executive stands still at the ends of each piece. A piece thus takes a ramp longer than its length at full speed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray, pose_distance
from telerobot_nodes.rtc.elaboration.straight_pieces import pose_length
from telerobot_nodes.rtc.skills import RAMP_TIME, Space

RAMP_PEAK = 1.5  # [-] peak over mean acceleration of the executive's ramps
STANDING = 0.05  # [s] for a piece of no length
LEAST_SHARE = 1e-6  # [-] of a piece: a row that adds less has no speed of its own
TINY = 1e-9  # [rad] a piece of no length


@dataclass(frozen=True)
class Speeds:
    """What a motion may not exceed."""

    tool: float  # [m/s]
    turn: float  # [rad/s]
    joint: float  # [rad/s]
    acceleration: float | None = None  # [m/s^2] of the tool


@dataclass(frozen=True)
class Pace:
    """`pieces` [s] of each straight piece, with ramps of `ramp_time` [s] at both ends of each."""

    pieces: tuple[float, ...]
    ramp_time: float

    def at_least(self, duration: float) -> Pace:
        """The same, made as long as `duration` [s] where it is shorter."""
        total = sum(self.pieces)
        if total >= duration:
            return self
        return Pace(tuple(piece * duration / total for piece in self.pieces), self.ramp_time)


@dataclass(frozen=True)
class PieceSize:
    """Ways of one straight piece, each as long as if all of it were as fast as its fastest part."""

    tool: float  # [m]
    turn: float  # [rad]
    joint: float  # [rad]


def piece_size(space: Space, poses: FloatArray, joints: FloatArray) -> PieceSize:
    """The size of a straight piece with tool poses (n, 7) and joint positions (n, dof)."""
    moved = np.array([pose_distance(a, b) for a, b in itertools.pairwise(poses)]).reshape(-1, 2)
    swing = np.abs(np.diff(joints, axis=0)).max(axis=1)
    tool, turn, joint = fastest(space, joints if space is Space.JOINT else poses, np.column_stack((moved, swing)))
    return PieceSize(tool, turn, joint)


def fastest(space: Space, points: FloatArray, ways: FloatArray) -> tuple[float, ...]:
    """Ways (n - 1, k) between the points (n, dof or 7) of a straight piece, as if all were as fast as the fastest."""
    if space is Space.JOINT:
        advance = np.abs(np.diff(points, axis=0)).max(axis=1)
    else:
        advance = np.array([pose_length(a, b) for a, b in itertools.pairwise(points)])
    share = advance / max(float(advance.sum()), TINY)
    moves = share > LEAST_SHARE
    if not moves.any():
        return tuple([0.0] * ways.shape[1])
    most: list[float] = (ways[moves] / share[moves, None]).max(axis=0).tolist()
    return tuple(most)


def pace_of(sizes: Sequence[PieceSize], speeds: Speeds, ramp_time: float = RAMP_TIME) -> Pace:
    """The shortest pace that keeps `speeds`; an acceleration limit makes `ramp_time` [s] longer."""
    tool, longest = speeds.tool, max(size.tool for size in sizes)
    if speeds.acceleration is not None and longest > 0.0:
        tool = min(tool, float(np.sqrt(speeds.acceleration * longest / RAMP_PEAK)))  # all of it ramps
        ramp_time = max(ramp_time, RAMP_PEAK * tool / speeds.acceleration)
    pieces = []
    for size in sizes:
        cruise = max(size.tool / tool, size.turn / speeds.turn, size.joint / speeds.joint)
        pieces.append(max(cruise, ramp_time) + ramp_time if cruise > 0.0 else STANDING)
    return Pace(tuple(pieces), ramp_time)
