"""Messages as the operator's client takes them."""

import pytest

pytest.importorskip("rclpy")
from builtin_interfaces.msg import Time

from telerobot_nodes.cspace.geometry import Scene, addition, box, cylinder, floor, hull
from telerobot_nodes.nodes.clients.other_arm import namespace_beside
from telerobot_nodes.nodes.planning.convert_planning import scene_to_message
from telerobot_nodes.operator.client import solids_from_message


def test_what_stands_and_what_this_arm_holds_reaches_the_display_and_what_another_holds_does_not():
    corners = [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.2)]
    changes = [
        addition(box("crate", (0.1, 0.2, 0.3), (0.5, 0.0, 0.2))),
        addition(floor()),
        addition(cylinder("can", 0.03, 0.1), "left"),
        addition(cylinder("other", 0.03, 0.1), "right"),
        hull("wedge", [value for corner in corners for value in corner], (1.0, 0, 0, 0, 0, 0, 1)),
    ]
    message = scene_to_message(Scene().changed(changes, arms=("left", "right")), Time())
    solids = solids_from_message(message, "left")
    assert {solid.thing: solid.held for solid in solids} == {
        "crate": False,
        "floor": False,
        "can": True,
        "wedge": False,
    }
    crate = next(solid for solid in solids if solid.name == "crate")
    assert (crate.kind, crate.size, crate.pose[:3]) == ("box", (0.1, 0.2, 0.3), (0.5, 0.0, 0.2))


@pytest.mark.parametrize(
    ("own", "resolved", "other", "namespace"),
    [
        ("/", "/halt", "right", "right"),
        ("/", "/operator_side/halt", "right", "right/operator_side"),
        ("/left", "/left/operator_side/halt", "right", "right/operator_side"),
        ("/left", "/left/halt", "cell/right", "cell/right"),
        ("/left", "/operator_side/halt", "right", "right"),  # a link of one arm, in a namespace of its own
        ("/right", "/right/halt", "", ""),
    ],
)
def test_another_arms_topic_is_on_the_same_side_of_its_link(own, resolved, other, namespace):
    assert namespace_beside(own, resolved, "halt", other) == namespace
