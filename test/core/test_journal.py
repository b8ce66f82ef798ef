"""The journal gives back the last complete line, whatever happened to the file after it."""

import os

import pytest

from telerobot_nodes.core.config.journal import Journal
from telerobot_nodes.errors import JournalError


def reopened(file):
    journal = Journal(file)
    journal.close()
    return journal.last


def test_the_last_line_written_is_found_again(tmp_path):
    journal = Journal(tmp_path / "a" / "plan.journal")
    for k in range(20):
        journal.write(f"line {k} é")
    assert reopened(journal.file) == "line 19 é"


def test_a_new_journal_is_empty(tmp_path):
    assert reopened(tmp_path / "plan.journal") == ""


@pytest.mark.parametrize("cut", [1, 3, 8, 15])
def test_a_torn_last_line_leaves_the_one_before(tmp_path, cut):
    journal = Journal(tmp_path / "plan.journal")
    journal.write("first line")
    journal.write("second line")
    os.truncate(journal.file, journal.file.stat().st_size - cut)
    assert reopened(journal.file) == "first line"


def test_damaged_bytes_are_not_taken_for_a_line(tmp_path):
    journal = Journal(tmp_path / "plan.journal")
    journal.write("first line")
    journal.write("second line")
    content = bytearray(journal.file.read_bytes())
    content[-4] ^= 0x20
    journal.file.write_bytes(bytes(content) + b"\x00\xff garbage")
    assert reopened(journal.file) == "first line"


def test_the_file_stays_bounded(tmp_path):
    journal = Journal(tmp_path / "plan.journal", most_bytes=2000)
    for k in range(300):
        journal.write(f"{k} " + "x" * 50)
    assert journal.file.stat().st_size < 2200
    assert reopened(journal.file).startswith("299 ")


def test_a_full_disk_is_an_error_and_the_last_line_stays(tmp_path):
    journal = Journal(tmp_path / "plan.journal")
    journal.write("kept")
    kept, full = journal._descriptor, os.open("/dev/full", os.O_WRONLY)
    journal._descriptor = full
    with pytest.raises(JournalError, match="No space left"):
        journal.write("lost")
    journal._descriptor = kept
    assert journal.last == "kept"
    journal.write("later")
    assert reopened(journal.file) == "later"


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="journal"):
        Journal(tmp_path / "file" / "plan.journal")
