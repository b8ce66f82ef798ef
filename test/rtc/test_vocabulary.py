"""The vocabulary: names by kind, found in any case and with either hyphen."""

import pytest

from telerobot_nodes.rtc.language import Vocabulary

NAMES = Vocabulary(objects=frozenset({"red_box", "Lid"}), arms=frozenset({"left_arm"}))


@pytest.mark.parametrize(
    ("text", "found"), [("red_box", "red_box"), ("Red-Box", "red_box"), ("lid", "Lid"), ("box", None)]
)
def test_a_name_is_found_in_any_spelling(text, found):
    assert NAMES.find(text, "objects") == found


def test_a_name_is_found_among_the_kinds_asked_for_only():
    assert NAMES.find("left_arm", "objects") is None
    assert NAMES.find("left_arm", "objects", "arms") == "left_arm"


def test_all_names_are_known_together():
    assert NAMES.of("objects") == {"red_box", "Lid"}
    assert NAMES.everything() == {"red_box", "Lid", "left_arm"}
