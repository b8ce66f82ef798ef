"""Pictures within a number of bytes, and every damaged picture refused."""

import io

import numpy as np
import pytest
from PIL import Image

from telerobot_nodes.core.camera import LEAST_BYTES, MOST_BYTES, CameraSetting, decode, encode
from telerobot_nodes.errors import InvalidValueError

NOISE = np.random.default_rng(1).integers(0, 256, (480, 640, 3), dtype=np.uint8)
SMOOTH = np.tile(np.linspace(0, 255, 640, dtype=np.uint8)[None, :, None], (480, 1, 3))


def test_a_picture_comes_back_as_it_was():
    picture = encode(SMOOTH)
    assert (picture.width, picture.height) == (640, 480)
    assert np.abs(decode(picture.data).astype(int) - SMOOTH).max() < 8


@pytest.mark.parametrize("most", [LEAST_BYTES, 5_000, 20_000, MOST_BYTES])
def test_the_worst_picture_keeps_to_its_bytes(most):
    picture = encode(NOISE, most, 95)
    assert len(picture.data) <= most
    assert decode(picture.data).shape == (picture.height, picture.width, 3)


def as_bytes(form):
    buffer = io.BytesIO()
    Image.fromarray(SMOOTH).save(buffer, form)
    return buffer.getvalue()


def test_a_png_is_read_too():
    assert (decode(as_bytes("PNG")) == SMOOTH).all()


WHOLE = as_bytes("JPEG")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xd8",
        WHOLE[:-2000],
        WHOLE[: len(WHOLE) // 2],
        WHOLE[100:],
        bytes(1000),
        as_bytes("GIF"),
        b"\xff" * 99,
    ],
    ids=["empty", "two bytes", "without end", "half", "without head", "zeros", "another format", "ones"],
)
def test_a_damaged_picture_is_refused(data):
    with pytest.raises(InvalidValueError, match=r"^picture"):
        decode(data)


def test_a_picture_that_claims_to_be_huge_is_refused_before_it_takes_memory():
    at = WHOLE.index(b"\xff\xc0") + 5
    huge = WHOLE[:at] + b"\xff\xff\xff\xff" + WHOLE[at + 4 :]
    with pytest.raises(InvalidValueError, match=r"picture \(size\): '65535x65535'|^picture"):
        decode(huge)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"rate": np.nan}, "camera rate"),
        ({"rate": -1.0}, "camera rate"),
        ({"rate": 31.0}, "camera rate"),
        ({"rate": True}, "camera rate"),
        ({"budget": 0.0}, "camera budget"),
        ({"budget": 2.0**64}, "camera budget"),
        ({"rate": 30.0, "budget": 10_000.0}, "camera budget"),
        ({"camera": "x" * 65}, "camera"),
        ({"camera": "a\nb"}, "camera"),
    ],
)
def test_a_wrong_setting_is_refused_by_field_and_value(values, field):
    with pytest.raises(InvalidValueError, match=f"^{field}: .*allowed"):
        CameraSetting(**values)


@pytest.mark.parametrize(
    ("rate", "budget", "most"), [(4.0, 120_000.0, 30_000), (1.0, 1e6, MOST_BYTES), (0.0, 2e3, MOST_BYTES)]
)
def test_the_largest_picture_follows_from_rate_and_budget(rate, budget, most):
    assert CameraSetting("wrist", rate, budget).most_bytes == most
