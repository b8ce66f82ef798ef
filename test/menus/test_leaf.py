"""A leaf's form: made from declarations, only its own fields, refusals beside the field, values as the robot takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.menus import FormRefusedError, read_menus
from telerobot_nodes.menus.parts import numbers_of, pose_of
from telerobot_nodes.motion.parameters import KINDS, declarations
from telerobot_nodes.operator.forms import Sort

TOUCH = """\
entry: touch
doc: d
primitive: move_to_touch
values: {tr_rel_dest: [0, 0, 0.05, 0, 0, 0, 1]}
form:
  way: {sets: tr_rel_dest.z}
  speed: {sets: time_vel_val, high: 0.1}
  back: {sets: back_off}
  ramp: {sets: acc_time}
"""


def test_a_form_shows_only_its_fields_with_the_declared_unit_range_and_the_preset_or_the_primitives_default(leaf):
    fields = {field.name: field for field in leaf(TOUCH).form.fields}
    assert [*fields] == ["way", "speed", "back", "ramp"]
    assert (fields["way"].unit, fields["way"].default) == ("m", 0.05)
    speed = fields["speed"]
    declared = declarations(KINDS["move_to_touch"])["time_vel_val"]
    assert (speed.low, speed.high, speed.default) == (declared.info.low, 0.1, 0.01)  # the primitive's, not the law's
    assert speed.unit == "m/s and rad/s"
    assert speed.doc == declared.info.doc
    assert (fields["back"].sort, fields["back"].choices) == (Sort.CHOICE, ("reverse", "safety", "return"))


def test_the_meaning_of_a_duration_or_speed_follows_the_preset(leaf):
    text = TOUCH.replace("0, 0, 0, 1]", "0, 0, 0, 1], time_vel_sel: time, time_vel_val: 5").replace(", high: 0.1", "")
    assert next(field.unit for field in leaf(text).form.fields if field.name == "speed") == "s"


def test_what_is_typed_becomes_the_primitives_values(leaf):
    values = leaf(TOUCH).fill({"way": "0.2", "speed": "0.02"})
    assert values["tr_rel_dest"] == [0, 0, 0.2, 0, 0, 0, 1]
    assert (values["time_vel_val"], values["back_off"]) == (0.02, "reverse")


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"speed": "0.2"}, "speed", "speed: '0.2' is not allowed; allowed: 0.0001 .. 0.1 [m/s and rad/s]"),
        ({"back": "away"}, "back", "back: 'away' is not allowed; allowed: reverse, safety, return"),
        ({"wya": "1"}, "wya", "allowed fields: way, speed, back, ramp"),
        ({"ramp": "90"}, "ramp", "allowed: 0.01 .. 60 [s]"),
    ],
)
def test_a_refusal_stands_beside_its_field(leaf, typed, field, reason):
    with pytest.raises(FormRefusedError) as refused:
        leaf(TOUCH).fill(typed)
    assert [*refused.value.refusals] == [field]
    assert reason in refused.value.refusals[field]


def test_what_only_the_robot_refuses_stands_beside_the_field_that_sets_it(leaf):
    timed = TOUCH.replace("0, 0, 0, 1]", "0, 0, 0, 1], time_vel_sel: time, time_vel_val: 5").replace(", high: 0.1", "")
    with pytest.raises(FormRefusedError) as refused:
        leaf(timed).fill({"ramp": "4"})
    assert "up to half of time_vel_val" in refused.value.refusals["ramp"]
    with pytest.raises(FormRefusedError) as refused:
        leaf(
            "entry: a\ndoc: d\nprimitive: gcm\nvalues: {sel_vect_fc: [1, 0, 0, 0, 0, 0]}\n"
            "form:\n  x: {sets: comply_vect.x}\n  y: {sets: comply_vect.y}\n"
        ).fill({"x": True})
    assert "allowed: false, where sel_vect_fc is true" in refused.value.refusals["x"]


def test_one_field_sets_several_parts_and_some_to_the_opposite(leaf):
    hinge = leaf(
        """\
        entry: hinge
        doc: d
        primitive: gcm
        values: {tr_nom: [0, 0.15, 0, 0, 0, 0, 1], tr_force: [0, -0.15, 0.02, 0, 0, 0, 1]}
        form:
          y: {sets: [tr_nom.y, -tr_force.y]}
        """
    )
    values = hinge.fill({"y": "0.3"})
    assert values["tr_nom"][:3] == [0, 0.3, 0]
    assert values["tr_force"][:3] == [0, -0.3, 0.02]


def test_a_goal_without_a_preset_begins_at_home(leaf, arm):
    joints = leaf("entry: j\ndoc: d\nprimitive: joint_guarded\nform:\n  angles: {sets: joint_dest}\n")
    np.testing.assert_allclose(joints.fill({})["joint_dest"], arm.home, atol=1e-6)
    place = leaf("entry: p\ndoc: d\nprimitive: cartesian_guarded\nform:\n  z: {sets: tr_tn_dest.z}\n")
    np.testing.assert_allclose(place.fill({})["tr_tn_dest"][:3], arm.forward(arm.home).translation, atol=1e-6)
    with pytest.raises(FormRefusedError, match="joint_dest"):
        joints.fill({"angles": "99 0 0 0 0 0"})


def test_flags_and_a_selection_are_what_the_robot_takes(leaf):
    yields = leaf(
        "entry: t\ndoc: d\nprimitive: gcm\nvalues: {comply_vect: [1, 0, 0, 0, 0, 0]}\n"
        "form:\n  yields: {sets: comply_vect}\n"
    )
    assert [field.sort for field in yields.form.fields] == [Sort.FLAGS]
    assert yields.fill({"yields": "0 1 0 0 0 1"})["comply_vect"] == [False, True, False, False, False, True]


ANGLE = st.floats(-80.0, 80.0)


@given(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1)), st.tuples(ANGLE, ANGLE, ANGLE))
def test_the_angles_of_a_pose_come_back(xyz, rpy):
    np.testing.assert_allclose(numbers_of(pose_of(xyz, rpy)), [*xyz, *rpy], atol=1e-9)


MACRO = """\
macro: back
version: 1
doc: Move back.
motion: relative
parameters:
  way: {unit: m, low: 0.01, high: 0.2, default: 0.05, doc: distance}
  speed: {unit: m/s, low: 0.01, high: 0.2, default: 0.1}
