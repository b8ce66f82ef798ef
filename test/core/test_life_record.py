"""What a node notes for its successor."""

import pytest

from telerobot_nodes.core.config import STATE_VARIABLE, Journal, LifeRecord, state_file


def test_a_node_that_did_not_end_in_order_has_died_and_its_note_is_there(tmp_path):
    first = LifeRecord(tmp_path / "arm.life")
    assert (first.died, dict(first.note)) == (False, {})
    first.write({"halt_count": 3, "halted": "by desk"}, runs=True)
    second = LifeRecord(tmp_path / "arm.life")
    assert (second.died, dict(second.note)) == (True, {"halt_count": 3, "halted": "by desk"})
    second.write(second.note, runs=False)
    third = LifeRecord(tmp_path / "arm.life")
    assert (third.died, third.note["halt_count"]) == (False, 3)


@pytest.mark.parametrize("line", ["no JSON", "[]", "{}", '{"runs": "yes", "note": {}}', '{"runs": false, "note": 1}'])
def test_a_note_that_cannot_be_read_counts_as_a_death(tmp_path, line):
    Journal(tmp_path / "arm.life").write(line)
    record = LifeRecord(tmp_path / "arm.life")
    assert (record.died, dict(record.note)) == (True, {})


def test_without_a_file_nothing_is_kept():
    record = LifeRecord(None)
    record.write({"halt_count": 1}, runs=True)
    assert (record.died, dict(record.note)) == (False, {})


def test_a_file_of_the_state_folder_is_named_after_its_node(tmp_path, monkeypatch):
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    assert state_file("/left/gcmsf_control", "life") == tmp_path / "left.gcmsf_control.life"
    monkeypatch.delenv(STATE_VARIABLE)
    assert state_file("/left/gcmsf_control", "life") is None
