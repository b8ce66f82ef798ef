"""Schedule with waits: arms wait only at waypoints, where their paths are at rest.

In the plane of two paths' ticks [US5347459] each step moves one arm or both by a tick; an arm between two waypoints
moves on, so its own timing, from rest to rest, is kept or slowed down, and all its limits with it.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.multi_arm import tick_times

Node = tuple[int, int]


def schedule_waits(
    blocked: npt.NDArray[np.bool_], first: TimedPath, second: TimedPath, period: float, late: int = 0
) -> IntArray | None:
    """Ticks (m, 2) of both arms from their starts to their ends in the fewest steps; None when there is no such way.

    `blocked`: cells of the plane, 2 k resting at tick k, 2 k + 1 moving on. The second arm stands for `late` steps.
    """
    rests = [_rests(path, period) for path in (first, second)]
    last = (len(rests[0]) - 1, len(rests[1]) - 1)
    begun = min(late, last[0])
    if blocked[: 2 * begun + 1, 0].any():
        return None
    before: list[Node] = [(min(k, begun), 0) for k in range(late)]
    came: dict[Node, Node | None] = {(begun, 0): None}
    row = deque(came)
    while row:
        node = row.popleft()
        if node == last:
            return np.array(before + _back(came, node), dtype=np.int64)
        for after in _steps(blocked, rests, node, last):
            if after not in came:
                came[after] = node
                row.append(after)
    return None


def follow_schedule(path: TimedPath, ticks: IntArray, period: float) -> tuple[FloatArray, FloatArray]:
    """Positions and velocities (m, n) [rad], [rad/s] of an arm at each step of its schedule."""
    times = tick_times(path, period)
    states = [path.at(float(times[k])) for k in ticks]
    ahead = np.append(np.diff(times[ticks]), 0.0) / period  # own time per step: 0 while it waits
    behind = np.append(0.0, np.diff(times[ticks])) / period
    pace = np.maximum(ahead, behind)[:, None]
    return np.array([state[0] for state in states]), pace * np.array([state[1] for state in states])


def _rests(path: TimedPath, period: float) -> npt.NDArray[np.bool_]:
    times = tick_times(path, period)
    return np.array([bool(np.abs(path.times - t).min() < 1e-9) for t in times])


def _steps(blocked: npt.NDArray[np.bool_], rests: list[npt.NDArray[np.bool_]], node: Node, last: Node) -> list[Node]:
    """The nodes one step later; moving both arms comes first."""
    i, j = node
    found = []
    for di, dj in ((1, 1), (1, 0), (0, 1)):
        if i + di > last[0] or j + dj > last[1] or not ((di or rests[0][i]) and (dj or rests[1][j])):
            continue
        if not blocked[2 * i + di, 2 * j + dj] and not blocked[2 * (i + di), 2 * (j + dj)]:
            found.append((i + di, j + dj))
    return found


def _back(came: dict[Node, Node | None], node: Node | None) -> list[Node]:
    rows = []
    while node is not None:
        rows.append(node)
        node = came[node]
    return rows[::-1]
