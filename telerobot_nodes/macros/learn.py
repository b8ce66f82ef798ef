"""Learning: a shown motion becomes the steps of a macro [US5231693 claim 5].

The motion is cut where the arm rests. A piece becomes straight moves through as few points as keep it within a
tolerance, with the time it took; a piece that ends in contact becomes a move to touch; fingers that moved, a grasp.
An absolute macro first moves to where the motion began; in it a piece that is straight in joint space is a joint move.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import Any, Literal

import numpy as np
import pinocchio as pin
import yaml
from scipy.spatial.transform import Rotation, Slerp

from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros.track import Track

REST_SPEED = 0.004  # [m/s] slower is rest; a turn counts with LEVER
REST_TIME = 0.2  # [s] a shorter pause is none
CREPT = 1e-3  # [m] farther from where a rest began it is no rest, however slow
STILL = 0.05e-3  # [m] a motion ends as near to where the arm then rests, however slowly it came there
LEVER = 0.1  # [m] of which a rotation moves the end
TOLERANCE = 0.5e-3  # [m] of the shown path
JOINT_TOLERANCE = 1e-3  # [rad] of a joint, from a way that is straight in joint space
SHORTEST = 0.2  # [s] of a move
FINGERS = 0.003  # [m] a smaller change of the opening is none
HELD = 0.002  # [m] fingers that are told to close further hold something
CONTACT = 4.0  # [N] force that has risen at the end of a piece: it ends in contact
SMOOTH = 5  # samples of a force over which it is averaged
PRESSED = 0.5  # [s] after the end of a motion in which a hand presses on what it has touched
BEYOND = 0.03  # [m] a touch may be so much farther than it was shown
MOST_FORCE = 10.0  # [N] preset of a guarded motion


def learn(track: Track, name: str, doc: str, motion: Literal["absolute", "relative"], version: int = 1) -> str:
    """The file of a macro that repeats a track. Raises InvalidValueError when nothing moved."""
    steps = learned_steps(track, motion == "absolute")
    whole = {"macro": name, "version": version, "doc": doc, "motion": motion, "steps": steps}
    text: str = yaml.safe_dump(whole, sort_keys=False, default_flow_style=None, width=120)
    return text


def learned_steps(track: Track, absolute: bool, taken: Collection[str] = (), word: str = "") -> list[dict[str, Any]]:
    """The steps that repeat a track, as a file has them. Raises InvalidValueError when nothing moved.

    Their names are none of `taken`, and begin with `word`.
    """
    steps = list(_steps(track, absolute))
    if not steps:
        still = f"{track.time[-1] - track.time[0]:.1f} s in which nothing moved by {1e3 * CREPT:g} mm"
        raise InvalidValueError("track", still, "allowed: with a motion of the tool or of the fingers")
    numbers = itertools.count(1)
    named = []
    for step in steps:
        base = "_".join(filter(None, (word, step.pop("step"))))
        name = next(label for number in numbers if (label := f"{base}_{number}") not in taken)
        named.append({"step": name, **step})
    return named


def _steps(track: Track, absolute: bool) -> Iterator[dict[str, Any]]:
    place = track.pose[0]  # where the tool is at the end of the steps so far
    held = track.opening[0]
    moves = pieces(track)
    if absolute and any(begin < end for begin, end in moves):
        values = {"tr_tn_dest": _numbers(se3_from_pose(place, "track.pose"))}
        yield {"step": "begin", "primitive": "cartesian_guarded", "values": values}
    for (begin, end), rest in zip(moves, _rests(track, moves), strict=True):
        if begin < end:
            way = [begin, *simplified(track.pose[begin : end + 1], begin)]
            risen = _risen(track, begin, end, rest)
            if absolute and len(way) > 2 and risen <= CONTACT and _straight_in_joints(track, begin, end):
                yield _joint_move(track, begin, end)
                way, place = [], track.pose[end]
            for a, b in itertools.pairwise(way):
                touches = risen > CONTACT and b == end
                yield _move(track, place, a, b, absolute, touches, risen)
                place = track.pose[b]
        for still in _finger_ends(track, begin, rest):
            if abs(track.opening[still] - held) > FINGERS:
                yield _grasp(track, held, still)
                held = track.opening[still]


def pieces(track: Track) -> list[tuple[int, int]]:
    """First and last sample of each motion between rests; one of no length where only the fingers moved.

    The first begins with the track: before the first fast motion there may be a slow one.
    """
    moving = _speed(track) > REST_SPEED
    edges = np.flatnonzero(np.diff(np.concatenate(([False], moving, [False])).astype(int)))
    found: list[tuple[int, int]] = []
    for begin, end in edges.reshape(-1, 2):
        begin, end = max(int(begin) - 1, 0), min(int(end), len(track.time) - 1)  # noqa: PLW2901 -- at rest on both sides
        if found and track.time[begin] - track.time[found[-1][1]] < REST_TIME:
            begin = found.pop()[0]  # noqa: PLW2901
        found.append((begin, end))
    if not found or found[0][0] > 0:
        found.insert(0, (0, 0))
    return [(begin, _arrival(track, end, rest)) for (begin, end), rest in zip(found, _rests(track, found), strict=True)]


def _rests(track: Track, moves: list[tuple[int, int]]) -> list[int]:
    """The last sample of the rest after each motion."""
    return [*(begin for begin, _ in moves[1:]), len(track.time) - 1]


def _arrival(track: Track, end: int, rest: int) -> int:
    """The first sample from `end` on from which the arm stays near where it is at the end of its rest."""
    away = distance(track.pose[end : rest + 1], track.pose[rest : rest + 1])
    crept = np.max(away) > CREPT
    if end == 0:  # nothing has moved before: the arm is not settling
        return int(np.flatnonzero(away > STILL)[-1]) + 1 if crept else 0
    return end + int(np.flatnonzero(away > STILL)[-1]) + 1 if crept or away[0] > STILL else end


def _risen(track: Track, begin: int, end: int, rest: int) -> float:
    """Force [N] that has risen at the end of a motion, or while the hand presses after it.

    It is compared with the force on the way: that of a load which is lifted was there before.
    """
    last = min(rest, end + round(PRESSED / float(np.median(np.diff(track.time)))))
    grips = np.flatnonzero(np.abs(track.opening[end : last + 1] - track.opening[end]) > FINGERS)
    pressed = track.force[end : end + int(grips[0]) if grips.size else last + 1]
    count = min(SMOOTH, len(pressed))
    smooth = np.convolve(pressed, np.full(count, 1.0 / count), "valid")
    return float(np.max(smooth) - np.median(track.force[begin : end + 1]))


def _finger_ends(track: Track, begin: int, rest: int) -> list[int]:
    """Samples at which the fingers turn from opening to closing or back, between two samples; the last of all."""
    ends: list[int] = []
    extreme, way = begin, 0
    for k in range(begin + 1, rest + 1):
        change = float(track.opening[k] - track.opening[extreme])
        if change * way > 0.0:
            extreme = k
        elif abs(change) > FINGERS:
            if way:
                ends.append(extreme)
            extreme, way = k, 1 if change > 0.0 else -1
    return [*ends, rest]


def _speed(track: Track) -> FloatArray:
    """Speed (n,) [m/s] of the tool, of its rotation at LEVER, over 0.1 s."""
    step = max(1, round(0.05 / float(np.median(np.diff(track.time)))))
    n = len(track.time)
    before, after = np.maximum(np.arange(n) - step, 0), np.minimum(np.arange(n) + step, n - 1)
    way = distance(track.pose[before], track.pose[after])
    return np.asarray(way / np.maximum(track.time[after] - track.time[before], 1e-6))


def distance(a: FloatArray, b: FloatArray) -> FloatArray:
    """Distance (n,) [m] of poses (n, 7): of their places, and of their rotations at LEVER."""
    cosine = np.clip(np.abs(np.sum(a[:, 3:] * b[:, 3:], axis=1)), 0.0, 1.0)
    return np.asarray(np.linalg.norm(a[:, :3] - b[:, :3], axis=1) + LEVER * 2.0 * np.arccos(cosine))


def simplified(pose: FloatArray, first: int) -> list[int]:
    """Samples after the first of a piece (n, 7), numbered from `first`: between them it is straight to TOLERANCE."""
    if len(pose) > 2:
        share = _progress(pose)
        away = distance(pose, _between(pose[0], pose[-1], share))
        worst = int(np.argmax(away))
        if away[worst] > TOLERANCE and 0 < worst < len(pose) - 1:
            return simplified(pose[: worst + 1], first) + simplified(pose[worst:], first + worst)
    return [first + len(pose) - 1]


def _straight_in_joints(track: Track, begin: int, end: int) -> bool:
    """Whether all joints moved at the same time to where they are at `end`, each by the same share of its way."""
    if not len(track.joints):
        return False
    q = track.joints[begin : end + 1]
    change = q[-1] - q[0]
    share = (q - q[0]) @ change / max(float(change @ change), 1e-12)
    return bool(np.abs(q - q[0] - share[:, None] * change).max() < JOINT_TOLERANCE)


def _joint_move(track: Track, begin: int, end: int) -> dict[str, Any]:
    goal = {"joint_dest": [round(float(q), 6) for q in track.joints[end]]}
    values = {**goal, **_timing(track, begin, end), **_limit(track, begin, end)}
    return {"step": "joints", "primitive": "joint_guarded", "values": values}


def _between(first: FloatArray, last: FloatArray, share: FloatArray) -> FloatArray:
    """Poses (n, 7) on the straight way between two poses (7,), turned by as much, at the shares (n,) of it."""
    place = first[:3] + share[:, None] * (last[:3] - first[:3])
    turn = Slerp([0.0, 1.0], Rotation.from_quat(np.stack((first[3:], last[3:]))))
    return np.hstack((place, turn(np.clip(share, 0.0, 1.0)).as_quat()))


def _progress(pose: FloatArray) -> FloatArray:
    """Share (n,) of the way that lies behind each sample."""
    way = np.concatenate(([0.0], np.cumsum(distance(pose[:-1], pose[1:]))))
    return np.asarray(way / max(way[-1], 1e-9))


def _move(
    track: Track, place: FloatArray, a: int, b: int, absolute: bool, touches: bool, risen: float
) -> dict[str, Any]:
    """A straight move from sample `a` to `b`, seen from the pose where the steps before it end."""
    T = se3_from_pose(track.pose[b], "track.pose")
    T_place = se3_from_pose(place, "track.pose")
    if touches:
        way = T.translation - T_place.translation
        T.translation = T.translation + BEYOND * way / max(float(np.linalg.norm(way)), 1e-9)
    goal = {"tr_tn_dest": _numbers(T)} if absolute else {"tr_rel_dest": _numbers(T_place.actInv(T))}
    if touches:
        seconds = max(float(track.time[b] - track.time[a]), SHORTEST)
        speed = max(round(float(np.linalg.norm(track.pose[b, :3] - track.pose[a, :3])) / seconds, 4), 0.005)
        timing = {
            "time_vel_sel": "velocity",
            "time_vel_val": min(speed, 0.05),
            "max_force_thres": round(0.8 * risen, 2),
        }
        return {"step": "touch", "primitive": "move_to_touch", "values": {**goal, **timing}, "accept": ["touched"]}
    values = {**goal, **_timing(track, a, b), **_limit(track, a, b)}
    return {"step": "move", "primitive": "cartesian_guarded", "values": values}


def _timing(track: Track, a: int, b: int) -> dict[str, Any]:
    """The time that a move took."""
    seconds = max(float(track.time[b] - track.time[a]), SHORTEST)
    return {"time_vel_sel": "time", "time_vel_val": round(seconds, 3), "acc_time": round(min(0.3, seconds / 3), 3)}


def _limit(track: Track, a: int, b: int) -> dict[str, Any]:
    """The force that stops a move, where the preset would have stopped what was shown."""
    felt = 1.5 * float(np.ptp(track.force[a : b + 1]))
    return {"max_force_thres": round(felt, 1)} if felt > MOST_FORCE else {}


def _grasp(track: Track, before: float, rest: int) -> dict[str, Any]:
    opening, told = float(track.opening[rest]), float(track.reference[rest])
    if opening < before and told < opening - HELD:
        return {"step": "grasp", "primitive": "compliant_grasp", "accept": ["gripped"]}
    values = {"grip_width": round(max(opening, 0.0), 4)}
    return {"step": "fingers", "primitive": "free_grasp", "values": values, "accept": ["opened", "blocked"]}


def _numbers(T: pin.SE3) -> list[float]:
    return [round(float(x), 7) for x in pin.SE3ToXYZQUAT(T)]
