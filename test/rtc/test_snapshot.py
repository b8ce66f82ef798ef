"""A restart finds the database as it was, or says that it cannot."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.rtc.database import Database, DatabaseError, Item, Validity
from telerobot_nodes.rtc.snapshot import load, save


def test_what_was_saved_is_loaded(tmp_path):
    items = [
        Item(
            "module.pose", (0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0), frame="dock", author="command 3", stamp=4.5, revision=7
        ),
        Item("module.held", False),
        Item("arm.holds", "module", Validity.SUSPECT),
        Item("arm.load", 1 / 3),
    ]
    save(Database(items), tmp_path / "db.json")
    loaded = load(tmp_path / "db.json")
    assert loaded.view.query() == Database(items).view.query()
    assert loaded.view.revision == 7


def test_what_was_being_changed_is_suspect_after_a_restart(tmp_path):
    save(Database([Item("arm.q", (1.0,), Validity.BUSY)]), tmp_path / "db.json")
    assert load(tmp_path / "db.json").view.item("arm.q").validity is Validity.SUSPECT


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "db.json"
    save(Database([Item("a.v", 1.0)]), file)

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        save(Database([Item("a.v", 2.0)]), file)
    assert load(file).view.read("a.v") == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["db.json"]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_a_damaged_file_is_refused(tmp_path_factory, where, junk):
    file = tmp_path_factory.mktemp("db") / "db.json"
    save(Database([Item("a.v", 1.0), Item("b.v", "text")]), file)
    data = bytearray(file.read_bytes())
    i = where % len(data)
    data[i : i + len(junk)] = junk
    same = bytes(data) == file.read_bytes()
    file.write_bytes(data)
    try:
        view = load(file).view
    except (DatabaseError, UnicodeDecodeError):
        return
    assert same or view.query() == Database([Item("a.v", 1.0), Item("b.v", "text")]).view.query()


def test_a_file_of_another_kind_is_refused(tmp_path):
    file = tmp_path / "db.json"
    for text in ("", "[]", "{}", json.dumps({"format": 2, "sha256": "", "items": "[]"})):
        file.write_text(text)
        with pytest.raises(DatabaseError):
            load(file)


def test_after_a_restart_in_the_middle_of_a_grasp_nothing_is_believed_that_was_under_way(make_cell, tmp_path):
    before = make_cell()
    before.say("grasp module with left_arm")
    while not before.executor.sent or before.executor.sent[-1].step != "touch_1":
        before.settle(until=before.now + 0.02)
    save(before.database, tmp_path / "db.json")
    after = make_cell(database=load(tmp_path / "db.json"))
    view = after.database.view
    assert view.item("left_arm.joints").validity is Validity.VALID  # measured anew
    assert view.item("module.pose").validity is Validity.SUSPECT
    assert "not to be trusted" in after.run("grasp module with left_arm").reason
    assert after.run("locate module").outcome == "succeeded"
    assert after.run("grasp module with left_arm").outcome == "succeeded"
