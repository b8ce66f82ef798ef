"""Learned macros replayed in physics: where the arm ended and how it went there, against what was shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from scipy.spatial import cKDTree

from telerobot_nodes.bench.macros.shown import MOTIONS, REST, Watch, show
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.macros import MacroFolder, OfflineRobot, learn, play, read_macros, read_track, steps_of

MOTION: tuple[Literal["absolute", "relative"], ...] = ("absolute", "relative")
SPREAD = 0.1  # [rad] of each joint of a start, around home
LEVER = 0.1  # [m] with which a rotation counts when the nearest pose is sought


def learned(robot: RobotModel, folder: Path) -> tuple[MacroFolder, dict[str, FloatArray]]:
    """A folder with a macro of each motion, absolute and relative; and the tool's true poses (n, 7) as shown."""
    shown = {}
    for kind in MOTIONS:
        shown[kind] = show(kind, robot, folder / f"{kind}_bag")
        track = read_track(folder / f"{kind}_bag", robot)
        for motion in MOTION:
            text = learn(track, f"{kind}_{motion}", "Learned.", motion)
            (folder / f"{kind}_{motion}.yaml").write_text(text, encoding="utf-8")
    return read_macros(folder), shown


def replays(
    robot: RobotModel, folder: MacroFolder, shown: dict[str, FloatArray], starts: int, seed: int
) -> list[dict[str, Any]]:
    """One row for each macro and start."""
    random = np.random.default_rng(seed)
    places = np.array(robot.home) + random.uniform(-SPREAD, SPREAD, (starts, robot.dof))
    return [
        {"shown": kind, "motion": motion, "start": start, **_replay(robot, folder, kind, motion, shown[kind], q)}
        for kind in MOTIONS
        for motion in MOTION
        for start, q in enumerate(places)
    ]


def _replay(
    robot: RobotModel, folder: MacroFolder, kind: str, motion: str, shown: FloatArray, q: FloatArray
) -> dict[str, Any]:
    offline = OfflineRobot(robot, q, board=False)
    watch = Watch(offline)
    offline.rig.hold(REST)
    end = play(steps_of(folder, f"{kind}_{motion}", {}, offline.context), offline.send, lambda _: None)
    offline.rig.hold(REST)
    way = watch.close()
    if motion == "relative":
        moved = pin.XYZQUATToSE3(way[0]) * pin.XYZQUATToSE3(shown[0]).inverse()
        shown = np.array([pin.SE3ToXYZQUAT(moved * pin.XYZQUATToSE3(pose)) for pose in shown])
    distance, angle = differences(shown[-1:], way[-1:])
    off, turned = _off_path(shown, way)
    return {
        "succeeded": end.succeeded,
        "reason": end.reason,
        "steps": len(end.steps),
        "end_mm": 1e3 * float(distance[0]),
        "end_deg": float(np.degrees(angle[0])),
        "path_mm": 1e3 * off,
        "path_deg": float(np.degrees(turned)),
    }


def differences(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distances (n,) [m] and angles (n,) [rad] between poses (n, 7) and (n, 7)."""
    # of q1* q2 the vector part, for an arc cosine loses small angles
    (x1, y1, z1, w1), (x2, y2, z2, w2) = a[:, 3:].T, b[:, 3:].T
    vector = np.stack(
        (
            w1 * x2 - x1 * w2 - y1 * z2 + z1 * y2,
            w1 * y2 - y1 * w2 - z1 * x2 + x1 * z2,
            w1 * z2 - z1 * w2 - x1 * y2 + y1 * x2,
        )
    )
    sine = np.linalg.norm(vector, axis=0)
    cosine = np.abs(np.sum(a[:, 3:] * b[:, 3:], axis=1))
    return np.linalg.norm(a[:, :3] - b[:, :3], axis=1), 2.0 * np.arctan2(sine, cosine)


def _off_path(shown: FloatArray, way: FloatArray) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] from a shown pose to the nearest of the way, whenever it was there."""
    nearest = cKDTree(_features(way)).query(_features(shown))[1]
    distance, angle = differences(shown, way[nearest])
    return float(distance.max()), float(angle.max())


def _features(pose: FloatArray) -> FloatArray:
    """Points (n, 7) whose distances are those of the places and, at LEVER, of the rotations."""
    quaternion = pose[:, 3:] * np.where(pose[:, 3:] @ pose[0, 3:] < 0.0, -1.0, 1.0)[:, None]
    return np.column_stack((pose[:, :3], 2.0 * LEVER * quaternion))
