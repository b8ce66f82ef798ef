"""The simulated arm at the plan's head, on the trial path, at any plan time, backward under the brake; conflicts."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.simulation import ForwardSimulator

ROBOT = load_robot("arm")
HOME = pose_from_se3(ROBOT.forward(ROBOT.home))
TIMES = 0.02 * np.arange(1, 201)


def line(times=TIMES, direction=(0.0, 0.05, 0.0), start=HOME):
    rows = np.tile(start, (times.size, 1))
    rows[:, :3] += np.outer(times - times[0], direction)
    return rows


def made(**values):
    simulator = ForwardSimulator(ROBOT, **values)
    simulator.start(ROBOT.home)
    return simulator


def laid(**values):
    simulator = made(**values)
    simulator.append(1, TIMES, line())
    return simulator


def test_the_head_is_the_arm_at_the_last_point_laid():
    head = laid().head()
    assert head.time == pytest.approx(4.0)
    np.testing.assert_allclose(head.tool_pose, line()[-1], atol=1e-6)


def test_joint_solutions_do_not_jump():
    simulator = laid()
    q = np.array([simulator.state_at(t).joint_position for t in np.linspace(0.0, 4.0, 300)])
    assert np.abs(np.diff(q, axis=0)).max() < 0.01


def test_points_laid_as_time_passes_are_followed_at_once():
    simulator = made()
    for k in range(50):
        simulator.append(k + 1, TIMES[k : k + 1], line()[k : k + 1])
        state = simulator.advance(10.0 + TIMES[k])
    assert simulator.head_time - state.time < 0.021


def test_points_laid_in_a_burst_are_run_through_and_the_head_is_reached():
    simulator = laid()
    simulator.advance(0.0)
    states = [simulator.advance(0.04 * k).time for k in range(1, 60)]
    assert 0.0 < states[0] < 2.0
    assert np.all(np.diff(states) >= 0.0)
    assert simulator.at_end


def test_under_the_brake_the_simulated_arm_runs_backward_along_the_plan():
    simulator = laid()
    simulator.advance(0.0)
    simulator.advance(10.0)
    back = []
    for k in range(10):
        simulator.truncate(200 - 10 * (k + 1))
        back.append(simulator.advance(10.0 + 0.04 * k))
    assert np.all(np.diff([state.time for state in back]) < 0.0)
    np.testing.assert_allclose(back[-1].tool_pose, line()[99], atol=1e-6)


def test_the_trial_starts_at_the_plans_head_and_leaves_the_plan_alone():
    simulator = laid()
    assert simulator.trial_head() is None
    times = 4.0 + TIMES[:50]
    simulator.append(201, times, line(times, (0.05, 0.0, 0.0), line()[-1]), trial=True)
    assert simulator.head().time == pytest.approx(4.0)
    assert simulator.trial_head().time == pytest.approx(5.0)
    simulator.truncate(220, trial=True)
    assert simulator.trial_head().time == pytest.approx(4.4)


def test_the_arm_can_be_looked_at_at_any_time_between_robot_and_head():
    simulator = laid()
    simulator.executed(1.0)
    assert simulator.state_at(0.0).time == pytest.approx(1.0)
    assert simulator.state_at(99.0).time == pytest.approx(4.0)
    np.testing.assert_allclose(simulator.state_at(2.0).tool_pose, line()[99], atol=1e-6)


def test_what_the_robot_has_executed_is_forgotten():
    simulator = laid()
    simulator.executed(3.9)
    assert simulator.line(10_000).kinds.size < 10
    simulator.append(201, np.array([4.02]), line()[-1:])
    assert simulator.head().time == pytest.approx(4.02)


def test_the_lead_is_the_plan_time_between_head_and_robot():
    assert laid().lead(1.5) == pytest.approx(2.5)


def test_a_reset_replaces_the_plan():
    simulator = laid()
    simulator.reset(300, TIMES[:10], line()[:10])
    assert simulator.head().time == pytest.approx(0.2)
    assert simulator.at_end


def test_points_out_of_reach_are_marked_and_the_arm_stays():
    simulator = laid()
    away = np.tile(line()[-1], (5, 1))
    away[:, 0] += 5.0
    simulator.append(201, 4.0 + TIMES[:5], away)
    simulator.check(1000)
    report = simulator.conflicts()
    assert (report.count, report.first_seq) == (5, 201)
    assert report.text == "out of reach, point 201, plan time 4.02 s"
    np.testing.assert_allclose(simulator.head().tool_pose, line()[-1], atol=1e-6)


class Wall:
    """A checker: nothing beyond a plane of WORLD."""

    def __init__(self, y):
        self.y = y

    unexamined = ""

    def collisions(self, path):
        return [("wall" if ROBOT.forward(q).translation[1] > self.y else "", 0.0) for q in path]


def test_collisions_are_found_before_the_robot_gets_there():
    simulator = laid(checker=Wall(HOME[1] + 0.1))
    assert simulator.conflicts().count == 0
    assert simulator.check(1000) == 200
    report = simulator.conflicts()
    assert report.text.startswith("collision: wall, point 10")
    assert (report.kind, report.subject) == (ConflictKind.COLLISION, "wall")
    assert 90 <= report.count <= 101
    assert set(np.unique(simulator.line(10_000).kinds)) == {ConflictKind.NONE, ConflictKind.COLLISION}


def test_conflicts_braked_away_or_executed_are_no_conflicts_any_more():
    simulator = laid(checker=Wall(HOME[1] + 0.1))
    simulator.check(1000)
    simulator.truncate(150)
    assert simulator.conflicts().count <= 51
    simulator.executed(2.5)
    assert simulator.conflicts().count <= 26
    simulator.truncate(100)
    assert simulator.conflicts().count == 0


def test_checking_goes_on_where_it_left_off():
    simulator = laid()
    assert [simulator.check(90) for _ in range(4)] == [90, 90, 20, 0]


def test_points_are_examined_as_long_as_there_is_time_and_there_are_any():
    forward = laid()
    looks = iter([True, True, False])
    assert forward.check_while(lambda: next(looks), step=10) == 30  # once at least, and after each yes
    assert forward.check_while(lambda: True, step=10) == len(TIMES) - 30
    assert forward.check_while(lambda: True) == 0


def test_points_faster_than_a_joint_are_told():
    simulator = made()
    simulator.append(1, TIMES[:50], line(TIMES[:50]))
    simulator.append(51, TIMES[:5] * 0.05 + TIMES[49], line(TIMES[:5], (0.0, 0.8, 0.0), line(TIMES[:50])[-1]))
    simulator.check(1000)
    assert "times too fast" in simulator.conflicts().text


def test_points_that_go_back_or_do_not_fit_are_refused_and_change_nothing():
    simulator = made(capacity=210)
    simulator.append(1, TIMES, line())
    for first, times in ((200, np.array([4.1])), (201, np.array([3.0])), (201, 4.0 + TIMES[:20])):
        with pytest.raises(Exception, match=r"points"):
            simulator.append(first, times, np.tile(line()[-1], (times.size, 1)))
    assert simulator.head().time == pytest.approx(4.0)


@pytest.mark.parametrize("field", ["time", "pose"])
def test_values_that_are_not_finite_are_refused_naming_the_field(field):
    simulator = made()
    times, rows = TIMES[:3].copy(), line(TIMES[:3])
    (times if field == "time" else rows)[1] = np.nan
    with pytest.raises(ValueError, match=f"points.{field}"):
        simulator.append(1, times, rows)


def test_a_plan_told_again_for_a_late_comer_does_not_set_the_simulated_arm_back():
    robot = load_robot("arm")
    forward = ForwardSimulator(robot)
    forward.start(robot.home)
    home = pose_from_se3(robot.forward(robot.home))
    rows = np.tile(home, (100, 1))
    rows[:, 1] += 0.001 * np.arange(100)
    times = 0.02 * np.arange(1, 101)
    forward.append(1, times, rows)
    for k in range(200):
        forward.advance(0.04 * k)
    before = forward.advance(8.0).time
    forward.executed(0.5)
    forward.reset(1, times[:60], rows[:60], robot.home)  # a plan with a gap in its numbers comes in two pieces
    forward.append(61, times[60:], rows[60:])
    assert forward.advance(8.01).time == before == forward.head_time
    forward.append(101, times[-1:] + 0.02, rows[-1:])
    assert forward.head_time == pytest.approx(before + 0.02)
    forward.reset(500, times, rows, robot.home)  # another plan
    assert len(forward.line(10_000).kinds) == 100


def test_a_trial_through_a_wall_is_shown_as_it_is_laid():
    simulator = laid(checker=Wall(HOME[1] + 0.3005))
    simulator.check(1000)
    assert simulator.conflicts().count == 0
    for k in range(200):  # a point each 20 ms, a check each 40 ms
        simulator.append(k + 1, TIMES[k : k + 1] + 4.0, line(start=line()[-1])[k : k + 1], trial=True)
        if k % 2:
            simulator.check(100)
        through = line(start=line()[-1])[k, 1] > HOME[1] + 0.3005
        if k % 2:
            assert (simulator.conflicts().count > 0) == through
    found = simulator.conflicts()
    assert (found.kind, found.subject) == (ConflictKind.COLLISION, "wall")
    assert found.text.startswith("trial path: collision: wall, point")
    trial = simulator.line(20, trial=True)
    assert trial.places[-1] == pytest.approx(line(start=line()[-1])[-1, :3], abs=1e-6)
    assert ((trial.places[:, 1] > HOME[1] + 0.3005) == (trial.kinds == ConflictKind.COLLISION)).all()


@pytest.mark.parametrize("gone", ["truncate", "reset", "recheck"])
def test_conflicts_of_a_trial_go_with_it(gone):
    simulator = laid(checker=Wall(HOME[1] + 0.3005))
    simulator.append(1, TIMES + 4.0, line(start=line()[-1]), trial=True)
    simulator.check(1000)
    assert simulator.conflicts().count > 0
    if gone == "truncate":
        simulator.truncate(50, trial=True)
    elif gone == "reset":
        simulator.reset(1, np.empty(0), np.empty((0, 7)), trial=True)
        assert simulator.line(20, trial=True).places.size == 0
    else:
        simulator.recheck()
    assert simulator.conflicts().count == 0
    simulator.check(1000)
    assert (simulator.conflicts().count > 0) == (gone == "recheck")


def test_the_trial_is_checked_before_a_long_plan():
    simulator = made(checker=Wall(HOME[1] + 0.2))
    times = 0.02 * np.arange(1, 2001)
    simulator.append(1, times, line(times, direction=(0.0, 0.0049, 0.0)))
    simulator.append(1, TIMES + 40.0, line(start=line(times, direction=(0.0, 0.0049, 0.0))[-1]), trial=True)
    simulator.check(200)
    assert simulator.conflicts().text.startswith("trial path")


def test_no_conflict_is_lost_when_a_line_is_thinned():
    simulator = laid(checker=Wall(HOME[1] + 0.1985))  # the last point only
    simulator.check(1000)
    assert simulator.conflicts().count == 1
    assert (simulator.line(3).kinds == ConflictKind.COLLISION).sum() == 1
