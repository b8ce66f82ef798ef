"""`telerobot study` without a graph: options, the folder, the table."""

import json

import pytest

from telerobot_nodes.cli import main
from telerobot_nodes.study.design import SCALES, Ending, StudySettings, Workload
from telerobot_nodes.study.results import StudyFolder, TrialResult

SETTINGS = StudySettings(tasks=("reach",), conditions=("a", "d"), delays=(0.0, 1.0))


@pytest.fixture
def place(tmp_path):
    with StudyFolder(tmp_path / "study", SETTINGS) as folder:
        for trial in folder.left("ann"):
            workload = Workload(dict.fromkeys(SCALES, 40))
            folder.add(TrialResult("ann", trial, Ending.REACHED, 7.0, 7.0, 0, 2, workload, "2026-11-27", "bag"))
    return tmp_path / "study"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tasks", "juggle"], "tasks: 'juggle' is not allowed; allowed: trace, "),
        (["--conditions", "e"], "conditions: 'e' is not allowed; allowed: a, b, c, d"),
        (["--delays", "soon"], "delays: 'soon' is not allowed; allowed: seconds, with commas"),
        (["--robot", "nix"], "robot 'nix': neither a URDF file"),
        (["--person", "../x"], "person: '../x' is not allowed"),
        (["--table"], "allowed with --table: the folder of a study"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_written(tmp_path, capsys, words, said):
    assert main(["study", *words, "--folder", str(tmp_path / "new")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("words", "said"), [(["--seed", "2"], "seed: 2 is"), (["--scripted"], "scripted: True is")])
def test_the_folder_of_another_study_is_refused(place, capsys, words, said):
    assert main(["study", *words, "--folder", str(place)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "allowed: that, or another folder" in error


@pytest.mark.lengthy
def test_the_table_is_made_without_a_graph_and_a_study_that_is_done_starts_none(place, capsys):
    assert main(["study", "--table", "--folder", str(place)]) == 0
    assert "7.0 +- 0.0" in capsys.readouterr().out
    (place / "table.txt").unlink()
    assert main(["study", "--person", "ann", "--folder", str(place)]) == 0
    assert "ann has done every trial" in capsys.readouterr().out
    assert json.loads((place / "summary.json").read_text())["trials"] == 4
    assert (place / "table.txt").is_file()


def test_a_results_file_that_is_broken_is_refused_with_its_line(place, capsys):
    file = place / "results.jsonl"
    file.write_text(file.read_text().replace('"reached"', '"won"', 1))
    assert main(["study", "--table", "--folder", str(place)]) == 2
    assert "results.jsonl:1:1: ending: won is not allowed" in capsys.readouterr().err
