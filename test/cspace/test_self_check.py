"""Self-collision by the true shapes, pose by pose."""

import numpy as np

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import LinkContacts, SelfCheck, link_pairs, link_shapes

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
    """A guess kept from the step before would make coal blind here."""
    shapes = link_shapes(ROBOT)
    checked = link_pairs(ROBOT, shapes).checked
    kept, contacts, missed = SelfCheck(ROBOT), LinkContacts(ROBOT, shapes), []
    for step in np.linspace(0.0, 1.0, 400):
        q = HOME + step * (bent() - HOME)
        contacts.place(q)
        touching = any(contacts.touch(*pair) for pair in checked)
        missed += [step] if touching != bool(kept.touches(q)) else []
    assert missed == []
