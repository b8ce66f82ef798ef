"""Conflicts along one path, found a few points at a time, the nearest first.

What belongs here: which points were examined and what is wrong with them. What must never enter: the simulated arm,
messages, clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import Kinematics, RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.simulation.conflicts import (
    CollisionChecker,
    Conflict,
    ConflictBounds,
    collision_conflict,
    limit_conflict,
    speed_conflict,
)
from telerobot_nodes.simulation.simulated_path import SimulatedPath


@dataclass(frozen=True)
class ConflictReport:
    """Conflicts of the points not yet executed."""

    count: int
    first_seq: int = 0  # point of the first conflict; 0: none
    kind: ConflictKind = ConflictKind.NONE  # of the first conflict
    subject: str = ""  # of the first conflict: joint or colliding bodies
    text: str = ""  # first conflict, point and plan time, for people; without any: why collisions are not examined
    collision_seq: int = 0  # first point in collision; 0: none
    free_seq: int = 0  # the point before it
    examined_seq: int = 0  # every point up to this one was examined


class PathConflicts:
    """Conflicts of one `SimulatedPath`. After a change of the path call `clear`, `truncate` or `forget` as well."""

    def __init__(
        self, robot: RobotModel, path: SimulatedPath, checker: CollisionChecker | None, bounds: ConflictBounds
    ) -> None:
        self._robot = robot
        self._path = path
        self._checker = checker
        self._bounds = bounds
        self._kinematics = Kinematics(robot)
        self._found: dict[int, Conflict] = {}  # by seq, in order

    def check(self, most: int) -> int:
        """Examine up to `most` points not examined yet; returns their number."""
        rows = self._path.unchecked(most)
        if not rows:
            return 0
        q = self._path.q[rows.start : rows.stop]
        collisions = [("", 0.0)] * len(rows) if self._checker is None else self._checker.collisions(q)
        sigma = self._kinematics.smallest_singular_values(q)
        suspect = self._suspect(rows, sigma)
        for i, row in enumerate(rows):
            bodies, depth = collisions[i]
            found = self._worst(row, bodies, depth, float(sigma[i])) if bodies or suspect[i] else None
            if found is not None:
                self._path.conflict[row] = found.kind
                self._found[int(self._path.seq[row])] = found
        return len(rows)

    def recheck(self) -> None:
        """Examine every point again, with the next calls of `check`."""
        self._path.uncheck()
        self._found.clear()

    def clear(self) -> None:
        """The path was deleted."""
        self._found.clear()

    def truncate(self, after_seq: int) -> None:
        """The points above `after_seq` were deleted."""
        while self._found and next(reversed(self._found)) > after_seq:
            self._found.popitem()

    def forget(self) -> None:
        """The first points of the path were dropped: the robot has executed them."""
        first = int(self._path.seq[0])
        while self._found and (seq := next(iter(self._found))) <= first:
            del self._found[seq]

    def report(self, name: str = "") -> ConflictReport:
        """Conflicts found so far; the text of the first begins with `name`, that of the path."""
        examined = self._path.examined_seq
        if not self._found:
            unexamined = self._checker.unexamined if self._checker is not None and len(self._path) else ""
            return ConflictReport(0, text=unexamined, examined_seq=examined)
        seq, first = next(iter(self._found.items()))
        row = min(int(np.searchsorted(self._path.seq, seq)), len(self._path))
        text = f"{name}{first.text}, point {seq}, plan time {self._path.time[row]:.2f} s"
        free, collision = self._first_collision()
        return ConflictReport(len(self._found), seq, first.kind, first.subject, text, collision, free, examined)

    def _first_collision(self) -> tuple[int, int]:
        """Number of the last point before the first collision, and of that; 0, 0 if there is none."""
        seq, collides = self._path.seq, self._path.conflict[1:] == ConflictKind.COLLISION
        row = int(collides.argmax()) if collides.size else 0
        return (int(seq[row]), int(seq[row + 1])) if collides.any() else (0, 0)

    def _suspect(self, rows: range, sigma: FloatArray) -> npt.NDArray[np.bool_]:
        """True (n,) for the points at which something other than a collision is wrong."""
        path, limits = self._path, self._robot.limits
        here = slice(rows.start, rows.stop)
        q, before = path.q[here], slice(rows.start - 1, rows.stop - 1)
        room = np.minimum(q - limits.lower, limits.upper - q).min(axis=1)
        far = (np.abs(q - path.q[before]) / limits.velocity).max(axis=1)
        suspect = path.conflict[here] == ConflictKind.OUT_OF_REACH
        suspect |= (sigma < self._bounds.singular) | (room < self._bounds.limit_margin)
        return np.asarray(suspect | (far > path.time[here] - path.time[before]))

    def _worst(self, row: int, bodies: str, depth: float, sigma: float) -> Conflict | None:
        """The worst conflict of one point, at which `bodies` collide, if any."""
        path = self._path
        q = path.q[row]
        if path.conflict[row] == ConflictKind.OUT_OF_REACH:
            return Conflict(ConflictKind.OUT_OF_REACH, text="out of reach")
        if bodies:
            return collision_conflict(bodies, depth)
        if sigma < self._bounds.singular:
            return Conflict(ConflictKind.SINGULAR, text=f"singularity: smallest singular value {sigma:.3f}")
        near = limit_conflict(self._robot, q, self._bounds.limit_margin)
        duration = float(path.time[row] - path.time[row - 1])
        return near or speed_conflict(self._robot, path.q[row - 1], q, duration)
