"""Times along paths, and two arms on crossing paths."""

import math

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.timing import time_path
from telerobot_nodes.cspace.geometry import arm_geometry, sphere_centers
from telerobot_nodes.cspace.multi_arm import coordinate, sampled, swept_obstacles
from telerobot_nodes.cspace.multi_arm.coordination_space import blocked_cells
from telerobot_nodes.errors import InvalidValueError


def test_a_timed_path_keeps_every_limit_and_its_line(geometry, samples):
    limits = geometry.robot.limits
    path = samples(geometry, 4, 20)
    timed = time_path(path, limits)
    times = np.linspace(0.0, timed.duration, 2001)
    rows = [timed.at(t) for t in times]
    q, v, a = (np.array([row[i] for row in rows]) for i in range(3))
    assert (np.abs(v) <= limits.velocity + 1e-9).all()
    assert (np.abs(a) <= limits.acceleration + 1e-9).all()
    jerk = np.diff(a, axis=0) / (times[1] - times[0])
    assert (np.abs(jerk) <= 20.0 * limits.acceleration * 1.001 + 1e-6).all()
    assert q[0] == pytest.approx(path[0])
    assert q[-1] == pytest.approx(path[-1])
    for i, t in enumerate(timed.times):
        assert timed.at(float(t))[0] == pytest.approx(path[i], abs=1e-6)
    for row, t in zip(q, times, strict=True):
        i = min(int(timed.share(float(t))), len(path) - 2)
        delta = path[i + 1] - path[i]
        part = (row - path[i]) @ delta / (delta @ delta)
        assert row == pytest.approx(path[i] + part * delta, abs=1e-9)


def test_some_joint_is_always_at_a_limit_of_velocity_acceleration_or_jerk(panda, samples):
    limits = panda.robot.limits
    timed = time_path(samples(panda, 2, 21), limits)
    for t in np.linspace(0.05, 0.95, 19) * timed.duration:
        _, v, a = timed.at(t)
        jerk = (timed.at(t + 1e-4)[2] - timed.at(t - 1e-4)[2]) / 2e-4
        use = [
            np.abs(v / limits.velocity),
            np.abs(a / limits.acceleration),
            np.abs(jerk / (20.0 * limits.acceleration)),
        ]
        assert max(u.max() for u in use) > 0.99


def test_a_path_that_stands_still_takes_no_time(panda):
    home = np.array(panda.robot.home)
    timed = time_path(np.array([home, home]), panda.robot.limits)
    assert timed.duration == 0.0
    assert timed.at(0.0)[0] == pytest.approx(home)


@pytest.mark.parametrize("bad", [np.zeros((1, 7)), np.zeros((2, 6)), np.full((2, 7), math.nan)])
def test_what_is_no_path_is_refused(panda, bad):
    with pytest.raises(InvalidValueError, match="path"):
        time_path(bad, panda.robot.limits)


@pytest.fixture(scope="module")
def pair():
    """Two arms facing each other, 1.1 m apart."""
    turned = pin.SE3(pin.utils.rotate("z", math.pi), np.array([1.1, 0.0, 0.0]))
    return arm_geometry(load_robot("panda")), arm_geometry(load_robot("panda", T_world_base=turned))


def crossing(geometry, side):
    """Reach forward, swept from one side to the other."""
    home = np.array([0.0, 0.3, 0.0, -1.6, 0.0, 1.9, 0.785])
    ends = np.array([home, home])
    ends[0, 0], ends[1, 0] = side * 1.5, -side * 1.5
    return time_path(ends, geometry.robot.limits)


def apart(pair, q, p):
    """Smallest distance of the spheres of two arms [m]."""
    a, b = sphere_centers(pair[0].arm, q), sphere_centers(pair[1].arm, p)
    gap = np.linalg.norm(a[:, None] - b[None], axis=2)
    return float((gap - pair[0].arm.sphere_radius[:, None] - pair[1].arm.sphere_radius[None]).min())


