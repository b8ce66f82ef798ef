"""Frames at a fixed rate from a recording, in episodes without a gap.

Numbers are interpolated between the two messages around a frame's time, and only there: where a topic was silent for
longer than `gap`, no frame is made, and the next episode begins behind the gap. A frame has the latest picture received
until its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.dataset.sources import Series, Sources

LEAST = 2  # frames of an episode
PICTURE_PERIODS = 3.0  # of the camera: a picture that is older belongs to a gap


@dataclass(frozen=True)
class Rate:
    """The grid of frames, and the longest silence across which numbers are interpolated."""

    fps: int = parameter(20, "1/s", 1, 200, "frames per second")
    gap: float = parameter(0.2, "s", 0.001, 10.0, "a topic that is silent for longer ends an episode")

    def __post_init__(self) -> None:
        in_range(self.fps, "fps", 1, 200, "1/s")
        in_range(self.gap, "gap", 0.001, 10.0, "s")


@dataclass(frozen=True)
class Episode:
    """Frames without a gap, evenly spaced. `picture` (n,): number of each frame's picture; empty: without."""

    begin: float  # [s, from the bag's start] of the first frame
    columns: dict[str, FloatArray]  # (n, k)
    picture: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.columns["action"])


@dataclass(frozen=True)
class Frames:
    """Episodes, names of the columns, and what was left out and why."""

    episodes: list[Episode]
    names: dict[str, tuple[str, ...]]
    left_out: list[tuple[float, float, str]] = field(default_factory=list)  # from, to [s], why
    repeated: int = 0  # frames with the picture of the frame before


def read_frames(sources: Sources, rate: Rate, action: str = "joints") -> Frames:
    """Resample. `action`: `joints` for the commanded joints, `tool` for the commanded pose; with the fingers.

    Raises InvalidValueError when no stretch of the recording has two frames.
    """
    grid, sound, left_out = _sound(sources, rate)
    runs = _runs(sound)
    episodes = [_episode(sources, grid[a:b], action) for a, b in runs if b - a >= LEAST]
    left_out += [(grid[a], grid[b - 1], "shorter than two frames") for a, b in runs if b - a < LEAST]
    if not episodes:
        why = "; ".join(sorted({text for _, _, text in left_out})) or "no time at which all topics were recorded"
        raise InvalidValueError("recording", f"{len(grid)} frames", f"allowed: two frames without a gap; {why}")
    repeated = sum(int(np.sum(np.diff(episode.picture) == 0)) for episode in episodes)
    return Frames(episodes, _names(sources, action), sorted(left_out), repeated)


def _sound(sources: Sources, rate: Rate) -> tuple[FloatArray, npt.NDArray[np.bool_], list[tuple[float, float, str]]]:
    """Times (n,) [s] of the grid, whether each has a frame, and the gaps."""
    numbers, pictures = sources.numbers, sources.pictures
    begin = max([float(series.time[0]) for series in numbers] + [float(time) for time in pictures[:1]])
    end = min(float(series.time[-1]) for series in numbers)
    grid = begin + np.arange(max(int((end - begin) * rate.fps + 1e-6) + 1, 0)) / rate.fps
    sound, left_out = np.ones(len(grid), bool), []
    silences = [(series.topic, series.time, rate.gap) for series in _once(numbers)]
    if len(pictures):
        usual = float(np.median(np.diff(pictures))) if len(pictures) > 1 else 0.0
        longest = max(rate.gap, PICTURE_PERIODS * usual)
        silences.append(("pictures", np.append(pictures, max(end, pictures[-1]) + longest + 1.0), longest))
    for topic, time, longest in silences:
        for k in np.flatnonzero(np.diff(time) > longest):
            last = time[k] + (longest if topic == "pictures" else 0.0)  # a picture holds for a while, numbers do not
            inside = (grid > last + 1e-9) & (grid < time[k + 1] - 1e-9)
            if inside.any():
                sound &= ~inside
                left_out.append((float(grid[inside][0]), float(grid[inside][-1]), f"{topic} silent"))
    return grid, sound, left_out


def _once(numbers: Sequence[Series]) -> list[Series]:
    return list({series.topic: series for series in numbers}.values())


def _runs(sound: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], sound, [False])).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _episode(sources: Sources, time: FloatArray, action: str) -> Episode:
    columns = {name: at(series, time) for name, series in _parts(sources, action).items()}
    fingers = at(sources.fingers, time) if sources.fingers else np.empty((len(time), 0))
    columns["observation.state"] = np.hstack((columns["observation.state"], fingers[:, :1]))
    columns["action"] = np.hstack((columns["action"], fingers[:, 1:]))
    picture = np.searchsorted(sources.pictures, time + 1e-9, side="right") - 1 if len(sources.pictures) else np.empty(0)
    return Episode(float(time[0]), columns, picture.astype(np.int64))


def _parts(sources: Sources, action: str) -> dict[str, Series]:
    found = {
        "observation.state": sources.measured,
        "action": sources.tool if action == "tool" else sources.setpoint,
    }
    return found | ({"observation.wrench": sources.wrench} if sources.wrench else {})


def _names(sources: Sources, action: str) -> dict[str, tuple[str, ...]]:
    fingers = sources.fingers.names[:1] if sources.fingers else ()
    return {
        name: series.names + (fingers if name != "observation.wrench" else ())
        for name, series in _parts(sources, action).items()
    }


def at(series: Series, time: FloatArray) -> FloatArray:
    """Values (n, k) at times (n,) [s] inside the series, linear between two messages; rotations of unit length."""
    values = series.values
    if series.quaternion:
        values = values.copy()
        turns = np.sum(values[1:, 3:] * values[:-1, 3:], axis=1) < 0.0  # the same rotation has two signs
        values[1:, 3:] *= np.where(np.cumsum(turns) % 2, -1.0, 1.0)[:, None]
    found = np.column_stack([np.interp(time, series.time, column) for column in values.T])
    if series.quaternion:
        found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
    return found
