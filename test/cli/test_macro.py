"""`telerobot macro` without a graph: list, show, check; broken files and wrong parameters are refused clearly."""

import io
import json

import numpy as np
import pytest
from joint_bags import write_bag

from telerobot_nodes.cli import main
from telerobot_nodes.core.robot import load_robot

MACRO = """\
macro: back
version: 3
doc: Move back.
motion: relative
parameters:
  way: {unit: m, low: 0.01, high: 0.2, default: 0.05, doc: distance}
steps:
  - {step: go, primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, "${-way}", 0, 0, 0, 1]}, accept: [max_force]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "macros").mkdir()
    (tmp_path / "macros" / "back.yaml").write_text(MACRO)
    return tmp_path / "macros"


def test_the_operator_s_own_folder_is_listed_with_its_broken_files(folder, capsys):
    assert main(["macro", "list"]) == 0
    assert "back" in capsys.readouterr().out
    (folder / "bad.yaml").write_text(MACRO.replace("version", "verison"))
    assert main(["macro", "list"]) == 1
    listed = capsys.readouterr().out
    assert "version 3, relative: Move back." in listed
    assert "bad.yaml:2:1: verison: unknown key; did you mean version?" in listed


def test_a_macro_is_shown_with_units_ranges_and_accepted_results(folder, capsys):
    assert main(["macro", "show", "back"]) == 0
    shown = capsys.readouterr().out
    assert "way = 0.05 m, allowed: 0.01 .. 0.2 [m]  distance" in shown
    assert "1. go: cartesian_guarded, accepts max_force" in shown


def test_check_prints_the_numbers_of_every_step(folder, capsys):
    assert main(["macro", "check", "back", "way=0.125", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["steps"][0]["values"]["tr_rel_dest"] == [0, 0, -0.125, 0, 0, 0, 1]
    assert len(printed["hash"]) == 64


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["check", "back", "way=1"], "way: 1 is not allowed; allowed: 0.01 .. 0.2 [m]"),
        (["check", "back", "wya=1"], "allowed parameters of back: way"),
        (["check", "bakc"], "did you mean back?"),
        (["check", "back", "--robot", "nosuch"], "nosuch"),
        (["test", "back", "way=1"], "allowed: 0.01 .. 0.2 [m]"),
        (["run", "back", "way=1"], "allowed: 0.01 .. 0.2 [m]"),
        (["test", "back", "--start", "0 0 0"], "--start: '0 0 0' is not allowed; allowed: 6 numbers"),
        (["test", "back", "--start", "0 0 0 0 0 x"], "allowed: 6 numbers, with spaces"),
        (["test", "back", "--start", "0 0 0 0 0 nan"], "allowed: 6 numbers, with spaces"),
        (["test", "back", "--start", "0 0 0 0 0 99"], "allowed: angles inside the joints' limits"),
        (["test", "back", "--camera", "0 0 1"], "--camera: '0 0 1' is not allowed; allowed: 7 numbers"),
        (["test", "back", "--camera", "0 0 1 0 0 0 0"], "--camera[0].orientation: [0.0, 0.0, 0.0, 0.0] is not allowed"),
        (["test", "back", "--delay", "-1"], "greater than or equal to 0"),
        (["show", "back", "--folder", "nowhere"], "there is no folder nowhere"),
        (["test", "back", "--break", "og"], "break: 'og' is not allowed; allowed: a step of the macro"),
        (["run", "back", "--break", "og"], "break: 'og' is not allowed; allowed: a step of the macro"),
        (["learn", "new", "--motion", "relative"], "learn: 'neither' is not allowed; allowed: one of --bag and --live"),
        (["learn", "new", "--live", "--bag", ".", "--motion", "relative"], "learn: 'both' is not allowed"),
        (["learn", "new", "--bag", ".", "--seconds", "2"], "--seconds: 2.0 is not allowed; allowed: with --live"),
        (["learn", "new", "--live", "--after", "go"], "--after: 'go' is not allowed; allowed: with --into"),
        (["learn", "--live", "--into", "back", "--replace"], "--replace: True is not allowed; allowed: without --into"),
        (["learn", "--live", "--into", "back", "--doc", "x"], "--doc: 'x' is not allowed; allowed: without --into"),
        (["learn", "new", "--live"], "--motion: 'none' is not allowed; allowed: absolute, relative"),
        (["learn", "--live", "--motion", "relative"], "name: '' is not allowed; allowed: letters"),
        (
            ["learn", "back", "--live", "--motion", "relative"],
            "name: 'back' is not allowed; allowed: a name that is free",
        ),
        (["learn", "--live", "--into", "bakc"], "did you mean back?"),
        (["learn", "a b", "--live", "--into", "back"], "name: 'a b' is not allowed"),
        (["learn", "--live", "--into", "back", "--after", "og"], "after: 'og' is not allowed; allowed: go"),
        (
            ["learn", "--live", "--into", "back", "--motion", "absolute"],
            "motion: 'absolute' is not allowed; allowed: relative",
        ),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(folder, capsys, words, problem):
    assert main(["macro", *words]) == 2
    assert problem in capsys.readouterr().err


def test_a_macro_with_a_text_is_not_sent_as_one_sequence(folder, capsys):
    text = "  - {step: ask, text: status, accept: [answered]}\n"
    (folder / "ask.yaml").write_text(MACRO.replace("macro: back", "macro: ask") + text)
    assert main(["macro", "run", "ask", "--whole"]) == 2
    assert "ask.yaml:9:" in (refused := capsys.readouterr().err)
    assert "text: allowed in a sequence that is sent as one" in refused


@pytest.mark.lengthy
def test_a_test_is_recorded_with_its_numbers_and_an_edited_macro_is_another(folder, capsys):
    assert main(["macro", "test", "back", "way=0.02"]) == 1  # it accepts `max_force` only
    assert "back/go: completed, which is not accepted" in capsys.readouterr().out
    assert main(["macro", "runs", "back"]) == 0
    line = capsys.readouterr().out
    assert main(["macro", "test", "back", "way=0.02", "--delay", "1", "--follow"]) == 1
    *samples, step, end = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert np.linalg.norm(np.subtract(samples[-1]["tool"], samples[0]["tool"])) == pytest.approx(0.02, abs=1e-3)
    assert (step["label"], step["result"], end["succeeded"]) == ("back/go", "completed", False)
    assert "version 3  physics arm, delay 0 s  back/go: completed" in line
    (folder / "back.yaml").write_text(MACRO.replace("0.05", "0.06"))
    assert main(["macro", "runs", "back"]) == 0
    assert "version 3, other content" in capsys.readouterr().out


@pytest.mark.lengthy
def test_a_macro_is_learned_from_a_bag_and_no_file_is_overwritten_unasked(folder, tmp_path, capsys):
    arm = load_robot("arm")
    rest, way = np.zeros(150), np.linspace(0.0, 0.3, 400)
    rows = [np.array(arm.home) + x * np.eye(6)[0] for x in (*rest, *way, *(rest + 0.3))]
    words = ["macro", "learn", "swing", "--bag", str(write_bag(tmp_path / "bag", arm.joint_names, rows)), "--motion"]
    assert main([*words, "relative"]) == 0
    assert "swing.yaml: version 1" in capsys.readouterr().out
    assert main(["macro", "check", "swing"]) == 0
    assert main([*words, "relative"]) == 2
    assert "or --replace" in capsys.readouterr().err
    assert main([*words, "absolute", "--replace"]) == 0
    assert main(["macro", "show", "swing"]) == 0
    assert "swing, version 2, absolute" in capsys.readouterr().out
    assert main([*words, "absolute", "--replace", "--to", "0.5"]) == 2  # nothing moved until then
    assert main(["macro", "show", "swing"]) == 0  # the file is what it was
    words[2] = "../swing"
    assert main([*words, "relative"]) == 2


@pytest.fixture
def types(monkeypatch):
    """Lets a person type these lines; without one more his input has ended."""

    def types(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return types


TWO = MACRO.replace("macro: back", "macro: two").replace("accept: [max_force]", "accept: [completed]") + (
    "  - {step: on, primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, 0.02, 0, 0, 0, 1]}}\n"
)


@pytest.mark.lengthy
@pytest.mark.parametrize(
    ("options", "typed", "code", "ran"),
    [
        (["--break", "on"], "q\n", 1, ["two/go"]),
        (["--break", "on"], "", 1, ["two/go"]),  # nobody can answer
        (["--break", "on"], "\n", 0, ["two/go", "two/on"]),
        (["--step"], "\n Q \n", 1, ["two/go"]),
        (["--step"], "q\n", 1, []),
    ],
)
def test_a_test_waits_before_a_step_and_what_a_person_ends_is_no_test(folder, capsys, types, options, typed, code, ran):
    (folder / "two.yaml").write_text(TWO)
    types(typed)
    assert main(["macro", "test", "two", "--json", *options]) == code
    said = capsys.readouterr()
    end = json.loads(said.out)
    assert [step["label"] for step in end["steps"]] == ran
    assert "before two/on" in said.err or not ran
    assert main(["macro", "runs", "two", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["succeeded"] == end["succeeded"] == (code == 0)
    assert record["reason"] == ("" if code == 0 else f"two/{'on' if ran else 'go'}: ended by a person before this step")


@pytest.mark.lengthy
def test_learned_steps_are_inserted_into_a_macro_that_keeps_the_rest(folder, tmp_path, capsys):
    arm = load_robot("arm")
    rest, way = np.zeros(150), np.linspace(0.0, 0.3, 400)
    rows = [np.array(arm.home) + x * np.eye(6)[0] for x in (*rest, *way, *(rest + 0.3))]
    bag = str(write_bag(tmp_path / "bag", arm.joint_names, rows))
    before = (folder / "back.yaml").read_text() + "  # mine\n"
    (folder / "back.yaml").write_text(before)
    assert main(["macro", "learn", "--bag", bag, "--into", "back", "--to", "0.5"]) == 2
    assert "in which nothing moved" in capsys.readouterr().err
    assert (folder / "back.yaml").read_text() == before
    assert main(["macro", "learn", "swing", "--bag", bag, "--into", "back", "--after", "go"]) == 0
    assert "back.yaml: version 4" in capsys.readouterr().out
    after = (folder / "back.yaml").read_text()
    assert after.startswith(before.replace("version: 3", "version: 4").removesuffix("  # mine\n"))
    assert after.endswith("  # mine\n")
    assert main(["macro", "show", "back"]) == 0
    assert "2. swing_move_1: cartesian_guarded" in capsys.readouterr().out
