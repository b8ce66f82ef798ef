"""The graph of a trial: link and arm as the task has them."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.study.design import TASKS
from telerobot_nodes.study.run import trial_graph

ARM_FILE = """\
urdf: arm
limits:
  {joint}: {{upper: {upper}, velocity: 0.5}}
"""


def test_link_and_recording_are_those_of_the_trial(tmp_path):
    options = trial_graph(TASKS["trace"], 4.0, "arm", tmp_path)
    assert (options.delay, options.jitter, options.loss, options.robot) == (4.0, 0.0, 0.0, "arm")
    assert options.bag == tmp_path / "bag"
    names = [node.name for node in options.nodes]
    assert "bag_recorder" in names
    assert "operator_console" not in names


def test_the_poor_link_has_jitter_and_loss_as_in_the_simulated_study(tmp_path):
    link = trial_graph(TASKS["poor-link"], 4.0, "arm", tmp_path).emulated_link()
    assert link is not None
    assert (link.delay, link.jitter, link.loss) == pytest.approx((2.0, 0.4, 0.05))


@pytest.mark.parametrize("begun_with", ["name", "arm file"])
def test_the_slow_arm_has_a_share_of_the_limits_and_is_the_same_arm_otherwise(tmp_path, begun_with):
    robot = "arm"
    if begun_with == "arm file":
        first, upper = load_robot("arm").joint_names[0], 0.9 * load_robot("arm").limits.upper[0]
        robot = str(tmp_path / "mine.yaml")
        (tmp_path / "mine.yaml").write_text(ARM_FILE.format(joint=first, upper=upper))
    place = tmp_path / "trial"
    place.mkdir()
    slow = load_robot(trial_graph(TASKS["slow-arm"], 1.0, robot, place).robot)
    plain = load_robot(robot)
    for key in ("velocity", "acceleration", "jerk"):
        assert getattr(slow.limits, key) == pytest.approx(0.08 * getattr(plain.limits, key))
    assert np.array_equal(slow.limits.upper, plain.limits.upper)
    assert np.array_equal(slow.home, plain.home)
