"""`telerobot review`: no file that it writes takes the place of a recording, or ends it by a traceback."""

import pytest

from telerobot_nodes.cli import main
from telerobot_nodes.cli.review import keep_recordings
from telerobot_nodes.errors import InvalidValueError

OPTIONS = ("--html", "--json", "--picture", "--timeline")


@pytest.mark.parametrize("option", OPTIONS)
def test_a_file_over_the_recording_is_refused_before_it_is_read(tmp_path, option, capsys):
    bag = tmp_path / "bag"
    bag.mkdir()
    (bag / "bag.mcap").write_text("mine")
    assert main(["review", str(bag), option, str(bag / "bag.mcap")]) == 2
    assert "no part of the recording" in capsys.readouterr().err
    assert (bag / "bag.mcap").read_text() == "mine"


def test_a_link_to_the_recording_and_another_s_recording_are_kept_too(tmp_path):
    bag, other = tmp_path / "a.mcap", tmp_path / "b.mcap"
    for file in (bag, other):
        file.write_text("mine")
    (tmp_path / "link.png").symlink_to(other)
    keep_recordings([bag, other], {"html": tmp_path / "page.html", "json": None})
    for file in (bag, tmp_path / "link.png"):
        with pytest.raises(InvalidValueError, match="no part of the recording"):
            keep_recordings([bag, other], {"picture": file})
