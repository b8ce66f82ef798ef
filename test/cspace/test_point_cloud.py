"""Point clouds in any layout of their fields; those that contradict themselves are refused by name."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.cspace.scenes.point_cloud import MOST_POINTS, points_of
from telerobot_nodes.errors import InvalidValueError

NUMBERS = {7: "f4", 8: "f8"}


def field(name, offset, datatype=7, count=1):
    return SimpleNamespace(name=name, offset=offset, datatype=datatype, count=count)


def cloud(points, offsets=(0, 4, 8), kinds=(7, 7, 7), step=16, pad=0, height=1, big=False, **fields):
    """A message written byte by byte from points (n, 3)."""
    width = len(points) // height
    row = width * step + pad
    data = bytearray(b"\xee" * (row * height))
    order = ">" if big else "<"
    for i, point in enumerate(points):
        for value, offset, kind in zip(point, offsets, kinds, strict=True):
            raw = np.array(value, dtype=order + NUMBERS[kind]).tobytes()
            at = i // width * row + i % width * step + offset if width else 0
            data[at : at + len(raw)] = raw
    named = [field("rgb", 0), *(field(n, o, k) for n, o, k in zip("xyz", offsets, kinds, strict=True))]
    values = {"width": width, "height": height, "fields": named, "is_bigendian": big, "point_step": step}
    return SimpleNamespace(**{**values, "row_step": row, "data": bytes(data), **fields})


@st.composite
def layouts(draw):
    kinds = tuple(draw(st.sampled_from((7, 8))) for _ in range(3))
    order, at, offsets = draw(st.permutations(range(3))), 0, [0, 0, 0]
    for axis in order:
        at += draw(st.integers(0, 5))
        offsets[axis] = at
        at += np.dtype(NUMBERS[kinds[axis]]).itemsize
    height = draw(st.integers(1, 3))
    shape = {"step": at + draw(st.integers(0, 7)), "pad": draw(st.integers(0, 9)), "big": draw(st.booleans())}
    return {"kinds": kinds, "offsets": tuple(offsets), "height": height, **shape}


@pytest.mark.lengthy
@settings(max_examples=60, deadline=None)
@given(layouts(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_points_are_read_in_any_layout(layout, columns, random):
    points = [[random.uniform(-9.0, 9.0) for _ in range(3)] for _ in range(columns * layout["height"])]
    found = points_of(cloud(points, **layout))
    assert found == pytest.approx(np.array(points), rel=1e-6)


def test_points_that_are_not_finite_are_left_out():
    rows = [[0.0, 1.0, 2.0], [np.nan] * 3, [1.0, np.inf, 0.0], [3.0, 4.0, 5.0]]
    assert points_of(cloud(rows, height=2)).tolist() == [rows[0], rows[3]]


def test_the_last_row_may_end_with_its_last_point():
    message = cloud(np.ones((4, 3)), height=2, pad=5)
    message.data = message.data[:-5]
    assert points_of(message).shape == (4, 3)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"width": 0}, r"width, height: .*1 or more points"),
        ({"width": MOST_POINTS + 1}, "2,000,000 points"),
        ({"fields": [field("x", 0), field("y", 4)]}, "fields: 'x, y'.*x, y, z"),
        ({"fields": [field(n, 0, 2) for n in "xyz"]}, "field x: datatype: 2"),
        ({"fields": [field(n, 0, 7, 3) for n in "xyz"]}, "field x: count: 3"),
        ({"fields": [field(n, 13) for n in "xyz"]}, "field x: offset: 13.*up to 12"),
        ({"row_step": 31}, "row_step: 31.*32 or more"),
        ({"data": b"\x00" * 31}, "data .length.: 31.*32"),
        ({"data": b"\x00" * 33}, "data .length.: 33.*32"),
        ({"point_step": 0}, "offset"),
        ({"data": np.full(8, np.nan, dtype="<f4").tobytes()}, "none is finite"),
    ],
)
def test_a_cloud_that_contradicts_itself_is_refused(fields, why):
    with pytest.raises(InvalidValueError, match=why):
        points_of(cloud(np.ones((2, 3)), **fields))