steps:
  - step: back
    primitive: cartesian_guarded
    values: {tr_rel_dest: [0, 0, "${-way}", 0, 0, 0, 1], time_vel_val: "${speed}"}
"""


@pytest.fixture
def with_macro(write, arm):
    def read(entry):
        (write.folder.parent / "macros").mkdir(exist_ok=True)
        (write.folder.parent / "macros" / "back.yaml").write_text(MACRO)
        (write.folder / "m.yaml").write_text(f"menu: m\norder: 1\ndoc: d\nentries:\n  - {entry}\n")
        return read_menus(write.folder, arm)

    return read


def test_the_form_of_a_macro_is_made_from_its_parameters(with_macro):
    back = with_macro("{entry: b, doc: d, macro: back}").leaf("b")
    way = back.form.fields[0]
    assert [field.name for field in back.form.fields] == ["way", "speed"]
    assert (way.unit, way.low, way.high, way.default, way.doc) == ("m", 0.01, 0.2, 0.05, "distance")
    assert back.fill({"way": "0.1"}) == {"way": 0.1, "speed": 0.1}
    with pytest.raises(FormRefusedError, match=r"way: '1' is not allowed; allowed: 0.01 .. 0.2 \[m\]"):
        back.fill({"way": "1"})


def test_a_leaf_presets_parameters_of_a_macro_and_asks_for_the_others(with_macro):
    back = with_macro("{entry: b, doc: d, macro: back, values: {speed: 0.02}}").leaf("b")
    assert [field.name for field in back.form.fields] == ["way"]
    assert back.fill({}) == {"speed": 0.02, "way": 0.05}
    narrow = with_macro("{entry: b, doc: d, macro: back, form: {far: {sets: way, high: 0.1}}}").leaf("b")
    assert narrow.fill({"far": "0.1"}) == {"way": 0.1}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{entry: b, doc: d, macro: back, values: {sped: 1}}", "sped: unknown; allowed: way, speed"),
        ("{entry: b, doc: d, macro: back, values: {speed: 9}}", "allowed: 0.01 .. 0.2 [m/s]"),
        ("{entry: b, doc: d, macro: back, form: {w: {sets: wya}}}", "allowed: way, speed"),
        ("{entry: b, doc: d, macro: back, form: {w: {sets: way, high: 9}}}", "allowed: 0.01 .. 0.2 [m]"),
    ],
)
def test_a_leaf_of_a_macro_is_checked_against_its_parameters(with_macro, entry, problem):
    broken = with_macro(entry).broken["m"]
    assert (broken.line, problem in str(broken)) == (5, True), str(broken)
