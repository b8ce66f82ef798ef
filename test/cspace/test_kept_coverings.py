"""An arm is covered once; what was kept on disk is the same as what would be made, or it is made again."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.covering import kept_coverings
from telerobot_nodes.cspace.covering.kept_coverings import covered_links
from telerobot_nodes.cspace.geometry import arm_geometry


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Arms that were covered, not read."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kept_coverings, "_KNOWN", {})
    rows, cover = [], kept_coverings.cover_shapes
    monkeypatch.setattr(
        kept_coverings, "cover_shapes", lambda robot, shapes: rows.append(robot) or cover(robot, shapes)
    )
    return rows


@pytest.fixture
def files(tmp_path):
    return lambda: sorted((tmp_path / "telerobot" / "coverings").glob("*"))


def _as_a_new_process_would():
    kept_coverings._KNOWN.clear()


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_what_is_read_is_what_was_made_to_the_last_bit(made, name):
    robot = load_robot(name)
    first = arm_geometry(robot)
    _as_a_new_process_would()
    second = arm_geometry(robot)
    assert made == [robot]
    assert first.key() == second.key()
    assert (first.excluded, first.sphere_names, first.bodies, first.checked) == (
        second.excluded,
        second.sphere_names,
        second.bodies,
        second.checked,
    )


def test_in_one_process_nothing_is_read_twice(made, files):
    robot = load_robot("panda")
    first = covered_links(robot, {})
    for file in files():
        file.unlink()
    assert covered_links(robot, {}) is first


def _narrower(robot):
    return replace(robot, limits=replace(robot.limits, upper=robot.limits.upper - 0.1))


def _higher(robot):
    T = robot.T_world_base.copy()
    T.translation = T.translation + np.array([0.0, 0.0, 0.1])
    return replace(robot, T_world_base=T)


def _at_another_home(robot):
    return replace(robot, home=robot.home + 0.1)


def _thicker(robot):
    root = ET.fromstring(robot.urdf)
    solid = next(root.iterfind("link/collision/geometry/cylinder"))
    solid.set("radius", str(1.01 * float(solid.get("radius"))))
    return replace(robot, urdf=ET.tostring(root, encoding="unicode"))


@pytest.mark.parametrize("change", [_narrower, _higher, _at_another_home, _thicker])
def test_whatever_decides_a_covering_makes_another(made, change):
    robot = load_robot("panda")
    covered_links(robot, {})
    covered_links(change(robot), {})
    assert len(made) == 2
    _as_a_new_process_would()
    covered_links(change(robot), {})
    covered_links(robot, {})
    assert len(made) == 2


def test_a_finger_that_stands_elsewhere_makes_another(made):
    robot = load_robot("panda")
    covered_links(robot, {})
    covered_links(robot, {"panda_finger_joint1": 0.03})
    assert len(made) == 2


def test_a_mesh_of_the_same_name_with_other_points_makes_another(made, monkeypatch):
    robot = load_robot("ur5")
    covered_links(robot, {})
    _as_a_new_process_would()
    arrays = kept_coverings._solid_arrays
    monkeypatch.setattr(kept_coverings, "_solid_arrays", lambda solid: [1.001 * np.array(a) for a in arrays(solid)])
    covered_links(robot, {})
    assert len(made) == 2


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "of something else", "not text"])
def test_a_file_that_is_not_whole_is_made_again(made, files, harm):
    robot = load_robot("panda")
    first = arm_geometry(robot)
    (file,) = files()
    text = file.read_text()
    file.write_bytes(
        {
            "cut": text[: len(text) // 2].encode(),
            "changed": text.replace("0.06", "0.01").encode(),
            "empty": b"",
            "of something else": b"{}\n{}",
            "not text": b"\xff\xfe\n\xff",
        }[harm]
    )
    _as_a_new_process_would()
    assert arm_geometry(robot).key() == first.key()
    assert len(made) == 2
    assert file.read_text() == text


def test_without_a_home_to_write_to_the_arm_is_covered_all_the_same(made, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert covered_links(load_robot("panda"), {}).pieces


def test_the_files_do_not_grow_without_end(made, files, monkeypatch):
    monkeypatch.setattr(kept_coverings, "KEPT_FILES", 2)
    robot = load_robot("panda")
    for place in (0.01, 0.02, 0.03):
        covered_links(robot, {"panda_finger_joint1": place})
    assert len(files()) == 2
    _as_a_new_process_would()
    covered_links(robot, {"panda_finger_joint1": 0.03})
    assert len(made) == 3
