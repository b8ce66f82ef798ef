"""The skills are planned on the real arm's kinematics and loads, not only on slides."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.rtc.decision import Job, ParseText, TryRequest
from telerobot_nodes.rtc.server import Workers
from telerobot_nodes.rtc.world import Database, Item, RobotChecks

COMMANDS = [
    "grasp module with left_arm",
    "pick module and place on dock with left_arm",
    "turn crank by 90 deg with left_arm",
    "turn bolt by 90 deg with left_arm",
    "open door by 60 deg with left_arm",
    "open drawer with left_arm",
    "insert pin into hole with left_arm",
    "remove pin from hole with left_arm",
    "seat stud in thread with left_arm",
    "push box with left_arm",
    "slide box with left_arm",
    "level module with left_arm",
    "polish plate with left_arm",
    "touch table with left_arm",
    "follow survey with left_arm",
    "move left_arm to home",
]


@pytest.fixture(scope="module")
def checks():
    robot = load_robot("arm")
    return RobotChecks({"left_arm": robot, "right_arm": robot})


@pytest.fixture(scope="module")
def workers(library, checks):
    items = list(library.workcell.items)
    for arm in library.workcell.arms:
        home = checks.robots[arm].home
        items += [Item(f"{arm}.joints", tuple(home)), Item(f"{arm}.pose", tuple(checks.kinematics.forward(arm, home)))]
    return Workers(Database(items), checks)


def plan(workers, library, text):
    parsed = workers.run(Job(1, 1, library, ParseText(text)), 0.0)
    assert not parsed.error
    return workers.run(Job(2, 1, library, TryRequest(parsed.result.request)), 0.0).result


@pytest.mark.parametrize("text", COMMANDS)
def test_the_skill_can_be_planned_on_the_real_arm(workers, library, text):
    trial = plan(workers, library, text)
    assert trial.works, trial.reason


def test_what_is_out_of_the_arms_reach_is_refused(workers, library):
    trial = plan(workers, library, "move left_arm to (0.85, 0.85, 1.2)")
    assert not trial.works
    assert "no joint angles" in trial.reason or "would turn" in trial.reason


def test_kinematics_go_there_and_back(checks):
    robot = checks.robots["left_arm"]
    pose = checks.kinematics.forward("left_arm", robot.home)
    np.testing.assert_allclose(checks.kinematics.solve("left_arm", pose, robot.home + 0.01), robot.home, atol=1e-6)
    with pytest.raises(OutOfReachError):
        checks.kinematics.solve("left_arm", np.array([5.0, 0, 0, 0, 1, 0, 0]), robot.home)
    with pytest.raises(InvalidValueError, match="left_arm"):
        checks.kinematics.forward("third_arm", robot.home)


def test_a_load_no_joint_can_hold_names_the_joint(checks):
    home = checks.robots["left_arm"].home
    assert checks.load.check_load("left_arm", home, 1.0) == ""
    assert "N m with 500 kg" in checks.load.check_load("left_arm", home, 500.0)


def test_no_joint_of_the_real_arm_slides(checks):
    assert checks.kinematics.slides("left_arm") == (False,) * 6
