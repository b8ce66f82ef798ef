"""Macros in physics: relative ones from any start, absolute ones to one place, stops at a result not accepted."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import OfflineRobot, play, read_macros, steps_of

HEAD = "macro: m\nversion: 1\ndoc: d\nmotion: {}\nsteps:\n".format


def run(folder, name, robot, **arguments):
    return play(steps_of(folder, name, arguments, robot.context), robot.send, lambda _: None)


@pytest.mark.lengthy
def test_the_example_feels_the_board_and_a_surface_out_of_reach_stops_it(arm):
    folder = read_macros(share_path("config/macros"))
    felt = run(folder, "feel_surface", OfflineRobot(arm))
    assert felt.succeeded, felt.reason
    assert [end.result for end in felt.steps] == ["touched", "completed", "touched", "completed"]
    missed = run(folder, "feel_surface", OfflineRobot(arm, board=False), reach=0.05)
    assert (len(missed.steps), missed.steps[0].result) == (1, "missed")
    assert "feel_surface/approach: missed" in missed.reason


@pytest.mark.lengthy
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.brief(2)
def test_a_relative_macro_moves_the_same_from_any_start(write, arm, seed):
    way = pin.SE3(pin.exp3(np.array([0.0, 0.2, 0.3])), np.array([0.03, -0.02, -0.05]))
    quaternion = [float(x) for x in pin.SE3ToXYZQUAT(way)]
    step = f"  - {{step: s, primitive: cartesian_guarded, values: {{tr_rel_dest: {quaternion}}}}}\n"
    folder = write(m=HEAD("relative") + step)
    away = np.random.default_rng(seed).uniform(-0.15, 0.15, arm.dof)
    robot = OfflineRobot(arm, np.array(arm.home) + away, board=False)
    before = pin.XYZQUATToSE3(robot.context().tool_pose)
    end = run(folder, "m", robot)
    assert end.succeeded, end.reason
    robot.rig.hold(0.3)
    miss = (before * way).actInv(pin.XYZQUATToSE3(robot.context().tool_pose))
    assert np.linalg.norm(miss.translation) < 1e-3
    assert np.linalg.norm(pin.log3(miss.rotation)) < np.radians(0.5)


@pytest.mark.lengthy
def test_each_step_and_its_end_take_the_delay_and_the_motion_is_shown_as_it_goes(write, arm):
    step = "  - {step: s, primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, -0.02, 0, 0, 0, 1]}}\n"
    folder, took = write(m=HEAD("relative") + step), []
    for one_way in (0.0, 0.5):
        robot, shown = OfflineRobot(arm, board=False, one_way=one_way), []
        robot.follow(lambda now, q, shown=shown: shown.append((now, q)), 0.05)
        assert run(folder, "m", robot).succeeded
        took.append(robot.rig.now)
        times = np.array([now for now, _ in shown])
        assert np.allclose(np.diff(times), 0.05)
        away = [np.abs(q - arm.home).max() for _, q in shown]
        assert away[-1] > 0.01
        assert max(away[: round(one_way / 0.05)], default=0.0) < 1e-3  # the step has not arrived
    assert took[1] - took[0] == pytest.approx(1.0, abs=0.01)


@pytest.mark.lengthy
def test_an_unreachable_step_and_a_text_are_refused_in_their_place(write, arm):
    step = "  - {step: s, primitive: cartesian_guarded, values: {tr_rel_dest: [9, 0, 0, 0, 0, 0, 1]}}\n"
    folder = write(m=HEAD("relative") + step)
    robot = OfflineRobot(arm, board=False)
    end = run(folder, "m", robot)
    assert (end.succeeded, end.steps[0].result) == (False, "refused")
    assert "reach" in end.reason
    folder = write(m=HEAD("relative") + "  - {step: s, text: status}\n")
    assert run(folder, "m", robot).steps[0].result == "not served"


@pytest.mark.parametrize("delay", [float("inf"), float("nan"), -0.1, 1e9])
def test_a_delay_that_is_none_is_refused_before_anything_runs(arm, delay):
    with pytest.raises(InvalidValueError, match="delay"):
        OfflineRobot(arm, one_way=delay)
