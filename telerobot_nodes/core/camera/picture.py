"""Pictures as JPEG or PNG: read with every fault named, written within a number of bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError

Pixels = npt.NDArray[np.uint8]  # (height, width, 3) red, green, blue

MOST_BYTES = 60_000  # of a picture that crosses the link
LEAST_BYTES = 2_000
MOST_RECEIVED = 16_000_000  # [B] of a picture that is read
MOST_PIXELS = 4096 * 4096
QUALITY_RANGE = (10, 95)  # [-] of a JPEG
_STEP = 15  # [-] of quality, when a picture is too large
_LEAST_SIDE = 32  # [px]


@dataclass(frozen=True)
class Encoded:
    """A JPEG and its size [px]."""

    data: bytes
    width: int
    height: int


def decode(data: bytes) -> Pixels:
    """Pixels of a whole JPEG or PNG. Raises InvalidValueError when it is damaged, without end or too large."""
    from PIL import Image

    if not 0 < len(data) <= MOST_RECEIVED:
        raise InvalidValueError("picture (bytes)", len(data), f"allowed: 1 .. {MOST_RECEIVED}")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                size = f"{picture.width}x{picture.height}"
                raise InvalidValueError("picture (size)", size, f"allowed: up to {MOST_PIXELS} pixels")
            return np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        if isinstance(error, InvalidValueError):
            raise
        shown = f"{len(data)} B from {data[:4].hex(' ')}"
        raise InvalidValueError("picture", shown, f"allowed: a whole JPEG or PNG ({error})") from None


def encode(pixels: Pixels, most_bytes: int = MOST_BYTES, quality: int = 80) -> Encoded:
    """The picture as JPEG of at most `most_bytes`: first with less quality, then with half the size.

    Raises InvalidValueError naming the field.
    """
    from PIL import Image

    in_range(most_bytes, "most_bytes", LEAST_BYTES, MOST_BYTES, "B")
    in_range(quality, "quality", *QUALITY_RANGE)
    picture = Image.fromarray(pixels)
    while True:
        for level in range(int(quality), QUALITY_RANGE[0] - 1, -_STEP):
            buffer = io.BytesIO()
            picture.save(buffer, "JPEG", quality=level)
            if buffer.tell() <= most_bytes:
                return Encoded(buffer.getvalue(), picture.width, picture.height)
        if min(picture.size) < 2 * _LEAST_SIDE:
            raise InvalidValueError("most_bytes", most_bytes, f"allowed: more, a picture has {buffer.tell()} B")
        picture = picture.resize((picture.width // 2, picture.height // 2))
