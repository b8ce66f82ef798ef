"""Self-collision by the true shapes, pose by pose."""

import numpy as np

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import SelfCheck

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)


def bent():
    q = HOME.copy()
    q[4] = ROBOT.limits.upper[4]
    return q


def test_home_touches_nothing_and_a_wrist_bent_to_its_limit_does():
    check = SelfCheck(ROBOT)
    assert check.touches(HOME) == ""
    assert check.touches(bent()) == "link 4 and link 6 of the arm"


def test_only_the_pairs_asked_for_are_checked():
    assert SelfCheck(ROBOT, [(0, 3)]).touches(bent()) == ""
    assert SelfCheck(ROBOT, [(4, 6)]).touches(bent()) == "link 4 and link 6 of the arm"


def test_neighbours_are_not_checked():
    assert not any(b - a <= 1 for a, b in SelfCheck(ROBOT)._links)
