"""Where links are proved to be apart by their true shapes, although their spheres overlap.

Some links come so near to each other, such as a flange to the wrist at which it bends, that no affordable covering can
tell contact from none. Their places to each other depend on two joints; where shapes are round about the second, on the
first one alone. For such a pair the range of the first joint in which its shapes are apart is found once, by coal's
distances at many places and a bound on the motion between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import coal
import numpy as np

from telerobot_nodes.core.robot import LinkShape, RobotModel, chain_of
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.covering.coverings import Covered, CoveringTrial
from telerobot_nodes.cspace.covering.link_pairs import LinkContacts, NamePair, name_pair

APART = 1.2e-3  # [m] of the links of a pair in its box
REFUSED = 0.05  # [-] of random configurations that spheres may refuse although the shapes do not touch
STEPS = 1024  # places of the first joint that are looked at
SMALLEST = 1e-3  # [rad] width of a cell that is not halved any more
ON_AXIS = 1e-9  # [m]

Boxes = Mapping[NamePair, FloatArray]  # (n, 2) [rad] lowest and highest place of each joint
Pair = tuple[str, str]  # links, the one nearer to the base first
Cell = tuple[float, float, float, float]  # [rad] lowest and highest place of the first joint, and of the second


def proved_boxes(robot: RobotModel, covered: Sequence[Covered], checked: frozenset[NamePair]) -> Boxes:
    """Boxes in joint space in which pairs of links are `APART` or more, where spheres refuse one of them often.

    Of links with two joints between them; all checked pairs of the same two moving links have the same box.
    """
    shapes = [shape for shape, _ in covered]
    link = {shape.body: shape.link for shape in shapes}
    trial, spheres = CoveringTrial(robot, shapes), {shape.name: rows for shape, rows in covered}
    found: dict[NamePair, FloatArray] = {}
    for a in range(robot.dof - 1):
        ordered = [(x, y) if link[x] < link[y] else (y, x) for x, y in sorted(checked)]
        pairs = [(x, y) for x, y in ordered if (link[x], link[y]) == (a, a + 2)]
        if any(trial.refused(pair, spheres) > REFUSED for pair in pairs):
            box = _TwoJoints(robot, shapes, a).box(pairs)
            found |= {} if box is None else {name_pair(*pair): box for pair in pairs}
    return found


class _TwoJoints:
    """Links before and after the two joints `first` and `first + 1`, from 0: how far apart they are in cells."""

    def __init__(self, robot: RobotModel, shapes: Sequence[LinkShape], first: int) -> None:
        self._robot, self._contacts, self._first = robot, LinkContacts(robot, shapes), first
        chain = chain_of(robot.model, robot.tool_frame_id)
        self._turning = not chain.prismatic[first : first + 2].any()
        moved = [shape for shape in shapes if shape.link == first + 2]
        self._reach = {shape.body: self._contacts.reach(shape.body) for shape in moved}
        self._spread: dict[str, float] = {}
        for shape in shapes:
            self._spread[shape.body] = max(self._spread.get(shape.body, 0.0), _spread(shape))
        axis = chain.axis[first + 1]
        self._round = self._reach.keys() - {shape.body for shape in moved if not _is_round(shape, axis)}
        self._beyond = float(np.linalg.norm(chain.offset[first + 1]))

    def box(self, pairs: Sequence[Pair]) -> FloatArray | None:
        """The box (n, 2) [rad] in which all pairs are apart; None when there is none."""
        limits, first = self._robot.limits, self._first
        box = np.column_stack([limits.lower, limits.upper])
        spun = [pair for pair in pairs if pair[1] in self._round]
        if not self._turning or not spun:
            return None
        edges = np.linspace(limits.lower[first], limits.upper[first], STEPS + 1)
        apart = [all(self._room(pair, (a, b, 0.0, 0.0)) >= APART for pair in spun) for a, b in pairwise(edges.tolist())]
        begin, end = _longest(apart)
        box[first] = edges[begin], edges[end]
        whole: Cell = (*box[first].tolist(), *box[first + 1].tolist())
        others = [pair for pair in pairs if pair not in spun]
        return box if begin < end and all(self._always_apart(pair, whole) for pair in others) else None

    def _room(self, pair: Pair, cell: Cell) -> float:
        """Distance [m] at the centre of a cell less what its widths let the second link move."""
        low, high, second_low, second_high = cell
        q = np.array(self._robot.home)
        q[self._first : self._first + 2] = 0.5 * (low + high), 0.5 * (second_low + second_high)
        self._contacts.place(q)
        reach = self._reach[pair[1]]
        moved = _chord(high - low) * (reach + self._beyond) + _chord(second_high - second_low) * reach
        return self._contacts.distance(*pair) - moved - self._spread[pair[0]] - self._spread[pair[1]]

    def _always_apart(self, pair: Pair, cell: Cell) -> bool:
        """Whether a pair is apart all over a cell, which is halved where that is not seen at once."""
        waiting = [cell]
        while waiting:
            low, high, second_low, second_high = cell = waiting.pop()
            if self._room(pair, cell) >= APART:
                continue
            if max(high - low, second_high - second_low) < SMALLEST:
                return False
            middle, second = 0.5 * (low + high), 0.5 * (second_low + second_high)
            if high - low > second_high - second_low:
                waiting += [(low, middle, second_low, second_high), (middle, high, second_low, second_high)]
            else:
                waiting += [(low, high, second_low, second), (low, high, second, second_high)]
        return True


def _chord(width: float) -> float:
    """Farthest [m] that a point at 1 m from its axis can get from where it is in the middle of `width` [rad]."""
    return 2.0 * math.sin(0.25 * min(width, 2.0 * math.pi))


def _spread(shape: LinkShape) -> float:
    """Farthest [m] that a point of a shape may be from the nearest place at which the shape is looked at."""
    ends = [np.array([T.translation for T in turn]) for turn in shape.turns]
    return shape.slack + max(0.5 * float(np.linalg.norm(np.ptp(places, axis=0))) for places in ends)


def _is_round(shape: LinkShape, axis: FloatArray) -> bool:
    """True for a sphere, cylinder or capsule about `axis` (3,) through the origin of its link's frame."""
    if not isinstance(shape.solid, coal.Sphere | coal.Cylinder | coal.Capsule):
        return False
    tilt = 0.0 if isinstance(shape.solid, coal.Sphere) else 1.0
    off = [np.cross(v, axis) for T in shape.placements for v in (T.translation, tilt * T.rotation[:, 2])]
    return max(float(np.linalg.norm(vector)) for vector in off) <= ON_AXIS


def _longest(free: Sequence[bool]) -> tuple[int, int]:
    """First and last + 1 of the longest run of True."""
    best, begin = (0, 0), 0
    for i, value in enumerate([*free, False]):
        if not value:
            best = max(best, (begin, i), key=lambda run: run[1] - run[0])
            begin = i + 1
    return best
