from __future__ import annotations

from dataclasses import dataclass

import pytest

from telerobot_nodes.core.config import check_parameter, load_parameters, parameter, parameter_info
from telerobot_nodes.errors import InvalidValueError, ParameterFileError


@dataclass(frozen=True)
class Settings:
    rate: float = parameter(200.0, unit="Hz", low=10.0, high=1000.0, doc="rate of the loop")
    tries: int = parameter(3, low=0, high=9)
    robot: str = parameter("arm", choices=("arm", "panda"))
    enabled: bool = parameter(True)
    gains: tuple[float, ...] = parameter((1.0, 2.0), low=0.0)


def load(tmp_path, text: str) -> Settings:
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    return load_parameters(Settings, path, "loop")


def test_values_given_replace_defaults_and_the_rest_stay(tmp_path):
    text = "loop:\n  ros__parameters:\n    rate: 100\n    gains: [1, 2.5]\nother:\n  ros__parameters: {x: 1}\n"
    assert load(tmp_path, text) == Settings(rate=100.0, gains=(1.0, 2.5))


def test_the_section_of_the_node_wins_over_the_wildcard(tmp_path):
    text = "loop: {ros__parameters: {tries: 2}}\n/**: {ros__parameters: {tries: 1, rate: 50.0}}\n"
    assert load(tmp_path, text) == Settings(tries=2, rate=50.0)


@pytest.mark.parametrize(("word", "value"), [("no", False), ("Off", False), ("yes", True), ("false", False)])
def test_the_words_of_yaml_for_true_and_false_are_understood(tmp_path, word, value):
    assert load(tmp_path, f"loop: {{ros__parameters: {{enabled: {word}}}}}\n").enabled is value


def test_a_namespace_before_the_name_is_understood(tmp_path):
    assert load(tmp_path, "/left/loop: {ros__parameters: {tries: 1}}\n").tries == 1


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("loop:\n  ros__parameters:\n    rate: .nan\n", 3, "rate"),
        ("loop:\n  ros__parameters:\n    rate: .inf\n", 3, "rate"),
        ("loop:\n  ros__parameters:\n    rate: 1.0\n", 3, "rate"),
        ("loop:\n  ros__parameters:\n    rate: 20.0\n    rate: 30.0\n", 4, "rate"),
        ("loop:\n  ros__parameters:\n    rte: 20.0\n", 3, "rte"),
        ("loop:\n  ros__parameters:\n    tries: true\n", 3, "tries"),
        ("loop:\n  ros__parameters:\n    tries: 1.5\n", 3, "tries"),
        ("loop:\n  ros__parameters:\n    enabled: 1\n", 3, "enabled"),
        ("loop:\n  ros__parameters:\n    robot: r2d2\n", 3, "robot"),
        ("loop:\n  ros__parameters:\n    gains: [1.0, -1.0]\n", 3, "gains[1]"),
        ("loop:\n  ros__parameters:\n    gains: 3.0\n", 3, "gains"),
        ("loop:\n  parameters:\n    rate: 20.0\n", 2, "parameters"),
        ("lop:\n  ros__parameters: {}\n", 1, "loop"),
        ("loop: [1\n", 2, "YAML"),
        ("- 1\n", 1, "mapping"),
        ("", 0, "mapping"),
    ],
)
def test_a_malformed_file_is_refused_naming_file_line_and_key(tmp_path, text, line, key):
    with pytest.raises(ParameterFileError) as caught:
        load(tmp_path, text)
    assert (caught.value.line, caught.value.key) == (line, key)
    assert "settings.yaml" in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ParameterFileError, match=r"none\.yaml"):
        load_parameters(Settings, tmp_path / "none.yaml", "loop")


def test_one_value_is_checked_like_a_file(tmp_path):
    assert check_parameter(Settings, "rate", 50) == 50.0
    with pytest.raises(InvalidValueError, match=r"rate: 5.0 .* 10 .. 1000 \[Hz\]"):
        check_parameter(Settings, "rate", 5.0)
    with pytest.raises(InvalidValueError, match="allowed names: rate"):
        check_parameter(Settings, "speed", 5.0)


def test_every_parameter_carries_its_description():
    assert parameter_info(Settings)["rate"].doc == "rate of the loop"
    assert parameter_info(Settings)["rate"].unit == "Hz"
