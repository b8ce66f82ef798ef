"""A verb of a skill file: with object, place, direction and numbers, from the file alone."""

import shutil

import pytest

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.language import CommandError, complete, parse
from telerobot_nodes.rtc.language.printer import print_program
from telerobot_nodes.rtc.skills import load_library

pytestmark = pytest.mark.lengthy  # together some seconds

WAVE = """\
skill: wave
doc: Wave with an object.
verbs: [wave]
takes:
  object: objects
  place: [at, on]
  direction: true
  amount: [length]
  amounts: {height: length, swings: count}
uses: [arm, object]
requires: [{that: "place_kind != 'home'", else: "{arm} does not wave at home"}]
defaults: {amount: 0.05, height: 0.10, swings: 2, direction: [0, 0, 1]}
plan: {raised: "shift(here, direction, height)"}
scripts:
  wave:
    - {step: raise_it, do: move_straight, target: raised, table: motion}
    - {step: aside, do: move_straight, target: "shift(raise_it.pose, [0, 1, 0], amount * swings)", table: motion}
"""


@pytest.fixture
def folder(config, tmp_path):
    shutil.copytree(config, tmp_path / "rtc")
    return tmp_path / "rtc"


@pytest.fixture
def waving(folder, harness):
    (folder / "skills" / "wave.yaml").write_text(WAVE)
    return harness.Cell(load_library(folder), folder)


def test_the_new_verb_moves_the_arm_by_its_numbers(waving):
    before = waving.executor.joints["left_arm"][:3].copy()
    report = waving.run("wave module by 4 cm at dock height 20 cm swings 3 with left_arm speed 0.05 m/s")
    assert report.outcome == "succeeded", report.reason
    moved = waving.executor.joints["left_arm"][:3] - before
    assert moved == pytest.approx([0.0, 0.12, 0.20], abs=1e-6)


def test_numbers_that_are_not_given_have_their_defaults(waving):
    before = waving.executor.joints["left_arm"][:3].copy()
    assert waving.run("Wave module with left_arm").outcome == "succeeded"
    assert waving.executor.joints["left_arm"][:3] - before == pytest.approx([0.0, 0.10, 0.10], abs=1e-6)


def test_it_holds_its_object_is_tried_defined_and_performed(waving):
    waving.say("wave module with left_arm")
    waving.settle(until=0.1)
    assert waving.unit.resources.holders("module")
    waving.settle()
    waving.run("try wave module height 5 cm")
    waving.say("define hello as { wave module; wave module swings 1 }")
    assert waving.run("run hello").outcome == "succeeded"
    assert waving.run("perform wave by 3 cm").outcome in ("succeeded", "failed")


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("wave", 5, "ends too early"),
        ("wave module height", 19, "a number"),
        ("wave module swing 3", 13, "did you mean swings"),
        ("wave module into dock", 13, "at"),
        ("wav module", 1, "did you mean wave"),
        ("wave module at dock at dock", 21, "cannot stand here"),
    ],
)
def test_a_wrong_use_is_refused_at_the_word(waving, text, column, says):
    with pytest.raises(CommandError) as error:
        parse(text, waving.library.workcell.vocabulary.verbs)
    assert error.value.column == column
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("wave module swings 2.5", "whole number"),
        ("wave module swings 0", "whole number"),
        ("wave module swings 1e300", ""),
        ("wave module height 3 kg", "a number of length"),
        ("wave module height 3", "a number of length"),
        ("wave module by 30 deg", "a number of length"),
        ("wave module height 1 cm height 2 cm", "given twice"),
        ("wave dock", "place"),
        ("wave modul", "did you mean module"),
    ],
)
def test_a_number_of_the_wrong_kind_is_refused(waving, text, says):
    number = waving.say(text)
    waving.settle()
    report = waving.reports.get(number)
    assert report is None or report.outcome in ("refused", "failed")
    assert says in (waving.replies[-1].text if report is None else report.reason)


def test_completion_offers_what_the_file_says(waving):
    vocabulary = waving.library.workcell.vocabulary
    assert complete("wav", 3, vocabulary) == ("wave",)
    assert complete("wave mod", 8, vocabulary) == ("module",)
    assert "dock" not in complete("wave ", 5, vocabulary)
    after = complete("wave module ", 12, vocabulary)
    assert {"at", "by", "height", "swings", "up", "with"} <= set(after)
    assert "into" not in after
    assert "wave" not in complete("grasp module ", 13, vocabulary)


def test_what_is_printed_is_read_again(waving):
    verbs = waving.library.workcell.vocabulary.verbs
    for text in ("wave module", "wave module by 2 cm up on dock height 3 cm swings 4 with left_arm", "try wave module"):
        assert parse(print_program(parse(text, verbs)), verbs) == parse(text, verbs)


def test_elsewhere_the_verb_and_its_numbers_are_names(waving):
    verbs = waving.library.workcell.vocabulary.verbs
    parse("move left_arm to wave; grasp height as swings; help wave", verbs)


def test_a_reload_brings_the_verb_and_takes_it_away(folder, harness):
    cell = harness.Cell(load_library(folder), folder)
    cell.say("wave module")
    assert not cell.replies[-1].ok
    (folder / "skills" / "wave.yaml").write_text(WAVE)
    cell.say("reload skills")
    cell.settle()
    assert cell.run("wave module with left_arm").outcome == "succeeded"
    (folder / "skills" / "wave.yaml").unlink()
    cell.say("reload skills")
    cell.settle()
    cell.say("wave module")
    assert not cell.replies[-1].ok


def test_an_unknown_word_before_a_place_is_refused_by_the_file(folder):
    (folder / "skills" / "wave.yaml").write_text(WAVE.replace("[at, on]", "[att]"))
    with pytest.raises(ParameterFileError, match=r"wave\.yaml:6:3: takes\.place: .*att.*allowed: to, on"):
        load_library(folder)


@pytest.mark.parametrize("verb", ["halt", "with", "haltingly", "stop_pump", "Wave", "a-b", "status", "grasp", ""])
def test_a_verb_that_has_a_meaning_already_is_refused(folder, verb):
    (folder / "skills" / "wave.yaml").write_text(WAVE.replace("[wave]", f"['{verb}']"))
    with pytest.raises(ParameterFileError, match=r"wave\.yaml:\d+:\d+: .*"):
        load_library(folder)


@pytest.mark.parametrize("name", ["speed", "module", "left_arm", "amount", "here", "with", "Height", "a b"])
def test_the_name_of_a_number_has_no_other_meaning(folder, name):
    (folder / "skills" / "wave.yaml").write_text(WAVE.replace("swings: count", f"'{name}': count"))
    with pytest.raises(ParameterFileError, match=r"wave\.yaml:9"):
        load_library(folder)


def test_two_files_may_have_numbers_of_one_name(folder):
    (folder / "skills" / "wave.yaml").write_text(WAVE)
    other = WAVE.replace("skill: wave", "skill: nod").replace("[wave]", "[nod, nod_again]")
    (folder / "skills" / "nod.yaml").write_text(other)
    verbs = load_library(folder).workcell.vocabulary.verbs
    assert parse("nod-again module height 2 cm; wave module swings 2", verbs)[0].verb == "nod_again"
