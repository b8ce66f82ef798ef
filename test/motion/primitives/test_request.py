"""A primitive as it is asked for: values as messages bring them, and the check that needs no position of the arm."""

import dataclasses

import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest, check_request, values_from


@pytest.fixture(scope="module")
def robot():
    return load_robot("arm")


REFUSED = {
    "an unknown primitive": ("dance", {}, "name"),
    "a number where a whole one is meant": ("gcm", {"select": 0.0}, "select"),
    "a parameter of another primitive": (
        "move_to_touch",
        {"tr_rel_dest": (0, 0, 0.01, 0, 0, 0, 1), "sel_vect_sp": [1] * 6},
        "sel_vect_sp",
    ),
    "a joint beyond its limit": ("joint_guarded", {"joint_dest": (0, 0, 0, 0, 0, 50.0)}, "joint_dest"),
    "joints of another arm": ("joint_path", {"via_points": (0.0, 0.0)}, "via_points"),
    "more than the fingers open": ("free_grasp", {"grip_width": 0.9}, "grip_width"),
}


@pytest.mark.parametrize(("name", "values", "field"), REFUSED.values(), ids=REFUSED)
def test_the_check_of_the_request_is_the_executives_own(robot, name, values, field):
    request = PrimitiveRequest(1, name, values)
    for check in (lambda: check_request(robot, request), lambda: Executive(robot, 0.005).check(request)):
        with pytest.raises(InvalidValueError) as caught:
            check()
        assert caught.value.field.startswith(field)


def test_values_come_as_yaml_and_numbers_in_any_spelling():
    values = values_from(["a", "b", "c", "d"], ["1e-3", "[1, 2.5, 1e-4]", "reverse", "true"])
    assert values == {"a": 0.001, "b": [1, 2.5, 0.0001], "c": "reverse", "d": True}


@pytest.mark.parametrize(
    ("keys", "texts", "field"),
    [(["a", "a"], ["1", "2"], "a"), (["a"], [], "values"), (["a"], ["[1, 2"], "a"), (["a"], ["{"], "a")]
    + [(["a"], [text], "a") for text in ("2026-13-45", "9" * 400, "[1, " + "9" * 400 + "]", "9" * 5000, "!!float ''")],
)
def test_texts_that_are_no_values_are_refused(keys, texts, field):
    with pytest.raises(InvalidValueError, match=field):
        values_from(keys, texts)


AHEAD = {"tr_rel_dest": (0, 0, 0.01, 0, 0, 0, 1)}
NO_THRESHOLDS = {"max_force_thres": 0.0, "max_torque_thres": 0.0}


@pytest.mark.parametrize(
    ("name", "values", "field"),
    [
        ("cartesian_guarded", AHEAD, "max_force_thres"),
        ("cartesian_guarded", {**AHEAD, "max_force_thres": 0.0}, "max_torque_thres"),
        ("move_to_touch", {**AHEAD, "max_torque_thres": 1.0, "max_force_thres": 0.0}, "max_torque_thres"),
        (
            "gcm",
            {**NO_THRESHOLDS, "sel_vect_fc": [0, 0, 1, 0, 0, 0], "force_setpoints": [0, 0, 5, 0, 0, 0]},
            "sel_vect",
        ),
        ("compliant_grasp", NO_THRESHOLDS, "comply_vect"),
    ],
)
def test_without_a_wrist_sensor_what_needs_it_is_refused_by_name(robot, name, values, field):
    blind = dataclasses.replace(robot, wrist_sensor=False)
    check_request(robot, PrimitiveRequest(1, name, values))
    with pytest.raises(InvalidValueError, match=rf"{field}.*this arm has no wrist sensor"):
        check_request(blind, PrimitiveRequest(1, name, values))


def test_without_a_wrist_sensor_a_motion_without_thresholds_is_allowed_and_gets_none_later(robot):
    blind = dataclasses.replace(robot, wrist_sensor=False)
    executive = Executive(blind, 0.005)
    prepared = executive.prepare(PrimitiveRequest(1, "cartesian_guarded", {**AHEAD, **NO_THRESHOLDS}), robot.home)
    with pytest.raises(InvalidValueError, match=r"max_force_thres.*no wrist sensor"):
        executive.prepare_change(prepared.motion.parameters, {"max_force_thres": 5.0}, robot.home)


def test_a_small_text_that_grows_through_aliases_is_refused_before_it_is_built():
    ones, text = ",".join("1" * 12), "[&a [1]"
    for name, next_name in zip("abcdefghijkl", "bcdefghijklm", strict=True):
        text += f",&{next_name} [{ones.replace('1', '*' + name)}]"
    with pytest.raises(InvalidValueError, match=r"velocity.*no aliases"):
        values_from(["velocity"], [text + "]"])
    with pytest.raises(InvalidValueError, match="no aliases"):
        values_from(["velocity"], ["[&a 1, *a]"])


@pytest.mark.parametrize("depth", [17 + 48, 1_000, 200_000])
def test_lists_that_nest_deep_are_refused_and_end_no_process(depth):
    with pytest.raises(InvalidValueError, match=r"velocity.*nested up to 16"):
        values_from(["velocity"], ["[" * depth + "]" * depth])
    with pytest.raises(InvalidValueError, match="nested up to 16"):
        values_from(["velocity"], ["- " * depth + "1"])


def test_long_lists_and_lists_of_lists_are_read_as_before():
    assert values_from(["a", "b"], [str(list(range(100))), "[[1e-3, 2], [3, 4]]"]) == {
        "a": list(range(100)),
        "b": [[1e-3, 2], [3, 4]],
    }
