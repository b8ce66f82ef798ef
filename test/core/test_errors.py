"""What an error shows of a value."""

from telerobot_nodes.errors import InvalidValueError


def test_a_long_value_is_cut_in_its_middle_so_that_a_path_keeps_its_name():
    path = "/" + "/".join(["a long folder"] * 20) + "/recording.mcap"
    message = str(InvalidValueError("bag", path, "allowed: a closed recording"))
    assert message.startswith("bag: '/a long folder/")
    assert "/recording.mcap' is not allowed; allowed: a closed recording" in message
    assert len(message) < 140


def test_a_short_value_is_shown_whole():
    assert str(InvalidValueError("rate", -1.0, "allowed: 0 .. 10")) == "rate: -1.0 is not allowed; allowed: 0 .. 10"
