"""From a checked task to a request."""

import pytest

from telerobot_nodes.rtc.elaboration import make_request
from telerobot_nodes.rtc.language import CommandError
from telerobot_nodes.rtc.language.parser import parse_one
from telerobot_nodes.rtc.world import Write


def make(cell, text):
    return make_request(parse_one(text), cell.library, cell.database.view)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("grasp module guarded", "guarded", True),
        ("move guarded left_arm to dock", "guarded", True),
        ("grasp module", "guarded", False),
        ("grasp module queued", "wait", True),
        ("grasp module no-wait", "wait", False),
        ("grasp module", "wait", None),
        ("grasp module timeout 2 min retry 3 as first", "timeout", 120.0),
        ("grasp module timeout 2 min retry 3 as first", "retries", 3),
        ("grasp module timeout 2 min retry 3 as first", "label", "first"),
        ("grasp module accept contact or slip", "accept", {"contact", "slip"}),
        ('grasp module note "a" note "b"', "notes", ("a", "b")),
        ("grasp module shared operator x program z", "shared", (("x",), ("z",))),
        ("grasp module speed 0.05", "constraints", {"speed": 0.05}),
        ("grasp module maintain clearance 1 cm avoid-neighbors within 3 cm", "constraints", {"clearance": 0.03}),
        ("grasp module payload 200 g dither 1 mm", "constraints", {"payload": 0.2, "dither": 0.001}),
        ("grasp module maintain avoid-task-region bench upright", "avoided", ("bench",)),
        ("grasp module maintain avoid-task-region bench upright", "kept", {"upright": ""}),
        ("grasp module via operator-intervention", "via_operator", True),
    ],
)
def test_a_clause_becomes_its_part_of_the_request(cell, text, field, value):
    assert getattr(make(cell, text), field) == value


def test_the_arm_is_the_one_named_the_holder_or_the_nearest(cell):
    assert make(cell, "grasp module with right_arm").slots["arm"] == "right_arm"
    assert make(cell, "grasp module").slots["arm"] == "left_arm"  # the module is on its side
    assert make(cell, "grasp plate").slots["arm"] in ("left_arm", "right_arm")
    cell.database.claim("test", {"right_arm"})
    cell.database.write("test", [Write("right_arm.holds", "module")], 0.0)
    assert make(cell, "lift module").slots["arm"] == "right_arm"


def test_the_resources_are_those_the_skill_uses(cell):
    assert make(cell, "grasp module with left_arm").resources == {"left_arm", "left_gripper", "module"}
    both = make(cell, "grasp module with left_arm and right_arm")
    assert both.resources >= {"left_arm", "right_arm"}


def test_a_camera_that_is_named_alone_leaves_the_choice_of_the_arm(cell):
    """As completion offers it; a skill that looks for nothing refuses it with its clauses."""
    slots = make(cell, "grasp module with camera").slots
    assert (slots["arm"], slots["camera"]) == ("left_arm", "camera")
    assert cell.run("grasp module with camera").outcome == "succeeded"
    assert "nothing for camera to do" in cell.run("move left_arm by 5 cm up with camera").reason
    with pytest.raises(CommandError, match="'left_gripper' is no arm"):
        make(cell, "grasp module with left_gripper")


def test_a_verb_without_a_skill_is_rejected(cell):
    with pytest.raises(CommandError, match="no skill"):
        make(cell, "perform dancing")
