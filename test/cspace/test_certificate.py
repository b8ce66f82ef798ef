"""Certificates: made for free paths only, and refused by the checker when they are changed."""

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import box, sphere, world_of
from telerobot_nodes.cspace.search import Certificate, certify, check_certificate
from telerobot_nodes.errors import InvalidValueError

OBSTACLES = [sphere("ball", 0.1, (0.75, 0.0, 0.0)), box("box", (0.1, 0.1, 0.1), (-0.6, 0.5, 0.0))]
PATH = np.array([[-1.0, 0.2], [-1.0, -0.8], [-1.4, -0.5]])


@pytest.fixture(scope="module")
def certificate(planar):
    return certify(planar, world_of(OBSTACLES), PATH, 1e-3)


def test_a_free_path_has_a_certificate_that_is_accepted(planar, certificate):
    checked = check_certificate(certificate, PATH, planar, OBSTACLES)
    assert checked.valid, checked.reason
    assert checked.room >= 0.0


def test_a_path_that_collides_has_none(planar):
    assert certify(planar, world_of(OBSTACLES), np.array([[-1.0, 0.2], [1.0, 0.2]]), 1e-3) is None


def test_its_cells_cannot_be_changed(certificate):
    with pytest.raises(ValueError, match="read-only"):
        certificate.centers[0] = 0.0
    with pytest.raises(InvalidValueError, match="halves"):
        Certificate(np.zeros((2, 2)), np.zeros((3, 2)))


def without(certificate, cell):
    keep = np.arange(len(certificate)) != cell
    return Certificate(certificate.centers[keep], certificate.halves[keep])


def test_a_missing_cell_is_found(planar, certificate):
    for cell in (0, len(certificate) // 2, len(certificate) - 1):
        checked = check_certificate(without(certificate, cell), PATH, planar, OBSTACLES)
        assert not checked.valid
        assert "not covered" in checked.reason


def test_a_cell_blown_up_into_an_obstacle_is_found(planar, certificate):
    halves = certificate.halves.copy()
    halves[1] += 1.0
    checked = check_certificate(Certificate(certificate.centers.copy(), halves), PATH, planar, OBSTACLES)
    assert not checked.valid
    assert "cell 1 is not free" in checked.reason
    assert checked.room < 0.0


def test_an_obstacle_that_came_later_is_found(planar, certificate):
    q = 0.5 * (PATH[0] + PATH[1])
    tool = planar.robot.forward(q).act(np.array([0.2, 0.0, 0.0]))
    late = [*OBSTACLES, sphere("late", 0.05, tool)]
    assert not check_certificate(certificate, PATH, planar, late).valid


def test_a_larger_margin_or_a_path_outside_the_limits_is_refused(planar, certificate):
    assert not check_certificate(certificate, PATH, planar, OBSTACLES, margin=0.7).valid
    outside = PATH.copy()
    outside[2, 0] = -2.6
    assert "waypoint 2" in check_certificate(certificate, outside, planar, OBSTACLES).reason
