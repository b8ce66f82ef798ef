"""A macro of the command language as a file: steps, numbers with units, names; what cannot become one is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import check_macro, from_text, read_macros
from telerobot_nodes.rtc.language import UNITS, CommandError, parse

ARM = load_robot("arm")
FETCH = """define fetch(thing) as { grasp thing with left_arm speed 5 cm/s;
  move left_arm by 5 cm up until force > 3 N; turn knob by -90deg with left_arm }"""


def macros_with(folder, text, names=None, name=""):
    called, written = from_text(text, names or {}, name)
    (folder / f"{called}.yaml").write_text(written)
    return read_macros(folder)


def test_each_command_is_a_step_and_each_quantity_a_number_in_si_units(tmp_path):
    macros = macros_with(tmp_path, FETCH, {"thing": "module"})
    macro = macros.get("fetch")
    assert [step.text for step in macro.steps] == [
        "grasp module with left_arm speed ${grasp_speed} m/s",
        "move left_arm by ${move_by} m up until force > ${move_force} N",
        "turn knob by ${turn_by} rad with left_arm",
    ]
    defaults = {name: (one.unit, *one.default) for name, one in macro.parameters.items()}
    assert defaults == {
        "grasp_speed": ("m/s", 0.05),
        "move_by": ("m", 0.05),
        "move_force": ("N", 3.0),
        "turn_by": ("rad", pytest.approx(-np.pi / 2)),
    }
    assert macro.parameters["turn_by"].allowed == "allowed: -3.14159 .. 0 [rad]"


def test_a_number_that_is_given_stands_in_the_text_that_is_sent(tmp_path):
    macros = macros_with(tmp_path, FETCH, {"thing": "module"})
    texts = [step.text for step in check_macro(macros, "fetch", ARM, {"move_by": (0.08,)})]
    assert texts[1] == "move left_arm by 0.08 m up until force > 3 N"
    with pytest.raises(InvalidValueError, match=r"move_by: 0.2 is not allowed; allowed: 0 .. 0.1 \[m\]"):
        check_macro(macros, "fetch", ARM, {"move_by": (0.2,)})


def test_what_is_sent_with_the_defaults_means_what_was_written(tmp_path):
    macros = macros_with(tmp_path, FETCH.replace("thing", "module").replace("(module)", ""))
    sent = [step.text for step in check_macro(macros, "fetch", ARM, {})]
    wanted = parse(FETCH.replace("thing", "module").replace("(module)", ""))[0].body
    for text, meant in zip(sent, wanted, strict=True):
        (got,) = parse(text)
        assert got.verb == meant.verb
        assert [q.si for q in quantities(got)] == pytest.approx([q.si for q in quantities(meant)])


def quantities(tree):
    from telerobot_nodes.macros.from_text import _nodes
    from telerobot_nodes.rtc.language import Quantity

    return list(_nodes(tree, Quantity))


@given(
    number=st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda x: round(x, 4)),
    unit=st.sampled_from(["cm", "m", "mm"]),
)
def test_any_length_is_sent_as_it_was_meant(tmp_path_factory, number, unit):
    macros = macros_with(tmp_path_factory.mktemp("m"), f"move left_arm by {number} {unit} up", name="up")
    (step,) = check_macro(macros, "up", ARM, {})
    (got,) = quantities(parse(step.text))
    assert got.si == pytest.approx(number * UNITS[unit].factor, abs=1e-9)


def test_commands_without_a_define_take_a_name_and_places_keep_their_order(tmp_path):
    text = "move left_arm to (0.5 m, 0.1 m, 40cm); place module on dock with left_arm;"
    macro = macros_with(tmp_path, text, name="put").get("put")
    assert macro.steps[0].text == "move left_arm to (${move_number} m, ${move_number_2} m, ${move_number_3} m)"
    assert macro.steps[1].text == "place module on dock with left_arm"
    assert [one.default for one in macro.parameters.values()] == [(0.5,), (0.1,), (0.4,)]


@pytest.mark.parametrize(
    ("text", "names", "name", "problem"),
    [
        (FETCH, {}, "", "thing=NAME"),
        (FETCH, {"thing": "module", "thin": "module"}, "", "thin"),
        ("status", {}, "", "name"),
        ("status", {}, "no name", "letters, digits and _"),
        ("status", {"a": "b"}, "s", "allowed: none"),
        ("run fetch(module)", {}, "r", "none of macros"),
    ],
)
def test_what_is_missing_or_unknown_is_named(text, names, name, problem):
    with pytest.raises(InvalidValueError, match=problem):
        from_text(text, names, name)


def test_a_wrong_text_is_refused_at_its_word():
    with pytest.raises(CommandError, match="1:15"):
        from_text("move left_arm up", {}, "up")


@pytest.mark.parametrize("word", ["a b", "${x}", "", "up", "x by 5 cm"])
def test_what_stands_for_a_name_is_one(word):
    with pytest.raises(InvalidValueError, match=r"thing.*a name of the command language"):
        from_text("define fetch(thing) as { grasp thing with left_arm }", {"thing": word})
