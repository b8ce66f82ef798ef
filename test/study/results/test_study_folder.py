"""The folder of a study: written as it goes, read after a crash, refused where it is not this study's."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.study.design import SCALES, Ending, StudySettings, Workload
from telerobot_nodes.study.results import StudyFolder, TrialResult, result_from_line, settings_of

SETTINGS = StudySettings(tasks=("reach", "trace"), conditions=("a", "d"), delays=(0.0, 1.0))
ENDINGS = list(Ending)


def result(trial, person="ann", ending=Ending.REACHED, seconds=20.0, score=50):
    return TrialResult(
        person,
        trial,
        ending,
        elapsed=20.0,
        seconds=seconds if ending is Ending.REACHED else None,
        touches=1,
        targets=2,
        workload=Workload(dict.fromkeys(SCALES, score)),
        begun="2026-11-27T20:00:00+00:00",
        bag=f"trials/{person}/{trial.number}",
    )


@pytest.fixture
def place(tmp_path):
    return tmp_path / "study"


def begun(place, done=3):
    with StudyFolder(place, SETTINGS) as folder:
        for trial in folder.left("ann")[:done]:
            folder.add(result(trial))
    return place / "results.jsonl"


@given(st.sampled_from(ENDINGS), st.floats(0.0, 1e4), st.integers(0, 20))
def test_a_result_is_the_same_after_its_line(ending, seconds, score):
    one = result(SETTINGS.order(0)[2], ending=ending, seconds=seconds, score=5 * score)
    assert result_from_line(one.line()) == one
    assert "\n" not in one.line()


def test_a_second_start_goes_on_where_the_first_ended(place):
    begun(place)
    with StudyFolder(place, SETTINGS) as folder:
        assert folder.left("ann") == SETTINGS.order(0)[3:]
        assert folder.left("bob") == SETTINGS.order(1)
        assert len(folder.results) == 3
    with StudyFolder(place, SETTINGS) as folder:  # who came later has the same order as before
        assert folder.left("bob") == SETTINGS.order(1)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_line_cut_by_a_crash_is_kept_beside_and_its_trial_is_done_again(place, share):
    file = begun(place)
    whole = file.read_text().splitlines(keepends=True)
    cut = whole[2][: int(share * len(whole[2]))]
    file.write_text("".join(whole[:2]) + cut)
    with StudyFolder(place, SETTINGS) as folder:
        assert folder.cut == cut
        assert folder.left("ann") == SETTINGS.order(0)[2:]
        folder.add(result(folder.left("ann")[0]))
    assert (place / "results.cut").read_text() == cut + "\n"
    assert file.read_text() == "".join(whole)
    with StudyFolder(place, SETTINGS) as folder:
        assert folder.cut == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: "{", "line: { is not allowed; allowed: one JSON object"),
        (lambda line: "[1]", "line: "),
        (lambda line: line.replace('"reached"', '"won"'), "ending: won is not allowed; allowed: reached, timed out"),
        (lambda line: line.replace('"effort": 50', '"effort": 51'), "workload.effort: 51 is not allowed"),
        (lambda line: line.replace('"person": "ann"', '"person": "eve"'), "person: eve is not allowed; allowed: ann"),
        (lambda line: line.replace('"number": 2', '"number": 1'), "number: 1 is not allowed"),
        (lambda line: line.replace('"seconds": 20.0', '"seconds": null'), "seconds: "),
        (lambda line: line.replace('"elapsed": 20.0, ', ""), "elapsed: none is not allowed"),
        (lambda line: line.replace('"elapsed": 20.0', '"elapsed": NaN'), "elapsed: nan is not allowed"),
    ],
)
def test_a_broken_line_is_refused_with_file_line_and_key(place, change, said):
    file = begun(place)
    lines = file.read_text().splitlines(keepends=True)
    changed = change(lines[1].rstrip("\n"))
    assert changed + "\n" != lines[1]
    file.write_text(lines[0] + changed + "\n" + lines[2])
    with pytest.raises(ParameterFileError) as refused:
        StudyFolder(place, SETTINGS)
    assert f"{file}:2:1: {said}" in str(refused.value)


def test_a_trial_twice_is_refused(place):
    file = begun(place, done=1)
    file.write_text(2 * file.read_text())
    with pytest.raises(ParameterFileError, match=r"results\.jsonl:2:1: number: 1 is not allowed; allowed: each trial"):
        StudyFolder(place, SETTINGS)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"seed": 2}, "seed: 2 is not allowed; .* is the folder of a study with seed 1; allowed: that, or another"),
        ({"conditions": ("a",)}, "conditions: 'a' is not allowed; .* with conditions a,d;"),
        ({"scripted": True}, "scripted: True is not allowed"),
    ],
)
def test_the_folder_of_another_study_is_refused(place, other, said):
    begun(place)
    with pytest.raises(InvalidValueError, match=said):
        StudyFolder(place, replace(SETTINGS, **other))


def test_a_folder_of_something_else_is_refused_and_left_as_it_is(place):
    place.mkdir()
    (place / "thesis.tex").write_text("words")
    with pytest.raises(InvalidValueError, match=r"folder: .* allowed: an empty folder, or one with study\.json"):
        StudyFolder(place, SETTINGS)
    assert [path.name for path in place.iterdir()] == ["thesis.tex"]


def test_two_processes_do_not_share_a_folder(place):
    with StudyFolder(place, SETTINGS), pytest.raises(InvalidValueError, match="in use by another `telerobot study`"):
        StudyFolder(place, SETTINGS)
    StudyFolder(place, SETTINGS).close()


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 33])
def test_a_name_that_is_no_folder_is_refused(place, name):
    with StudyFolder(place, SETTINGS) as folder, pytest.raises(InvalidValueError, match="person: "):
        folder.person(name)


def test_settings_are_found_again_and_a_broken_file_is_refused(place):
    assert settings_of(place) is None
    begun(place)
    assert settings_of(place) == SETTINGS
    held = json.loads((place / "study.json").read_text())
    for broken, said in (
        ("{", "study.json: cannot be read"),
        (json.dumps({**held, "people": "ann"}), "people: is missing"),
        (json.dumps({**held, "settings": {"colour": 1}}), "colour: is not known; allowed: conditions"),
        (json.dumps({**held, "settings": {"delays": [-1]}}), "settings: delays: -1 is not allowed"),
    ):
        (place / "study.json").write_text(broken)
        with pytest.raises(ParameterFileError, match=said):
            settings_of(place)


def test_each_attempt_has_a_folder_of_its_own(place):
    with StudyFolder(place, SETTINGS) as folder:
        trial = folder.left("ann")[0]
        first, second = folder.place("ann", trial), folder.place("ann", trial)
    assert first != second
    assert first.is_dir()
    assert second.is_dir()