@pytest.mark.lengthy
def test_arms_that_would_meet_wait_and_then_do_not(pair):
    first, second = crossing(pair[0], 1.0), crossing(pair[1], -1.0)
    period = 0.04
    rows = sampled(first, period), sampled(second, period)
    together = min(apart(pair, q, p) for q, p in zip(*rows, strict=True))
    assert together < 0.0
    schedule = coordinate(pair, (first, second), 0.01, period)
    assert schedule is not None
    assert schedule.ticks[0].tolist() == [0, 0]
    assert schedule.ticks[-1].tolist() == [len(rows[0]) - 1, len(rows[1]) - 1]
    assert set(np.unique(np.diff(schedule.ticks, axis=0))) <= {0, 1}
    for u, v in zip(schedule.ticks[:-1], schedule.ticks[1:], strict=True):
        for s in (0.0, 0.5):
            q = rows[0][u[0]] + s * (rows[0][v[0]] - rows[0][u[0]])
            p = rows[1][u[1]] + s * (rows[1][v[1]] - rows[1][u[1]])
            assert apart(pair, q, p) > 0.01
    assert schedule.duration < first.duration + second.duration


def test_arms_that_never_meet_do_not_wait(pair):
    turned_away = np.array([[2.2, -0.5, 0, -2.0, 0, 1.5, 0.8], [2.6, -0.5, 0, -2.0, 0, 1.5, 0.8]])
    first, second = (time_path(turned_away, g.robot.limits) for g in pair)
    schedule = coordinate(pair, (first, second), 0.01, 0.05)
    assert schedule is not None
    assert (np.diff(schedule.ticks, axis=0) == 1).all()


def test_goals_that_overlap_have_no_schedule(pair):
    home = np.array([0.0, 0.8, 0.0, -1.2, 0.0, 1.9, 0.785])
    away = home + np.array([1.2, 0, 0, 0, 0, 0, 0])
    first, second = (time_path(np.array([away, home]), g.robot.limits) for g in pair)
    assert apart(pair, home, home) < 0.0
    assert coordinate(pair, (first, second), 0.01, 0.05) is None


def test_a_later_start_is_coordinated_with_an_arm_on_its_way(pair):
    first, second = crossing(pair[0], 1.0), crossing(pair[1], -1.0)
    late = coordinate(pair, (first, second), 0.01, 0.04, start_last=20)
    assert late is not None
    assert late.ticks[0].tolist() == [20, 0]


def test_cells_of_the_coordination_space_called_free_are_free(pair):
    rows = [sampled(crossing(g, s), 0.1) for g, s in zip(pair, (1.0, -1.0), strict=True)]
    blocked = blocked_cells(pair[0], rows[0], pair[1], rows[1], 0.0)
    rng = np.random.default_rng(0)
    assert blocked.any()
    assert not blocked.all()
    for i, j in np.argwhere(~blocked)[::7]:
        u, v = rng.uniform(0.0, 1.0, 2)
        q = rows[0][i] + u * (rows[0][i + 1] - rows[0][i])
        assert apart(pair, q, rows[1][j] + v * (rows[1][j + 1] - rows[1][j])) > 0.0


def test_swept_balls_hold_the_arm_all_along(panda):
    path = np.array([panda.robot.home, np.array(panda.robot.home) + 0.3])
    swept = swept_obstacles(panda, path)
    centers = np.array([o.pose[:3] for o in swept])
    radii = np.array([o.size[0] for o in swept])
    moving = panda.arm.sphere_first[panda.arm.link_first[1]]
    for u in np.linspace(0.0, 1.0, 23):
        spheres = sphere_centers(panda.arm, path[0] + u * (path[1] - path[0]))[moving:]
        reach = np.linalg.norm(spheres[:, None] - centers[None], axis=2) + panda.arm.sphere_radius[moving:, None]
        assert ((reach - radii[None]).min(axis=1) <= 1e-9).all()
    assert len(swept) < 400
