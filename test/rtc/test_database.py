"""The database never shows what is not trusted, has one writer per entity, and changes all at once or not at all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.world import Database, DatabaseError, Item, Validity, Write

AT_X = (1.0, 0, 0, 0, 0, 0, 1)
TURNED = (0.0, 0, 0, 0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4))  # 90 deg about z


@pytest.fixture
def database():
    return Database([Item("module.pose", AT_X), Item("module.mass", 2.0), Item("arm.pose", TURNED)])


def test_only_items_trusted_enough_are_read(database):
    database.claim("analysis", ["module"])
    for validity in Validity:
        database.write("analysis", [Write("module.mass", validity=validity)], 1.0)
        for wanted in Validity:
            if validity >= wanted:
                assert database.view.read("module.mass", wanted) == 2.0
            else:
                with pytest.raises(DatabaseError, match=validity.name.lower()):
                    database.view.read("module.mass", wanted)


def test_only_the_writer_that_claimed_an_entity_writes_it(database):
    with pytest.raises(DatabaseError, match="has not claimed module"):
        database.write("one", [Write("module.mass", 3.0)], 0.0)
    database.claim("one", ["module"])
    with pytest.raises(DatabaseError, match="written by one"):
        database.claim("two", ["arm", "module"])
    assert dict(database.writers) == {"module": "one"}  # nothing half claimed
    database.release("one")
    database.claim("two", ["arm", "module"])


def test_writes_apply_all_or_none(database):
    database.claim("one", ["module"])
    before = database.view
    with pytest.raises(DatabaseError):
        database.write("one", [Write("module.mass", 3.0), Write("arm.pose", AT_X)], 0.0)
    with pytest.raises(InvalidValueError, match="finite"):
        database.write("one", [Write("module.mass", 3.0), Write("module.width", float("nan"))], 0.0)
    assert database.view.query() == before.query()
    assert database.view.revision == before.revision


def test_a_view_does_not_change_under_its_reader(database):
    view = database.view
    database.claim("one", ["module"])
    database.write("one", [Write("module.mass", 3.0)], 5.0)
    assert view.read("module.mass") == 2.0
    assert database.view.read("module.mass") == 3.0
    item = database.view.item("module.mass")
    assert (item.author, item.stamp, item.revision) == ("one", 5.0, 1)


def test_a_copy_is_independent_and_has_no_writers(database):
    database.claim("one", ["module"])
    copy = database.copy()
    copy.claim("hypothesis", ["module"])
    copy.write("hypothesis", [Write("module.mass", 9.0)], 0.0)
    assert database.view.read("module.mass") == 2.0
    assert copy.view.read("module.mass") == 9.0


def test_poses_follow_what_the_entity_is_attached_to(database):
    database.claim("one", ["module"])
    database.write("one", [Write("module.pose", AT_X, frame="arm")], 0.0)
    np.testing.assert_allclose(database.view.pose("module")[:3], [0, 1, 0], atol=1e-12)
    database.claim("one", ["arm"])
    database.write("one", [Write("arm.pose", validity=Validity.SUSPECT)], 0.0)
    with pytest.raises(DatabaseError, match=r"arm\.pose is suspect"):
        database.view.pose("module")
    assert database.view.pose("module", Validity.SUSPECT)[1] == pytest.approx(1.0)


def test_entities_attached_in_a_circle_have_no_pose(database):
    database.claim("one", ["module", "arm"])
    database.write("one", [Write("module.pose", AT_X, frame="arm"), Write("arm.pose", AT_X, frame="module")], 0.0)
    with pytest.raises(DatabaseError, match="attached to itself"):
        database.view.pose("module")


def test_an_unknown_item_is_named_with_the_nearest(database):
    with pytest.raises(DatabaseError, match=r"did you mean module\.mass"):
        database.view.read("modul.mass")


@pytest.mark.parametrize(
    ("key", "value"),
    [("module.pose", (1.0, 2, 3)), ("module.pose", (0.0,) * 7), ("module", 1.0), (".x", 1.0), ("a.v", float("inf"))],
)
def test_values_that_cannot_be_are_refused(key, value):
    with pytest.raises(InvalidValueError):
        Database([Item(key, value)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["x", "y"]), st.floats(-9, 9)), max_size=30))
def test_with_any_sequence_of_claims_an_entity_has_one_writer_and_its_last_value(steps):
    database = Database()
    last = {}
    for writer, entity, value in steps:
        try:
            database.claim(writer, [entity])
        except DatabaseError:
            assert database.writers[entity] != writer
            database.release(database.writers[entity])
            continue
        database.write(writer, [Write(f"{entity}.v", value)], 0.0)
        last[f"{entity}.v"] = value
    assert {item.key: item.value for item in database.view.query()} == last
