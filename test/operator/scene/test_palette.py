"""The colours of the console."""

import itertools

import numpy as np
import pytest

from telerobot_nodes.operator.client import Tone
from telerobot_nodes.operator.scene import palette


@pytest.mark.parametrize(("colour", "css"), [((0, 0, 0), "#000000"), ((255, 8, 16), "#ff0810")])
def test_a_colour_becomes_css(colour, css):
    assert palette.css(colour) == css


@pytest.mark.parametrize("table", [palette.TONES, palette.BANNERS])
def test_every_tone_has_a_colour(table):
    assert set(table) == set(Tone)


def test_the_timing_kinds_of_the_plan_have_different_colours():
    assert len({colour for _, colour in palette.TIMINGS}) == len(palette.TIMINGS)


# linear RGB as seen without the long, the middle or the short cones [Machado, Oliveira and Fernandes 2009, severity 1]
VISION = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
LINES = ("EXECUTED", "COMMITTED", "TRIAL", "OTHER", "CONFLICT", "MOTION")
ARMS = ("ACTUAL", "ESTIMATE", "PREDICTED", "TRIAL", "STALE", "OBSTACLE", "MOTION")
FAR = 20.0  # CIE76; a just noticeable difference is 2.3


def lab(colour, vision):
    value = np.array(colour) / 255.0
    rgb = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    f = np.cbrt(XYZ @ np.clip(VISION[vision] @ rgb, 0.0, 1.0) / WHITE)
    return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("kind", ["lines", "arms"])
def test_any_colour_vision_tells_the_lines_and_the_arms_apart(kind, vision):
    names = LINES if kind == "lines" else ARMS
    colours = {name: getattr(palette, name) for name in names} | (dict(palette.TIMINGS) if kind == "lines" else {})
    seen = {name: lab(colour, vision) for name, colour in colours.items()}
    near = {(a, b): np.linalg.norm(seen[a] - seen[b]) for a, b in itertools.combinations(seen, 2)}
    assert {pair: distance for pair, distance in near.items() if distance < FAR} == {}


def luminance(css):
    value = np.array([int(css[at : at + 2], 16) for at in (1, 3, 5)]) / 255.0
    return XYZ[1] @ np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("tone", Tone)
def test_text_has_a_contrast_of_at_least_four_and_a_half(tone):
    panel = "#1a1b1e"  # the page behind its texts
    for text, behind in ((palette.TONES[tone], panel), ("#ffffff", palette.BANNERS[tone])):
        assert (luminance(text) + 0.05) / (luminance(behind) + 0.05) >= 4.5
