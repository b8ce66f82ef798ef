"""Following paths beside the field: limits, right of way, deadlock told in bounded time, hold, other paths."""

import numpy as np
import pytest

from telerobot_nodes.core.timing import time_path
from telerobot_nodes.cspace.geometry import FieldSettings, box
from telerobot_nodes.cspace.multi_arm.execution import Execution, HeadwayWatch
from telerobot_nodes.errors import InvalidValueError

PERIOD = 0.01


def check_batch(geometry, turn=0.5):
    """Home, turned about the first joint, timed."""
    home = np.array(geometry.robot.home)
    goal = home.copy()
    goal[0] += turn
    return time_path(np.array([home, goal]), geometry.robot.limits)


def follow_schedule(execution, q, periods, arms=1):
    """Step with arms that do exactly what they are told; every configuration."""
    v = [np.zeros(row.size) for row in q]
    rows = []
    for _ in range(periods):
        setpoints = execution.step(q, v)
        v = [(s - old) / PERIOD for s, old in zip(setpoints, q, strict=True)]
        q = [s.copy() for s in setpoints]
        rows.append(q[0])
        if execution.arrived:
            break
    return np.array(rows)


class Barred:
    """Lets an arm go half a second along its path until it is opened."""

    open = False

    def grant(self, clocks):
        return [100.0 if self.open else 0.5 for _ in clocks]


def test_a_path_in_free_space_is_followed_within_the_limits_to_its_end(arm):
    path = check_batch(arm)
    execution = Execution([arm], [], [path], PERIOD)
    rows = follow_schedule(execution, [path.path[0]], 500)
    assert execution.arrived
    assert np.abs(rows[-1] - path.path[-1]).max() < 0.01
    assert len(rows) * PERIOD < path.duration + 1.0
    v = np.diff(rows, axis=0) / PERIOD
    assert (np.abs(v) <= arm.robot.limits.velocity + 1e-9).all()
    assert (np.abs(np.diff(v, axis=0)) <= PERIOD * arm.robot.limits.acceleration * (1.0 + 1e-6) + 1e-9).all()


def test_the_control_law_closes_the_gap_that_the_arm_has_and_not_the_one_its_commands_have(arm):
    path = check_batch(arm)
    execution = Execution([arm], [], [path], PERIOD)
    sag = np.zeros(6)
    sag[1] = -0.03  # a load the servo does not hold up
    q, v = path.path[0] + sag, np.zeros(6)
    for _ in range(600):
        setpoint = execution.step([q], [v])[0]
        v, q = (setpoint + sag - q) / PERIOD, setpoint + sag
        if execution.arrived:
            break
    assert execution.arrived
    assert np.abs(q - path.path[-1]).max() < 0.01


def test_an_arm_waits_where_another_has_the_right_of_way_and_that_is_no_deadlock(arm):
    path = check_batch(arm, 1.0)
    way = Barred()
    execution = Execution([arm], [], [path], PERIOD, patience=0.3)
    execution.follow_all([path], way)
    rows = follow_schedule(execution, [path.path[0]], 200)
    assert not execution.arrived
    assert execution.deadlocked == [False]
    assert execution.clock[0] <= 0.5
    assert np.abs(rows[-1] - path.at(0.5)[0]).max() < 0.02
    way.open = True
    follow_schedule(execution, [rows[-1]], 400)
    assert execution.arrived


def blocked(arm):
    """A wall across the way that nobody planned for, and a field that keeps far off it."""
    path = check_batch(arm, 1.2)
    tool = arm.robot.forward(path.at(0.5 * path.duration)[0]).translation
    settings = FieldSettings(influence=0.15, gain=0.02, max_speed=1.0, velocity_part=1.0)
    return path, Execution([arm], [box("wall", (1.2, 0.05, 1.2), tool)], [path], PERIOD, settings, patience=0.5)


@pytest.mark.lengthy
def test_a_deadlock_is_told_in_bounded_time_and_the_arm_then_holds(arm):
    path, execution = blocked(arm)
    follow_schedule(execution, [path.path[0]], 1500)
    assert execution.deadlocked == [True]
    assert execution.holding
    assert not execution.arrived
    assert execution.resting
    rows = follow_schedule(execution, [execution.limiters[0].q.copy()], 300)
    assert np.abs(rows[-1] - rows[-50]).max() < 0.02


@pytest.mark.lengthy
def test_after_a_deadlock_another_path_is_followed_to_its_goal(arm):
    path, execution = blocked(arm)
    follow_schedule(execution, [path.path[0]], 1500)
    here = execution.limiters[0].q.copy()
    execution.follow(0, time_path(np.array([here, path.path[0]]), arm.robot.limits))
    rows = follow_schedule(execution, [here], 800)
    assert execution.arrived
    assert np.abs(rows[-1] - path.path[0]).max() < 0.01


def test_an_arm_told_to_hold_brakes_along_its_path_within_the_limits(arm):
    path = check_batch(arm, 1.5)
    execution = Execution([arm], [], [path], PERIOD)
    first = follow_schedule(execution, [path.path[0]], 40)
    stop = execution.stopping_time(0)
    execution.hold()
    rows = np.vstack([first, follow_schedule(execution, [first[-1]], 200)])
    assert execution.resting
    assert execution.clock[0] <= stop + 0.02
    v = np.diff(rows, axis=0) / PERIOD
    assert np.abs(v[-1]).max() < 1e-6
    assert (np.abs(np.diff(v, axis=0)) <= PERIOD * arm.robot.limits.acceleration * (1.0 + 1e-6) + 1e-9).all()


def test_headway_is_missed_after_patience_and_not_while_the_arm_may_not_go():
    watch = HeadwayWatch(patience=0.5)
    told = [watch.update(0.1 * i, 1.0 - 0.02 * i, True) for i in range(20)]
    assert not any(told)
    standing = [watch.update(2.0 + 0.1 * i, 0.62, True) for i in range(12)]
    assert standing.index(True) * 0.1 <= 0.5 + 1e-9
    watch.reset()
    assert not any(watch.update(4.0 + 0.1 * i, 0.6, False) for i in range(20))


def test_an_arm_that_swings_to_and_fro_makes_no_headway():
    watch = HeadwayWatch(patience=0.5)
    assert any(watch.update(0.1 * i, 1.0 + 0.3 * (i % 2), True) for i in range(12))


@pytest.mark.parametrize(
    ("field", "value"), [("period", 0.0), ("gain", 1e6), ("lag", float("nan")), ("horizon", -1.0), ("patience", -1.0)]
)
def test_settings_out_of_range_are_refused(arm, field, value):
    settings = {"period": PERIOD} | {field: value}
    with pytest.raises(InvalidValueError, match=field):
        Execution([arm], [], [check_batch(arm)], **settings)
