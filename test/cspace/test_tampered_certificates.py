"""Thirty kinds of tampering with a certificate, its path, its robot or its world: each refused, with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import Attachment, arm_geometry, box, floor, sphere, world_of
from telerobot_nodes.cspace.search import Certificate, certify, check_certificate

BALL = sphere("ball", 0.1, (0.75, 0.0, 0.0))
PATH = np.array([[-1.0, 0.2], [-1.0, -0.8], [-1.4, -0.5]])
THROUGH = np.array([[-1.0, 0.2], [1.0, 0.2]])  # straight through the ball


class Case:
    """A certificate that holds, and everything it is checked with."""

    def __init__(self, geometry):
        made = certify(geometry, world_of([BALL]), PATH, 1e-3)
        self.centers, self.halves, self.path = made.centers.copy(), made.halves.copy(), PATH.copy()
        self.geometry, self.obstacles, self.margin, self.self_margin = geometry, [BALL], 0.0, 0.0

    def check(self):
        certificate = Certificate(self.centers, self.halves)
        return check_certificate(certificate, self.path, self.geometry, self.obstacles, self.margin, self.self_margin)

    def through(self):
        """One cell around a motion through the ball."""
        self.path = THROUGH.copy()
        self.centers, self.halves = np.array([[0.0, 0.2]]), np.array([[1.0, 0.0]])


def drop(row):
    def tamper(case):
        keep = np.arange(len(case.centers)) != row % len(case.centers)
        case.centers, case.halves = case.centers[keep], case.halves[keep]

    return tamper


def put(array, row, column, value):
    def tamper(case):
        getattr(case, array)[row, column] = value

    return tamper


def through(change=None):
    def tamper(case):
        case.through()
        if change is not None:
            change(case)

    return tamper


def assign(name, make):
    def tamper(case):
        setattr(case, name, make(case))

    return tamper


def at_tool(case, q):
    return case.geometry.robot.forward(q).act(np.array([0.2, 0.0, 0.0]))


KINDS = {
    "first cell dropped": (drop(0), "not covered"),
    "middle cell dropped": (drop(2), "not covered"),
    "last cell dropped": (drop(-1), "not covered"),
    "no cells": (lambda c: (setattr(c, "centers", c.centers[:0]), setattr(c, "halves", c.halves[:0])), "not covered"),
    "cells in reverse": (assign("centers", lambda c: c.centers[::-1].copy()), "not covered"),
    "cells shifted": (assign("centers", lambda c: c.centers + 0.3), "not covered"),
    "cells shrunk": (assign("halves", lambda c: 0.9 * c.halves), "not covered"),
    "a cell of nothing": (put("halves", 1, slice(None), 0.0), "not covered"),
    "cell blown up": (put("halves", 1, slice(None), 1.2), "cell 1 is not free"),
    "cell blown up in one joint": (put("halves", 0, 0, 1.5), "cell 0 is not free"),
    "cell after the end": (lambda c: setattr(c, "centers", np.vstack([c.centers, [[0.0, 0.0]]])) or
                           setattr(c, "halves", np.vstack([c.halves, [[0.1, 0.1]]])), "cover nothing"),
    "centre NaN": (put("centers", 1, 0, np.nan), "cell 1 is not finite"),
    "centre infinite": (put("centers", 0, 1, np.inf), "cell 0 is not finite"),
    "width NaN": (put("halves", 2, 0, np.nan), "cell 2 is not finite"),
    "width infinite": (put("halves", 0, 0, np.inf), "cell 0 is not finite"),
    "width negative": (put("halves", 1, 0, -0.2), "cell 1 has a negative width"),
    "NaN widths through the ball": (through(put("halves", 0, 0, np.nan)), "not finite"),
    "negative width through the ball": (through(put("halves", 0, 0, -1.0)), "negative width"),
    "one cell through the ball": (through(), "cell 0 is not free"),
    "one waypoint": (assign("path", lambda c: THROUGH[:1]), "2 or more waypoints"),
    "one waypoint inside the ball": (assign("path", lambda c: np.array([[0.0, 0.0]])), "2 or more waypoints"),
    "empty path": (assign("path", lambda c: np.empty((0, 2))), "2 or more waypoints"),
    "flat path": (assign("path", lambda c: c.path.reshape(-1)), "2 or more waypoints"),
    "waypoint NaN": (put("path", 1, 0, np.nan), "waypoint 1 is not finite"),
    "waypoint outside the limits": (put("path", 2, 0, -2.6), "waypoint 2 is outside"),
    "waypoint moved": (put("path", 1, 1, 0.9), "not covered"),
    "another path": (assign("path", lambda c: THROUGH.copy()), "not covered"),
    "an obstacle came": (
        assign("obstacles", lambda c: [BALL, sphere("late", 0.05, at_tool(c, PATH[1]))]), "is not free"),
    "the obstacle moved": (assign("obstacles", lambda c: [BALL.at(replace_place(at_tool(c, PATH[1])))]), "is not free"),
    "the floor rose": (assign("obstacles", lambda c: [BALL, floor(height=0.0)]), "is not free"),
    "margin larger": (assign("margin", lambda c: 0.9), "is not free"),
    "margin NaN": (assign("margin", lambda c: np.nan), "margin is nan"),
    "margin negative": (assign("margin", lambda c: -0.1), "margin is -0.1"),
    "self-margin NaN": (assign("self_margin", lambda c: np.nan), "self_margin is nan"),
    "something is held": (assign("geometry", lambda c: arm_geometry(
        c.geometry.robot, [Attachment(box("bar", (1.2, 0.05, 0.05), (0.6, 0.0, 0.0)))])), "is not free"),
}  # fmt: skip


def replace_place(place):
    import pinocchio as pin

    return pin.SE3(np.eye(3), np.array(place))


def test_there_are_thirty_kinds():
    assert len(KINDS) >= 30


def test_untampered_it_is_accepted(planar):
    assert Case(planar).check().valid


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.lengthy
def test_tampering_is_refused_with_the_reason(planar, kind):
    case = Case(planar)
    tamper, reason = KINDS[kind]
    tamper(case)
    checked = case.check()
    assert not checked.valid
    assert reason in checked.reason
    assert not checked.room >= 0.0


def test_a_certificate_of_another_robot_is_refused(planar, panda):
    case = Case(planar)
    case.geometry = panda
    assert "waypoints of 7 joints" in case.check().reason
    case.path = np.tile(panda.robot.home, (2, 1))
    assert "the cells have 2 joints, the robot 7" in case.check().reason


def test_a_robot_that_stands_elsewhere_refuses_it(planar):
    import pinocchio as pin

    from telerobot_nodes.core.robot import load_robot

    moved = load_robot(str(planar.robot.urdf_path), T_world_base=pin.SE3(np.eye(3), np.array([0.5, 0.5, 0.0])))
    case = Case(planar)
    case.geometry = replace(planar, robot=moved)
    checked = case.check()
    assert not checked.valid
    assert "is not free" in checked.reason
