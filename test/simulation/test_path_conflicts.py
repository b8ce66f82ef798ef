"""Conflicts along a path: which is worst at a point, which comes first, and what a change of the path leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.simulation.conflicts import ConflictBounds
from telerobot_nodes.simulation.path_conflicts import PathConflicts
from telerobot_nodes.simulation.simulated_path import SimulatedPath

ROBOT = load_robot("arm")
HOME = pose_from_se3(ROBOT.forward(ROBOT.home))
WALL = 0.02  # [m] from home along y, where the tool enters it
FAR = [5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


class Wall:
    """A real check of the tool's place: depth behind a plane that is perpendicular to y."""

    unexamined = ""

    def collisions(self, path):
        depths = [ROBOT.forward(q).translation[1] - HOME[1] - WALL for q in path]
        return [("tool and wall", depth) if depth > 0.0 else ("", 0.0) for depth in depths]


def line(offsets):
    rows = np.tile(HOME, (len(offsets), 1))
    rows[:, 1] += offsets
    return rows


def made(offsets, times=None, checker=None, bounds=None):
    """A path numbered from 1 with a point per offset [m] along y, and its conflicts."""
    path = SimulatedPath(Kinematics(ROBOT), ROBOT.home, 500)
    offsets = np.asarray(offsets, float)
    path.append(1, 0.1 * np.arange(1, offsets.size + 1) if times is None else np.asarray(times), line(offsets))
    return path, PathConflicts(ROBOT, path, checker, bounds or ConflictBounds())


def test_a_path_without_conflict_has_an_empty_report():
    path, conflicts = made(0.001 * np.arange(1, 21), checker=Wall())
    assert conflicts.check(100) == 20
    assert conflicts.report("plan: ").count == 0
    assert not path.conflict.any()


def test_a_path_whose_collisions_cannot_be_examined_yet_says_so():
    class Loading(Wall):
        unexamined = "collisions are not examined: the planner is loading"

        def collisions(self, path):
            return [("", 0.0)] * len(path)

    _, conflicts = made(0.001 * np.arange(1, 21), checker=Loading())
    conflicts.check(100)
    assert (conflicts.report().count, conflicts.report().text) == (0, Loading.unexamined)
    nothing = SimulatedPath(Kinematics(ROBOT), ROBOT.home, 10)
    assert PathConflicts(ROBOT, nothing, Loading(), ConflictBounds()).report().text == ""


def test_the_first_of_several_is_reported_with_its_point_and_plan_time():
    path, conflicts = made(0.002 * np.arange(1, 21), checker=Wall())
    conflicts.check(100)
    report = conflicts.report("plan: ")
    assert (report.count, report.first_seq) == (10, 11)  # points 1 .. 10 are up to 20 mm
    assert (report.kind, report.subject) == (ConflictKind.COLLISION, "tool and wall")
    assert report.text == "plan: collision: tool and wall, 2 mm, point 11, plan time 1.10 s"
    assert list(path.conflict[1:]) == [ConflictKind.NONE] * 10 + [ConflictKind.COLLISION] * 10


@settings(max_examples=25)
@given(portions=st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_points_are_examined_once_each_nearest_first(portions):
    path, conflicts = made(0.002 * np.arange(1, 21), checker=Wall())
    done = 0
    for most in portions:
        assert conflicts.check(most) == min(most, 20 - done)
        done = min(done + most, 20)
        assert conflicts.report().count == max(done - 10, 0)
        assert (path.conflict[done + 1 :] == ConflictKind.NONE).all()


def test_out_of_reach_counts_before_a_collision_and_a_collision_before_speed():
    path = SimulatedPath(Kinematics(ROBOT), ROBOT.home, 500)
    path.append(1, np.array([0.1, 0.1001, 0.2]), np.vstack((line([0.019, 0.06]), FAR)))
    conflicts = PathConflicts(ROBOT, path, Wall(), ConflictBounds())
    conflicts.check(100)
    assert list(path.conflict[1:]) == [ConflictKind.NONE, ConflictKind.COLLISION, ConflictKind.OUT_OF_REACH]
    bare = PathConflicts(ROBOT, path, None, ConflictBounds())
    bare.recheck()
    bare.check(100)
    assert list(path.conflict[1:]) == [ConflictKind.NONE, ConflictKind.SPEED, ConflictKind.OUT_OF_REACH]


def test_speed_is_that_between_neighbours_in_plan_time():
    path, conflicts = made([0.001, 0.002, 0.012], times=[0.1, 0.2, 0.2011])
    conflicts.check(100)
    report = conflicts.report()
    assert (report.count, report.first_seq, report.kind) == (1, 3, ConflictKind.SPEED)
    speed = np.abs(path.q[3] - path.q[2]) / (0.0011 * ROBOT.limits.velocity)
    assert report.subject == ROBOT.joint_names[int(speed.argmax())]
    assert report.text.startswith(f"{report.subject} {speed.max():.1f} times too fast")


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        (ConflictBounds(singular=10.0), ConflictKind.SINGULAR),
        (ConflictBounds(limit_margin=10.0), ConflictKind.LIMIT),
        (ConflictBounds(singular=10.0, limit_margin=10.0), ConflictKind.SINGULAR),
    ],
)
def test_thresholds_are_those_given(bounds, kind):
    path, conflicts = made([0.001], bounds=bounds)
    conflicts.check(1)
    assert conflicts.report().kind is kind
    if kind is ConflictKind.SINGULAR:
        smallest = np.linalg.svd(ROBOT.jacobian(path.q[1]), compute_uv=False)[-1]
        assert conflicts.report().text.startswith(f"singularity: smallest singular value {smallest:.3f}")


def test_truncation_forgets_the_conflicts_above_it():
    path, conflicts = made(0.002 * np.arange(1, 21), checker=Wall())
    conflicts.check(100)
    path.truncate(13)
    conflicts.truncate(13)
    assert (conflicts.report().count, conflicts.report().first_seq) == (3, 11)
    path.truncate(10)
    conflicts.truncate(10)
    assert conflicts.report().count == 0


def test_executed_points_leave_the_report():
    path, conflicts = made(0.002 * np.arange(1, 21), checker=Wall())
    conflicts.check(100)
    path.drop_before(1.55)
    conflicts.forget()
    report = conflicts.report()
    assert (report.count, report.first_seq) == (5, 16)
    assert report.text.endswith("point 16, plan time 1.60 s")


def test_a_deleted_path_has_no_conflicts():
    path, conflicts = made(0.002 * np.arange(1, 21), checker=Wall())
    conflicts.check(100)
    path.restart(ROBOT.home)
    conflicts.clear()
    assert conflicts.report().count == 0
    assert conflicts.check(100) == 0


def test_after_a_change_of_the_scene_every_point_is_examined_again():
    wall = Wall()
    path, conflicts = made(0.002 * np.arange(1, 21), checker=wall)
    conflicts.check(100)
    wall.collisions = lambda path: [("", 0.0)] * len(path)
    conflicts.recheck()
    assert conflicts.report().count == 0
    assert conflicts.check(100) == 20
    assert conflicts.report().count == 0
    assert not path.conflict.any()
