"""Checks of values on input: finite, right length, inside limits; errors name field, value and what is allowed."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from telerobot_nodes.errors import InvalidValueError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

ROUNDING = 4e-16  # of the length of a quaternion that is already normalised
UNIT_TOLERANCE = 1e-3  # [-] allowed deviation of a quaternion's norm from 1


def finite(value: float, field: str) -> float:
    """`value` as a float; raises InvalidValueError unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InvalidValueError(field, value, "allowed: a number")
    number = float(value)
    if not np.isfinite(number):
        raise InvalidValueError(field, number, "allowed: finite numbers")
    return number


def in_range(value: float, field: str, low: float, high: float, unit: str = "-") -> float:
    """`value` as a float inside [low, high]; raises InvalidValueError otherwise."""
    number = finite(value, field)
    if not low <= number <= high:
        raise InvalidValueError(field, number, f"allowed: {low:g} .. {high:g} [{unit}]")
    return number


def finite_array(values: object, field: str, length: int | None = None) -> FloatArray:
    """A flat float64 copy of `values`; raises InvalidValueError on wrong length or a value that is not finite."""
    try:
        array = np.array(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InvalidValueError(field, values, "allowed: a list of numbers") from None
    if length is not None and array.size != length:
        raise InvalidValueError(f"{field} (length)", array.size, f"allowed: {length} values")
    finite = np.isfinite(array)
    if not finite.all():
        bad = int(finite.argmin())
        raise InvalidValueError(f"{field}[{bad}]", float(array[bad]), "allowed: finite numbers")
    return array


def one_of(value: str, field: str, allowed: Collection[str]) -> str:
    """`value` if it is among `allowed`; raises InvalidValueError otherwise."""
    if value not in allowed:
        raise InvalidValueError(field, value, f"allowed: {', '.join(sorted(allowed))}")
    return value


def poses(values: object, field: str) -> FloatArray:
    """Poses as (n, 7) rows x y z [m], qx qy qz qw; quaternions are checked to be unit and normalised.

    Raises InvalidValueError naming the first bad row.
    """
    flat = finite_array(values, field)
    if flat.size % 7:
        raise InvalidValueError(f"{field} (length)", flat.size, "allowed: 7 values per pose")
    rows = flat.reshape(-1, 7)
    quaternions = rows[:, 3:]
    norms = np.sqrt(np.einsum("ij,ij->i", quaternions, quaternions))
    off = np.abs(norms - 1.0)
    worst = off.max(initial=0.0)
    if worst > UNIT_TOLERANCE:
        bad = int((off > UNIT_TOLERANCE).argmax())
        raise InvalidValueError(f"{field}[{bad}].orientation", quaternions[bad].tolist(), "allowed: unit quaternions")
    if worst > ROUNDING:
        quaternions /= norms[:, None]
    return rows
