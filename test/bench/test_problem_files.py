"""Problems of MoveIt's files in a folder: each is solved and judged by true shapes, or listed with the reason."""

import shutil
from pathlib import Path

import pytest

from telerobot_nodes.bench import checked_options
from telerobot_nodes.bench.planner.problem_files import problem_files, robot_of, run_files
from telerobot_nodes.errors import InvalidValueError

PROBLEMS = Path(__file__).parents[2] / "config" / "problems" / "arm"


def test_every_request_has_its_scene_and_the_name_of_its_folder():
    found = problem_files(PROBLEMS.parent)
    assert len(found) >= 4
    assert all(files.scene.is_file() for files in found)
    assert {files.family for files in found} == {"arm"}


def test_one_scene_may_stand_for_all_requests_of_a_folder(tmp_path):
    for name in ("request1.yaml", "request2.yaml", "scene2.yaml", "scene.yaml"):
        (tmp_path / name).touch()
    assert [files.scene.name for files in problem_files(tmp_path)] == ["scene.yaml", "scene2.yaml"]


@pytest.mark.parametrize("names", [(), ("request1.yaml",), ("scene.yaml",)])
def test_a_folder_without_problems_or_scenes_is_refused(tmp_path, names):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(InvalidValueError, match="problems"):
        problem_files(tmp_path)


def test_the_srdf_of_the_folder_is_the_robots(tmp_path):
    assert robot_of("arm", PROBLEMS).srdf.path == PROBLEMS / "arm.srdf"
    for name in ("a.srdf", "b.srdf"):
        shutil.copy(PROBLEMS / "arm.srdf", tmp_path / name)
    with pytest.raises(InvalidValueError, match=r"one \.srdf"):
        robot_of("arm", tmp_path)


def test_the_option_is_a_number_or_a_folder(tmp_path):
    assert checked_options("planner", [f"problems={tmp_path}"]) == {"problems": str(tmp_path)}
    assert checked_options("planner", ["problems=12"]) == {"problems": "12"}
    for value in ("0", "-1", str(tmp_path / "nowhere")):
        with pytest.raises(InvalidValueError, match="a whole number from 1, or a folder"):
            checked_options("planner", [f"problems={value}"])


@pytest.mark.lengthy
@pytest.mark.nightly
def test_what_is_free_is_solved_and_what_is_refused_is_listed(tmp_path):
    shutil.copytree(PROBLEMS, tmp_path / "arm")
    (tmp_path / "arm" / "request_wrong.yaml").write_text("goal_constraint: []")
    shutil.copy(PROBLEMS / "scene_pick.yaml", tmp_path / "arm" / "scene_wrong.yaml")
    (tmp_path / "arm" / "arm.srdf").rename(tmp_path / "arm.srdf")
    result = run_files(tmp_path, "arm", 2.0, True)
    figures = result["figures"]["arm"]
    assert figures["solved"] == figures["free"] == figures["problems"] - 1
    assert figures["outcomes"] == {"found": figures["solved"], "refused": 1}
    assert figures["densely_wrong"] == 0
    assert figures["densely_looked_at"] > 10
    assert "request_wrong.yaml" in result["figures"]["reasons"][0]
