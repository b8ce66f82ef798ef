"""From points to pixels: axes, distortion, what is not in the picture, and every value that is refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from telerobot_nodes.core.camera import Calibration, load_calibration
from telerobot_nodes.errors import InvalidValueError, ParameterFileError

ORIGIN = np.array((0.0, 0, 0, 0, 0, 0, 1))
PLAIN = Calibration(640, 480, 500.0, 510.0, 320.0, 240.0)


def test_a_point_ahead_is_in_the_middle_right_is_right_and_down_is_down():
    pixels = PLAIN.project(np.array([(0.0, 0, 2), (0.2, 0, 2), (0.0, 0.2, 2)]), ORIGIN)
    assert pixels == pytest.approx(np.array([(320.0, 240), (370, 240), (320, 291)]))


def test_a_turned_camera_sees_what_is_before_it():
    """Turned by a quarter about y, z looks along WORLD's x."""
    turned = np.array((1.0, 2.0, 3.0, 0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)))
    assert PLAIN.project(np.array([(5.0, 2.0, 3.0)]), turned) == pytest.approx(np.array([(320.0, 240.0)]))


@pytest.mark.parametrize("point", [(0.0, 0, -1), (0.0, 0, 0.01), (50.0, 0, 1)])
def test_what_is_behind_too_near_or_far_beside_is_not_in_the_picture(point):
    assert np.isnan(PLAIN.project(np.array([point]), ORIGIN)).all()


def test_distortion_is_that_of_opencv():
    """k1 k2 p1 p2 k3, by the formula of its documentation for x 0.2, y -0.1."""
    lens = replace(PLAIN, model="plumb_bob", distortion=np.array((-0.3, 0.1, 0.01, -0.02, 0.05)))
    x, y = 0.2, -0.1
    r2 = 0.05
    radial = 1 - 0.3 * r2 + 0.1 * r2**2 + 0.05 * r2**3
    wanted_x = x * radial + 2 * 0.01 * x * y - 0.02 * (r2 + 2 * x * x)
    wanted_y = y * radial + 0.01 * (r2 + 2 * y * y) - 2 * 0.02 * x * y
    wanted = np.array([(500 * wanted_x + 320, 510 * wanted_y + 240)])
    assert lens.project(np.array([(x, y, 1.0)]), ORIGIN) == pytest.approx(wanted)
    rational = replace(lens, model="rational_polynomial", distortion=np.array((0.0, 0, 0, 0, 0, 0.2, 0, 0)))
    wanted = np.array([(500 * x / 1.01 + 320, 510 * y / 1.01 + 240)])
    assert rational.project(np.array([(x, y, 1.0)]), ORIGIN) == pytest.approx(wanted)


def test_half_a_picture_has_the_same_points_at_half_the_distance():
    point = np.array([(0.3, -0.2, 2.0)])
    whole, half = (lens.project(point, ORIGIN) for lens in (PLAIN, PLAIN.scaled(320, 240)))
    assert half + 0.5 == pytest.approx((whole + 0.5) / 2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fx", np.nan),
        ("fx", -500.0),
        ("fy", 0.0),
        ("fy", 1e9),
        ("cx", np.inf),
        ("cy", -1e6),
        ("width", 0),
        ("width", 640.5),
        ("width", True),
        ("height", 2**64),
    ],
)
def test_a_wrong_value_is_refused_by_its_field(field, value):
    with pytest.raises(InvalidValueError, match=f"^{field}: .*allowed"):
        replace(PLAIN, **{field: value})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"k": [500.0] * 8}, r"k \(length\): 8"),
        ({"k": [500.0, 1, 320, 0, 510, 240, 0, 0, 1]}, r"k\[1\]: 1.0"),
        ({"k": [np.nan, 0, 320, 0, 510, 240, 0, 0, 1]}, r"k\[0\]: nan"),
        ({"k": [0.0] * 9}, r"k\[8\]: 0.0"),
        ({"distortion_model": "fisheye"}, "distortion_model: 'fisheye'"),
        ({"d": [0.1, 0.2]}, r"d \(length\): 2"),
        ({"d": [0.1, np.nan, 0, 0, 0]}, r"d\[1\]: nan"),
        ({"d": [1e300, 0, 0, 0, 0]}, "d: 1e"),
    ],
)
def test_a_wrong_camera_info_is_refused_by_field_and_value(changes, text):
    info = {"width": 640, "height": 480, "k": PLAIN.matrix, "distortion_model": "plumb_bob", "d": [0.0] * 5}
    assert Calibration.of_info(SimpleNamespace(**info)) is not None
    with pytest.raises(InvalidValueError, match=text):
        Calibration.of_info(SimpleNamespace(**{**info, **changes}))


def test_a_picture_of_another_size_is_refused():
    PLAIN.check_size(640, 480)
    with pytest.raises(InvalidValueError, match=r"height: 480 .*allowed: 360, as the picture"):
        PLAIN.check_size(640, 360)


FILE = """image_width: 640
image_height: 480
camera_name: palm
camera_matrix: {rows: 3, cols: 3, data: [500, 0, 320, 0, 510, 240, 0, 0, 1]}
distortion_model: plumb_bob
distortion_coefficients: {rows: 1, cols: 5, data: [-0.3, 0.1, 0, 0, 0]}
"""


def written(tmp_path, text):
    file = tmp_path / "palm.yaml"
    file.write_text(text)
    return file


def test_a_file_of_camera_calibration_is_read(tmp_path):
    lens = load_calibration(written(tmp_path, FILE))
    assert (lens.width, lens.fx, lens.cy, lens.distortion[0]) == (640, 500.0, 240.0, -0.3)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("image_width: 640", "image_width: 0", "1:1: image_width: width: 0"),
        ("image_width: 640", "image_width: wide", "1:1: image_width: 'wide'"),
        ("[500, 0", "[-500, 0", "4:1: camera_matrix: fx: -500"),
        ("[500, 0", "[.nan, 0", r"4:1: camera_matrix: k\[0\]: nan"),
        ("[500, 0", "[[], 0", "4:1: camera_matrix"),
        ("plumb_bob", "fisheye", "5:1: distortion_model: distortion_model: 'fisheye'"),
        ("[-0.3, 0.1,", "[", r"6:1: distortion_coefficients: d \(length\): 3"),
        ("camera_matrix", "matrix", "1:1: camera_matrix"),
    ],
)
def test_a_wrong_file_is_refused_by_line_and_key(tmp_path, old, new, text):
    with pytest.raises(ParameterFileError, match=text):
        load_calibration(written(tmp_path, FILE.replace(old, new)))
