"""The strict reader: every kind of mistake is rejected with file, line, column and key."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from telerobot_nodes.core.config import OWN_KEY, SOURCE, FileMapping, Key, Rules, Spot, build, finite, read_yaml
from telerobot_nodes.errors import InvalidValueError, ParameterFileError

PLAIN = Rules()


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Wheel:
    name: Annotated[str, OWN_KEY]
    radius: Annotated[float, Key(low=0.1, high=1.0)]
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False)

    def __post_init__(self) -> None:
        if self.radius == 0.13:
            raise InvalidValueError("radius", self.radius, "allowed: lucky numbers")


@dataclass(frozen=True)
class Cart:
    title: Annotated[str, Key("cart")]
    wheels: Mapping[str, Wheel] = field(default_factory=dict)
    spare: tuple[Wheel, ...] = ()
    colour: Colour = Colour.RED
    use: Literal["road", "rail"] = "road"
    loads: tuple[float, ...] = ()
    empty: bool = True
    note: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def load(tmp_path, text, rules=PLAIN):
    path = tmp_path / "cart.yaml"
    path.write_text(text)
    return build(Cart, read_yaml(path, "cart.yaml"), Spot("cart.yaml"), rules)


def test_a_file_becomes_the_dataclass(tmp_path):
    text = (
        "cart: big\nwheels:\n  left: {radius: 0.5}\nspare: {right: {radius: 1}}\n"
        "colour: blue\nuse: rail\nloads: 3\nextra: {a: [1]}\n"
    )
    cart = load(tmp_path, text)
    assert cart == Cart(
        "big",
        {"left": Wheel("left", 0.5)},
        (Wheel("right", 1.0),),
        Colour.BLUE,
        "rail",
        (3.0,),
        extra={"a": [1]},
    )
    assert [tuple(wheel.source.mark) for wheel in (cart.wheels["left"], *cart.spare)] == [(3, 9), (4, 16)]
    assert cart.wheels["left"].source.at("radius") == (3, 10)


@pytest.mark.parametrize(
    ("text", "line", "key", "problem"),
    [
        ("cart: a\nloads: [1, .nan]\n", 2, "loads[1]", "not finite"),
        ("cart: a\nloads: [1, x]\n", 2, "loads[1]", "a number is needed"),
        ("cart: a\nloads: [true]\n", 2, "loads[0]", "a number is needed"),
        ("cart: 3\n", 1, "cart", "a text is needed"),
        ("cart: a\nempty: 1\n", 2, "empty", "true or false"),
        ("cart: a\ncolour: green\n", 2, "colour", "allowed: red, blue"),
        ("cart: a\nuse: air\n", 2, "use", "allowed: road, rail"),
        ("cart: a\n\nwheel: 1\n", 3, "wheel", "did you mean wheels"),
        ("cart: a\ntitle: b\n", 2, "title", "unknown key"),
        ("wheels: {}\n", 1, "cart", "missing"),
        ("cart: a\nwheels:\n  left:\n    radius: 2\n", 4, "wheels.left.radius", "allowed: 0.1 .. 1"),
        ("cart: a\nwheels:\n  left:\n    radius: 0.13\n", 4, "wheels.left.radius", "lucky"),
        ("cart: a\nwheels: [1]\n", 2, "wheels", "a mapping is needed"),
        ("cart: a\nspare: 1\n", 2, "spare[0]", "a mapping is needed"),
        ("cart: a\ncart: b\n", 2, "cart", "given twice"),
        ("cart: [1\n", 2, "YAML", "not readable"),
        ("- 1\n", 1, "mapping", "expected"),
        ("", 0, "mapping", "expected"),
        ("cart: &a [*a]\n", 1, "YAML", "nest"),
        ("cart: " + "[" * 30 + "]" * 30, 1, "YAML", "nest"),
    ],
)
def test_a_mistake_is_rejected_with_file_line_and_key(tmp_path, text, line, key, problem):
    with pytest.raises(ParameterFileError, match=problem) as caught:
        load(tmp_path, text)
    assert (caught.value.file, caught.value.line, caught.value.key) == ("cart.yaml", line, key)


def test_a_mistake_is_rejected_with_its_column(tmp_path):
    with pytest.raises(ParameterFileError, match=r"cart\.yaml:3:10: wheels\.left\.radius") as caught:
        load(tmp_path, "cart: a\nwheels:\n  left: {radius: 2}\n")
    assert caught.value.column == 10


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("On", True), ("no", False), ("off", False)])
def test_words_of_yaml_are_truth_values_where_one_is_needed_and_texts_elsewhere(tmp_path, word, value):
    cart = load(tmp_path, f"cart: {word}\nempty: {word}\n")
    assert (cart.title, cart.empty) == (word, value)


def test_an_alias_within_an_alias_is_read_once(tmp_path):
    rows = [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in itertools.pairwise("abcdefghi")]
    bomb = "a: &a [x, x]\n" + "".join(rows)
    with pytest.raises(ParameterFileError, match="more than 1000000 values"):
        load(tmp_path, bomb)


def test_a_missing_file_and_one_too_long_are_rejected(tmp_path):
    with pytest.raises(ParameterFileError, match=r"none\.yaml.*not readable"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "long.yaml").write_text("#" * 1_000_001)
    with pytest.raises(ParameterFileError, match="1000000 characters"):
        read_yaml(tmp_path / "long.yaml")


def test_a_room_may_rename_keys_and_convert_values(tmp_path):
    def in_kilograms(key, value, known):
        return (key.removesuffix("_g"), value / 1000.0) if key.endswith("_g") and key not in known else (key, value)

    cart = load(tmp_path, "cart: a\nloads_g: 500\nextra: {b_g: 250}\n", Rules(prepare=in_kilograms))
    assert (cart.loads, cart.extra) == ((0.5,), {"b": 0.25})
    with pytest.raises(ParameterFileError, match=r"cart\.yaml:2:1: loads\[0\]: inf"):
        load(tmp_path, "cart: a\nloads_g: .inf\n", Rules(prepare=in_kilograms))


def test_a_converter_reads_a_type_of_the_room(tmp_path):
    def upper(value):
        if not value.isalpha():
            raise InvalidValueError("text", value, "allowed: letters")
        return value.upper()

    assert load(tmp_path, "cart: a\n", Rules({str: upper})).title == "A"
    with pytest.raises(ParameterFileError, match=r"cart\.yaml:1:1: cart: .*letters"):
        load(tmp_path, "cart: a1\n", Rules({str: upper}))


@pytest.mark.parametrize(("value", "answer"), [([1, {"a": float("nan")}], False), ({"a": [1.0]}, True), ("nan", True)])
def test_finite_looks_into_lists_and_mappings(value, answer):
    assert finite(value) is answer


def test_a_merge_key_fills_in_what_the_mapping_does_not_give_itself(tmp_path):
    path = tmp_path / "cart.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {x: 5, <<: *a}\nd: {<<: [*a, *b]}\ne: {'<<': 6}\n")
    found = read_yaml(path)
    assert found["c"] == {"x": 5, "y": 2}
    assert found["d"] == {"x": 1, "y": 2, "z": 4}
    assert found["e"] == {"<<": 6}
    assert found["c"].at("x").line == 3
    assert found["c"].at("y").line == 1


@pytest.mark.parametrize("text", ["a: {<<: 1}", "a: {<<: [{b: 1}, 2]}", "a: {<<: {b: 1}, b: 1, b: 2}"])
def test_a_merge_key_takes_mappings_only_and_hides_no_key_given_twice(tmp_path, text):
    path = tmp_path / "cart.yaml"
    path.write_text(text)
    with pytest.raises(ParameterFileError, match=r"<<.*a mapping is expected|b: given twice"):
        read_yaml(path)


@pytest.mark.parametrize(
    "value",
    [
        "2026-13-45",
        "!!int x",
        "!!int ''",
        "!!bool maybe",
        "0b_",
        "9" * 400,
        "9" * 5000,
        "!!float one",
        "!!float ''",
        "!!timestamp no",
    ],
)
def test_a_scalar_that_only_looks_like_its_type_is_rejected_with_its_place(tmp_path, value):
    with pytest.raises(ParameterFileError, match=r"cart.yaml:2:7: ") as caught:
        load(tmp_path, f"cart: big\nnote: {value}\n")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("word", "number"), [("1e-3", 0.001), ("2E2", 200.0), ("-1.5e3", -1500.0), (".5e1", 5.0)])
def test_a_power_of_ten_is_a_number_as_people_write_it_and_a_text_in_quotes(tmp_path, word, number):
    assert load(tmp_path, f"cart: big\nloads: [{word}]\n").loads == (number,)
    assert load(tmp_path, f"cart: big\nnote: '{word}'\n").note == word


def test_lists_of_aliases_of_lists_that_grow_beyond_measure_are_refused(tmp_path):
    rows = ["  a: &a [" + ", ".join("x" * 10) + "]"]
    for name, below in zip("bcdefgh", "abcdefg", strict=True):
        rows.append(f"  {name}: &{name} [" + ", ".join([f"*{below}"] * 10) + "]")
    assert load(tmp_path, "cart: big\nextra:\n" + "\n".join(rows[:4])).extra["d"][9][9][9][9] == "x"
    with pytest.raises(ParameterFileError, match=r"more than 1000000 values") as refused:
        load(tmp_path, "cart: big\nextra:\n" + "\n".join(rows))
    assert refused.value.line == 8
