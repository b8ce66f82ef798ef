"""Self-collision by the true shapes, pose by pose."""

import numpy as np

from telerobot_nodes.core.robot import link_shapes, load_robot
from telerobot_nodes.cspace.covering import LinkContacts
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
    assert SelfCheck(ROBOT, [("base_link", "link3")]).touches(bent()) == ""
    assert (
        SelfCheck(ROBOT, [("ft_sensor", "link4"), ("link4", "link6")]).touches(bent()) == "link 4 and link 6 of the arm"
    )


def test_neighbours_are_not_checked():
    neighbours = {("base_link", "link1"), *((f"link{i}", f"link{i + 1}") for i in range(1, 6))}
    assert not neighbours & set(SelfCheck(ROBOT)._names)


def test_contact_is_found_when_it_comes_slowly():
    """Without `enable_contact` coal misses contacts on this motion: shallow ones, and with its kept guess deep ones."""
    random = np.random.default_rng(109)
    begin, end = random.uniform(ROBOT.limits.lower, ROBOT.limits.upper, (2, ROBOT.dof))
    check, contacts, wrong = SelfCheck(ROBOT, [("link4", "link6")]), LinkContacts(ROBOT, link_shapes(ROBOT)), []
    for step in np.linspace(0.0, 1.0, 400):
        q = begin + step * (end - begin)
        contacts.place(q)
        wrong += [step] if contacts.touch("link4", "link6") != bool(check.touches(q)) else []
    assert wrong == []
