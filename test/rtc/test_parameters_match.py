"""What the binder says to an arm is accepted by the compliant motion primitive, name by name and as a whole."""

import numpy as np
import pytest

from telerobot_nodes.motion.parameters import FIELDS, parameters_from
from telerobot_nodes.rtc.skills.primitives import GCMSF_PARAMETERS

COMMANDS = [
    "grasp module with left_arm unless force > 3 N then stop",
    "turn crank with left_arm",
    "turn bolt",
    "open door",
    "open drawer",
    "insert pin into hole",
    "remove pin from hole",
    "seat stud in thread",
    "push box along x maintain force 5 N",
    "slide box along y",
    "level module",
    "polish plate for 5 s maintain force 5 N stiffness 2 shared operator x y program z rx ry dither 2 mm",
    "comply left_arm along x y",
    "teleoperate left_arm in world",
    "hold left_arm for 2 s",
    "move left_arm to dock guarded",
    "touch table with left_arm",
]


@pytest.mark.parametrize("name", GCMSF_PARAMETERS)
def test_every_parameter_of_the_binder_is_one_of_the_primitive_with_as_many_numbers(name):
    default = FIELDS[name].default
    count = np.size(default) if isinstance(default, (float, tuple)) else 0
    assert GCMSF_PARAMETERS[name] == (7 if name == "tr_tn_dest" else count)  # no default: every motion needs a goal


@pytest.mark.parametrize("text", COMMANDS)
@pytest.mark.lengthy
def test_the_whole_set_is_accepted(cell, text):
    assert cell.run(text).outcome == "succeeded"
    for primitive in cell.executor.sent:
        if primitive.subsystem in ("left_arm", "right_arm"):
            parameters_from(primitive.parameters)
