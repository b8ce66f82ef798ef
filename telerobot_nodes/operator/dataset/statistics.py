"""Statistics of a data set's features, by which a learner normalizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}


def statistics(values: npt.NDArray[Any]) -> dict[str, list[Any]]:
    """Of values (n,) or (n, k): least, most, mean, deviation, quantiles of each column, and the count."""
    table = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    found = {"min": table.min(axis=0), "max": table.max(axis=0), "mean": table.mean(axis=0), "std": table.std(axis=0)}
    found |= {name: np.quantile(table, share, axis=0) for name, share in QUANTILES.items()}
    return {**{name: value.tolist() for name, value in found.items()}, "count": [len(table)]}


def picture_statistics(pictures: list[npt.NDArray[np.uint8]]) -> dict[str, list[Any]]:
    """Of pictures (height, width, 3): the same of each channel as (3, 1, 1), in 0..1; the count is of pictures."""
    pixels = np.concatenate([picture.reshape(-1, 3) for picture in pictures]) / 255.0
    found = statistics(pixels)
    shaped = {name: [[[x]] for x in value] for name, value in found.items() if name != "count"}
    return {**shaped, "count": [len(pictures)]}
