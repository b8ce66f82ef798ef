"""The scale at which the arm reaches all of a recorded motion [US5231693]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.protocol import HAND_SCALE_RANGE
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.errors import OutOfReachError
from telerobot_nodes.operator.devices.hand import HandRecording

JUMP_SPEED = 0.4  # [m/s] a step faster than twice its neighbours by this much is a tracker's jump
NEIGHBOURS = 11  # samples around a step whose median is the speed of the hand
MARGIN = 0.03  # [m] room kept around the motion
SAMPLES = 24  # points of the motion that are checked
HALVINGS = 5  # bisections of the scale

Reach = Callable[[FloatArray], bool]  # (n, 3) [m] offsets from the start, WORLD axes -> all within reach


@dataclass(frozen=True)
class Fit:
    """The scale of a motion and what it leads to."""

    scale: float  # [-]
    fits: bool  # the arm reaches the scaled motion and its margin
    jumps: int  # tracker jumps in the recording, still in it
    lower: FloatArray  # (3,) [m] extent of the scaled, jump-free motion about its start
    upper: FloatArray  # (3,) [m]


def box_reach(lower: FloatArray, upper: FloatArray) -> Reach:
    """Reach of a box about the start, `lower` and `upper` (3,) [m]."""
    return lambda offsets: bool(np.all(offsets >= lower) and np.all(offsets <= upper))


def jumps(hand: HandRecording) -> FloatArray:
    """(n,) [m] length of the jump at each sample; zero where the recording does not jump."""
    step = np.linalg.norm(np.diff(hand.position, axis=0), axis=1)
    speed = step / np.diff(hand.time)
    half = NEIGHBOURS // 2
    padded = np.pad(speed, half, mode="edge")
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, NEIGHBOURS), axis=1)
    return np.concatenate([[0.0], np.where(speed > 2.0 * around + JUMP_SPEED, step, 0.0)])


def jump_free(hand: HandRecording) -> FloatArray:
    """(n, 3) [m] motion relative to its start without the steps of the jumps, as after re-indexing the device."""
    step = np.diff(hand.position, axis=0, prepend=hand.position[:1])
    step[jumps(hand) > 0.0] = 0.0
    path: FloatArray = np.cumsum(step, axis=0)
    return path


def fit(hand: HandRecording, reach: Reach, scale: float = 0.0) -> Fit:
    """The largest scale up to 1 at which the arm reaches the jump-free motion with MARGIN to spare, or `scale`.

    Raises InvalidValueError when `scale` is out of range, OutOfReachError when not even a tenth fits.
    """
    path = jump_free(hand)
    trial = path[np.unique(np.linspace(0, len(path) - 1, SAMPLES).astype(int))]
    if scale != 0.0:
        chosen = in_range(scale, "scale", *HAND_SCALE_RANGE)
        return _report(hand, path, chosen, _reached(trial, chosen, reach))
    return _report(hand, path, _largest_scale(trial, reach, hand.source), fits=True)


def _largest_scale(trial: FloatArray, reach: Reach, source: str) -> float:
    if _reached(trial, 1.0, reach):
        return 1.0
    low, high = 0.1, 1.0
    if not _reached(trial, low, reach):
        raise OutOfReachError(f"{source}: not even a tenth of the motion is within reach of the arm from here")
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _reached(trial, middle, reach) else (low, middle)
    return low


def _reached(trial: FloatArray, scale: float, reach: Reach) -> bool:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * (MARGIN / np.sqrt(3.0))
    return reach((scale * trial[:, None, :] + corners).reshape(-1, 3))


def _report(hand: HandRecording, path: FloatArray, scale: float, fits: bool) -> Fit:
    return Fit(
        scale=scale,
        fits=fits,
        jumps=int(np.count_nonzero(jumps(hand))),
        lower=scale * path.min(axis=0),
        upper=scale * path.max(axis=0),
    )
