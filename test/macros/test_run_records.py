"""Records of runs: what was tested, with which numbers, on which robot; the remote robot takes nothing else."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.macros import NotTestedError, Place, RunRecord, add_record, records_of, require_test, run_records

RAN = RunRecord("m", 1, "ab" * 32, "arm", {"way": (0.1,)}, Place.PHYSICS, 0.0, True, "", False, "2026-01-01T00:00:00")
WANTED = dataclasses.replace(RAN, place=Place.REMOTE, succeeded=False, reason="not ended")
OTHERS = {
    "hash": "cd" * 32,
    "robot": "panda",
    "arguments": {"way": (0.2,)},
    "succeeded": False,
    "override": True,
}


def test_a_tested_macro_is_taken_and_an_untested_one_needs_an_override():
    require_test(WANTED, (RAN,))
    with pytest.raises(NotTestedError, match=r"not tested on arm with way=0\.1"):
        require_test(WANTED, ())
    require_test(dataclasses.replace(WANTED, override=True), ())
    require_test(dataclasses.replace(WANTED, place=Place.PRACTICE), ())


@pytest.mark.parametrize("field", OTHERS)
def test_a_run_of_something_else_is_no_test(field):
    other = dataclasses.replace(RAN, **{field: OTHERS[field]})
    with pytest.raises(NotTestedError):
        require_test(WANTED, (other,))
    require_test(WANTED, (other, RAN, other))


@pytest.mark.parametrize(
    "wrong", [{"succeeded": "no"}, {"delay": "x"}, {"delay": None}, {"hash": 5}, {"version": "x"}, {"robot": None}]
)
def test_a_line_with_a_value_of_another_kind_is_no_record(tmp_path, wrong):
    add_record(tmp_path, RAN)
    add_record(tmp_path, dataclasses.replace(RAN, **wrong))
    assert records_of(tmp_path, "m") == (RAN,)


def test_the_test_that_counts_is_the_newest():
    newest = dataclasses.replace(RAN, date="2026-02-02T00:00:00")
    assert run_records.test_of(WANTED, (RAN, newest)) is newest


def test_the_refusal_names_the_numbers_that_were_tested():
    with pytest.raises(NotTestedError, match=r"it was on panda with way=0\.1"):
        require_test(WANTED, (dataclasses.replace(RAN, robot="panda"),))


records = st.builds(
    RunRecord,
    st.just("m"),
    st.integers(1, 9),
    st.text("0123456789abcdef", min_size=1, max_size=8),
    st.text(max_size=5),
    st.dictionaries(st.text(max_size=4), st.tuples(st.floats(allow_nan=False, allow_infinity=False)), max_size=2),
    st.sampled_from(Place),
    st.floats(0.0, 60.0),
    st.booleans(),
    st.text(max_size=10),
    st.booleans(),
    st.just("2026-01-01T00:00:00+00:00"),
)


@given(st.lists(records, max_size=5), st.binary(max_size=30))
@pytest.mark.lengthy
def test_what_was_recorded_is_read_again_also_after_a_torn_line(tmp_path_factory, runs, torn):
    folder = tmp_path_factory.mktemp("runs")
    for run in runs:
        add_record(folder, run)
    with (folder / "m.runs.jsonl").open("ab") as stream:
        stream.write(b"{" + torn.replace(b"\n", b""))
    add_record(folder, RAN)
    assert records_of(folder, "m") == (*runs, RAN)


def test_a_run_that_cannot_be_recorded_is_told(tmp_path):
    from telerobot_nodes.errors import TelerobotError

    with pytest.raises(TelerobotError, match="not recorded"):
        add_record(tmp_path / "nowhere", RAN)
