"""Binding: arguments and the context of the moment become plain numbers, the same everywhere."""

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.macros import Context, steps_of

POSE = (0.4, 0.1, 0.3, 1.0, 0.0, 0.0, 0.0)
HEAD = "macro: m\nversion: 1\ndoc: d\nmotion: relative\n"


def bound(folder, name, arguments=None, context=None):
    return list(steps_of(folder, name, arguments or {}, lambda: context or Context()))


def values(folder, text, context):
    step = f"steps:\n  - step: s\n    primitive: cartesian_guarded\n    values:\n      {text}\n"
    return dict(bound(folder(m=HEAD + step), "m", context=context)[0].values)


def test_nested_macros_are_run_in_place_with_their_arguments(write, back):
    outer = (
        "macro: outer\nversion: 1\ndoc: d\nmotion: relative\n"
        "parameters: {far: {unit: m, low: 0, high: 1, default: 0.04}}\n"
        "steps:\n  - {step: first, macro: back, values: {way: '${2 * far}'}, repeat: 2}\n"
        "  - {step: say, text: 'move by ${100 * far} cm up'}\n"
    )
    steps = bound(write(back=back, outer=outer), "outer", {"far": 0.03})
    assert [step.label for step in steps] == ["outer/first/back", "outer/first#2/back", "outer/say"]
    assert steps[0].values["tr_rel_dest"] == [0, 0, -0.06, 0, 0, 0, 1]
    assert steps[2].text == "move by 3 cm up"


def test_a_step_is_bound_when_it_is_asked_for(write):
    """Claim 7: the context at the initiation of a step, not that of the start, gives its numbers."""
    text = "steps:\n  - {step: s, primitive: cartesian_guarded, values: {tr_tn_dest: '${tool.pose}'}, repeat: 2}\n"
    now = [Context(np.array(POSE))]
    steps = steps_of(write(m=HEAD + text), "m", {}, lambda: now[0])
    assert next(steps).values["tr_tn_dest"] == list(POSE)
    moved = (0.5, *POSE[1:])
    now[0] = Context(np.array(moved))
    assert next(steps).values["tr_tn_dest"] == list(moved)


def test_tool_arm_object_and_camera_are_known(write):
    context = Context(np.array(POSE), np.arange(6.0), {"peg": {"pose": (1.0, *POSE[1:])}}, (2.0, *POSE[1:]))
    assert values(write, "tr_tn_dest: '${shift(object.peg.pose, (0, 0, 1), 0.1)}'", context)["tr_tn_dest"] == [
        1.0,
        0.1,
        pytest.approx(0.4),
        *POSE[3:],
    ]
    assert values(write, "tr_camera: '${camera.pose}'", context)["tr_camera"] == [2.0, *POSE[1:]]
    assert values(write, "acc_time: '${arm.joints[2]}'", context)["acc_time"] == 2.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tr_tn_dest: '${object.peg.pose}'", "nothing is known of object.peg"),
        ("tr_camera: '${camera.pose}'", "nothing is known of camera.pose"),
        ("tr_tn_dest: '${object}'", "name one of them with a dot"),
        ("tr_tn_dest: '${pose(1)}'", "known to the decision unit only"),
        ("acc_time: '${1 / 0}'", "division by zero"),
        ("acc_time: '${object[0]}'", "name one with a dot"),
        ("acc_time: '${rotate(\"w\", 1)}'", "allowed: x, y, z"),
        (f"acc_time: '${{1{'0' * 400}}}'", "too large"),
    ],
)
def test_a_binding_that_resolves_to_nothing_names_line_and_key(write, text, problem):
    with pytest.raises(ParameterFileError, match=problem) as refused:
        values(write, text, Context(np.array(POSE)))
    assert refused.value.line == 9


@pytest.mark.parametrize(
    "given",
    [{"way": 0.3}, {"way": float("nan")}, {"way": 10**400}, {"way": "far"}, {"way": [0.1, 0.1]}, {"wya": 1}],
)
def test_an_argument_out_of_range_is_refused_before_the_first_step(write, back, given):
    with pytest.raises(InvalidValueError, match=r"0.01 .. 0.2 \[m\]|allowed parameters of back: way"):
        steps_of(write(back=back), "back", given, Context)


def test_arguments_of_a_nested_macro_are_checked_at_their_line(write, back):
    outer = HEAD + "steps:\n  - step: s\n    macro: back\n    values:\n      way: 3\n"
    with pytest.raises(ParameterFileError, match=r"0.01 .. 0.2 \[m\]") as refused:
        bound(write(back=back, m=outer), "m")
    assert refused.value.line == 9


@pytest.mark.lengthy
def test_no_macro_has_more_than_five_thousand_steps(write, back):
    def of(name, inner, turns):
        return (
            HEAD.replace("macro: m", f"macro: {name}") + f"steps:\n  - {{step: s, macro: {inner}, repeat: {turns}}}\n"
        )

    folder = write(back=back, a=of("a", "back", 1000), b=of("b", "a", 5), c=of("c", "a", 6))
    assert len(bound(folder, "b")) == 5000
    with pytest.raises(InvalidValueError, match="5000"):
        bound(folder, "c")


def test_the_same_file_gives_the_same_numbers_bit_for_bit(write, back):
    folder, again = write(back=back), write(back=back)
    for way in np.random.default_rng(0).uniform(0.01, 0.2, 50):
        first, second = (bound(f, "back", {"way": float(way)})[0].values["tr_rel_dest"] for f in (folder, again))
        assert np.array(first).tobytes() == np.array(second).tobytes()
        assert first[2] == -way


def test_seven_joints_are_moved_by_numbers(write):
    """A Panda has as many joints as a pose has numbers."""
    context = Context(np.array(POSE), np.arange(7.0))
    found = values(write, "tr_camera: '${arm.joints + [0.5, 0, 0, 0, 0, 0, 0]}'", context)
    assert found["tr_camera"] == [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
