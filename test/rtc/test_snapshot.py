"""A restart finds the database as it was, or says that it cannot."""

import resource
import signal
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.rtc.world import Database, DatabaseError, Item, SnapshotStore, Validity, Write
from telerobot_nodes.rtc.world.snapshot import history, load, save


def test_what_was_saved_is_loaded(tmp_path):
    items = [
        Item(
            "module.pose", (0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0), frame="dock", author="command 3", stamp=4.5, revision=7
        ),
        Item("module.held", False),
        Item("arm.holds", "module", Validity.SUSPECT),
        Item("arm.load", 1 / 3),
    ]
    save(Database(items), tmp_path / "db.sqlite")
    loaded = load(tmp_path / "db.sqlite")
    assert loaded.view.query() == Database(items).view.query()
    assert loaded.view.revision == 7


def test_what_was_being_changed_is_suspect_after_a_restart(tmp_path):
    save(Database([Item("arm.q", (1.0,), Validity.BUSY)]), tmp_path / "db.sqlite")
    assert load(tmp_path / "db.sqlite").view.item("arm.q").validity is Validity.SUSPECT


def test_a_save_that_fails_leaves_the_old_values(tmp_path):
    file = tmp_path / "db.sqlite"
    save(Database([Item("a.v", 1.0, revision=1)]), file)
    with closing(sqlite3.connect(file)) as other:
        pages = other.execute("pragma page_count").fetchone()[0]
    broken = Database([Item("a.v", 2.0, revision=2), Item("b.v", "x" * 100_000, revision=2)])
    full = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (pages * 4096, full[1]))  # the disk is full
    try:
        with pytest.raises(OSError, match=r"disk|full|I/O"):
            save(broken, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, full)
    assert load(file).view.read("a.v") == 1.0


def test_the_history_of_an_item_is_kept(tmp_path):
    file = tmp_path / "db.sqlite"
    store = SnapshotStore(file, [Item("crank.angle", 0.0)])
    store.save()
    for angle in (1.0, 2.0):
        changed(store.database, Write("crank.angle", angle))
        store.save()
    assert [item.value for item in history(file, "crank.angle")] == [0.0, 1.0, 2.0]
    assert SnapshotStore(file, [Item("crank.angle", 0.0)]).database.view.read("crank.angle") == 2.0


def changed(database, *writes, now=5.0):
    database.claim("command 1", {write.key.partition(".")[0] for write in writes})
    database.write("command 1", writes, now)
    database.release("command 1")


def kept(tmp_path, *writes, said, then):
    """A database after writes and a restart with another workcell file."""
    store = SnapshotStore(tmp_path / "db.sqlite", said)
    changed(store.database, *writes)
    store.save()
    return SnapshotStore(tmp_path / "db.sqlite", then).database.view


def test_a_corrected_constant_takes_effect_though_a_database_was_saved(tmp_path):
    said = [Item("module.mass", 0.8), Item("door.axis", (0.0, 0, 0, 0, 0, 0, 1)), Item("box.width", 0.05)]
    then = [Item("module.mass", 1.4), Item("door.axis", (0.1, 0, 0, 0, 0, 0, 1)), Item("can.width", 0.07)]
    view = kept(tmp_path, Write("module.angle", 1.0), said=said, then=then)
    assert (view.read("module.mass"), view.read("door.axis")[0], view.read("can.width")) == (1.4, 0.1, 0.07)
    assert not view.has("box.width")
    assert view.read("module.angle") == 1.0


def test_what_was_measured_stays_while_the_file_says_what_it_said(tmp_path):
    said = [Item("module.pose", (0.0, 0, 0, 0, 0, 0, 1)), Item("box.pose", (0.0, 0, 0, 0, 0, 0, 1))]
    corrected = [said[0], Item("box.pose", (0.5, 0, 0, 0, 0, 0, 1))]
    moved = Write("module.pose", (0.3, 0, 0, 0, 0, 0, 1)), Write("box.pose", (0.4, 0, 0, 0, 0, 0, 1))
    view = kept(tmp_path, *moved, said=said, then=corrected)
    assert (view.pose("module")[0], view.pose("box")[0]) == (0.3, 0.5)


def test_an_object_in_a_hand_stays_there_whatever_the_file_says(tmp_path):
    arm = Item("arm.pose", (0.2, 0, 0, 0, 0, 0, 1))
    said, then = (Item("box.pose", (x, 0, 0, 0, 0, 0, 1)) for x in (0.0, 0.5))
    view = kept(tmp_path, Write("box.pose", (0.0, 0, 0, 0, 0, 0, 1), frame="arm"), said=[arm, said], then=[arm, then])
    assert view.item("box.pose").frame == "arm"


def test_what_a_motion_changes_is_corrected_the_next_time():
    database = Database()
    database.declare([Item("box.width", 0.05)])
    changed(database, Write("box.width", validity=Validity.BUSY))
    for _ in range(2):
        database.declare([Item("box.width", 0.06)])
        assert database.view.item("box.width").value == 0.05
    changed(database, Write("box.width"))
    database.declare([Item("box.width", 0.06)])
    assert database.view.read("box.width") == 0.06


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1_000_000), st.binary(min_size=1, max_size=40))
@pytest.mark.lengthy
def test_a_damaged_file_gives_the_last_good_copy_and_says_so(tmp_path_factory, where, junk):
    file = tmp_path_factory.mktemp("db") / "db.sqlite"
    items = [Item("a.v", 1.0), Item("b.v", "text")]
    SnapshotStore(file, items).save()
    data = bytearray(file.read_bytes())
    i = where % len(data)
    data[i : i + len(junk)] = junk
    file.write_bytes(data)
    store = SnapshotStore(file, items)
    assert {item.key: item.value for item in store.database.view.query()} == {"a.v": 1.0, "b.v": "text"}
    if store.notice:
        assert "suspect" in store.notice
        assert all(item.validity is Validity.SUSPECT for item in store.database.view.query())
    store.save()
    assert load(file).view.query() == store.database.view.query()


def test_a_file_of_another_kind_is_refused(tmp_path):
    file = tmp_path / "db.sqlite"
    for data in (b"", b"[]", b"{}" * 5000, b"SQLite format 3\0" + bytes(4000)):
        file.write_bytes(data)
        with pytest.raises(DatabaseError):
            load(file)
        with pytest.raises(DatabaseError):
            SnapshotStore(file, [])


def test_after_a_restart_in_the_middle_of_a_grasp_nothing_is_believed_that_was_under_way(make_cell, tmp_path):
    before = make_cell()
    before.say("grasp module with left_arm")
    while not before.executor.sent or before.executor.sent[-1].step != "touch_1":
        before.settle(until=before.now + 0.02)
    save(before.database, tmp_path / "db.sqlite")
    after = make_cell(database=load(tmp_path / "db.sqlite"))
    view = after.database.view
    assert view.item("left_arm.joints").validity is Validity.VALID  # measured anew
    assert view.item("module.pose").validity is Validity.SUSPECT
    assert "not to be trusted" in after.run("grasp module with left_arm").reason
    assert after.run("locate module").outcome == "succeeded"
    assert after.run("grasp module with left_arm").outcome == "succeeded"
