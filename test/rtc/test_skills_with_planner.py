"""The paths of the skills as the planner of the graph judges them: the arm comes free of itself everywhere."""

import pytest

from telerobot_nodes.bench.rtc.skills import MORE, SENTENCES, SkillTrials
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.service import InProcessPlanner
from telerobot_nodes.rtc.world import RobotChecks

pytestmark = pytest.mark.lengthy


@pytest.fixture(scope="module")
def trials():
    made = SkillTrials()
    robots = {name: load_robot("arm") for name in made.library.workcell.arms}
    planner = InProcessPlanner(robots)
    planner.load()
    made._checks = RobotChecks(robots, collision=planner, executive=made._executive)
    return made


@pytest.mark.brief(15)
@pytest.mark.parametrize(("text", "held"), [*SENTENCES.values(), *MORE])
def test_the_skill_can_be_planned(trials, text, held):
    assert trials.run(text, held).error == ""
