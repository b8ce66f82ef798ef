"""`telerobot plan`: a proved path of one arm as text or JSON; goals and numbers that are none are rejected by name."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from telerobot_nodes.cli import main
from telerobot_nodes.core.robot import load_robot

pytestmark = pytest.mark.lengthy  # loads the planner

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)
GOAL = HOME + np.array([0.3, -0.1, 0.1, 0.2, 0.1, 0.0])
START = GOAL + 0.05


def joints(q):
    return ",".join(f"{value:.6f}" for value in q)


@pytest.fixture
def plan(capsys):
    """Exit code, output, and errors on one line."""

    def run(*words):
        code = main(["plan", *words])
        printed = capsys.readouterr()
        return code, printed.out, " ".join(printed.err.replace("│", " ").split())

    return run


def test_a_path_goes_from_home_to_the_joint_goal_inside_the_limits(plan):
    code, out, _ = plan(f"--to={joints(GOAL)}", "--json")
    answer = json.loads(out)
    (path,) = answer["paths"]
    assert (code, answer["found"]) == (0, True)
    waypoints, times = np.array(path["waypoints"]), np.array(path["times"])
    assert waypoints[0] == pytest.approx(HOME)
    assert waypoints[-1] == pytest.approx(GOAL, abs=1e-6)
    assert path["joint_names"] == list(ROBOT.joint_names)
    assert path["length_rad"] == pytest.approx(np.linalg.norm(np.diff(waypoints, axis=0), axis=1).sum())
    assert (np.diff(times) > 0.0).all()
    assert (np.abs(path["velocities"]) <= ROBOT.limits.velocity + 1e-9).all()
    assert path["clearance_m"] >= 0.005


def test_a_fifth_of_the_speed_takes_longer(plan):
    ends = [
        json.loads(plan(f"--to={joints(GOAL)}", "--json", f"--speed={s}")[1])["paths"][0]["times"][-1] for s in (1, 0.2)
    ]
    assert ends[1] > 1.5 * ends[0]


def test_a_goal_of_the_tool_is_reached_from_the_start_given(plan):
    T = ROBOT.forward(GOAL)
    pose = ",".join(f"{v:.9f}" for v in (*T.translation, *quaternion(T.rotation)))
    code, out, _ = plan(f"--pose={pose}", f"--start={joints(START)}", "--json")
    waypoints = np.array(json.loads(out)["paths"][0]["waypoints"])
    end = ROBOT.forward(waypoints[-1])
    assert code == 0
    assert waypoints[0] == pytest.approx(START, abs=1e-6)
    assert end.translation == pytest.approx(T.translation, abs=1e-4)
    assert end.rotation == pytest.approx(T.rotation, abs=1e-3)


def quaternion(rotation):
    return Rotation.from_matrix(rotation).as_quat()


def test_a_goal_inside_the_floor_has_no_path_and_says_why(plan):
    T = ROBOT.forward(HOME)
    pose = ",".join(f"{v:.9f}" for v in (*T.translation[:2], -0.5, *quaternion(T.rotation)))
    code, out, _ = plan(f"--pose={pose}", "--world=table")
    assert code == 1
    assert out.splitlines()[0].split(":")[0] != "found"


PROBLEMS = Path(__file__).parents[2] / "config" / "problems" / "arm"


def words_of(name, *more):
    return [f"--scene={PROBLEMS / f'scene_{name}.yaml'}", f"--request={PROBLEMS / f'request_{name}.yaml'}", *more]


@pytest.mark.parametrize("name", sorted(file.stem.removeprefix("request_") for file in PROBLEMS.glob("request_*.yaml")))
@pytest.mark.brief(1)
def test_a_problem_of_moveits_files_is_solved(plan, name):
    code, out, err = plan(*words_of(name, "--json", f"--srdf={PROBLEMS / 'arm.srdf'}"))
    assert code == 0, out + err
    answer = json.loads(out)
    assert answer["paths"][0]["certificate_cells"] > 0


def test_what_the_files_mean_decides_whether_there_is_a_path(plan, tmp_path):
    """Without the contacts that the scene allows, the start of the pick is a collision."""
    scene = yaml.safe_load((PROBLEMS / "scene_pick.yaml").read_text())
    del scene["allowed_collision_matrix"]
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    code, out, _ = plan(f"--scene={tmp_path / 'scene.yaml'}", f"--request={PROBLEMS / 'request_pick.yaml'}")
    assert code == 1
    assert "collides" in out.splitlines()[0]


def test_a_scene_alone_stands_around_a_path_to_joints(plan):
    code, out, _ = plan(f"--scene={PROBLEMS / 'scene_place.yaml'}", f"--to={joints(GOAL)}", "--json")
    assert code == 0
    assert json.loads(out)["paths"][0]["waypoints"][-1] == pytest.approx(GOAL.tolist(), abs=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--to, --pose, --request: 'none' is not allowed; allowed: one of the three"),
        (["--to=0", "--pose=0"], "--to, --pose, --request: '--to, --pose' is not allowed"),
        (["--request=a.yaml", "--start=0"], "--start: '0' is not allowed; allowed: without --request"),
        (["--to=0", "--scene=a.yaml", "--world=table"], "--world: 'table' is not allowed; allowed: without --scene"),
        (["--request=nowhere.yaml"], "nowhere.yaml"),
        (words_of("pick", "--robot=ur5"), "pick.yaml"),
        (words_of("pick", "--robot=panda", f"--srdf={PROBLEMS / 'arm.srdf'}"), "SRDF of robot 'telerobot_arm'"),
        (["--to=0,0,zero,0,0,0"], "to: '0,0,zero,0,0,0' is not allowed; allowed: numbers separated by commas"),
        (["--to=0,0,inf,0,0,0"], "to[2]: inf is not allowed"),
        (["--to=0,0,0,0,0,0", "--robot=crane"], "crane"),
        (["--to=0,0,0,0,0,0", "--world=moon"], "moon"),
    ],
)
def test_what_cannot_be_planned_is_rejected_by_name(plan, words, message):
    code, out, err = plan(*words)
    assert code not in (0, 1)
    assert out == ""
    assert message in err
