"""The robot waits before a predicted collision: queue, link, real executor and forward simulation together."""

import numpy as np
import plan_models
import pytest
from us5046022_scene import ARM, HOME, Scene

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.core.robot import Reach
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.plan.log import PlanStore
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig
from telerobot_nodes.plan.queue.collision_stop import CollisionCheck, CollisionStop
from telerobot_nodes.simulation import ForwardSimulator

WALL = HOME[1] + 0.10  # [m] the tool collides at and beyond this y


class Wall:
    """Collides with the tool where it stands; nowhere when it is taken away."""

    stands = True

    unexamined = ""

    def collisions(self, path):
        return [("wall" if self.stands and pose_from_se3(ARM.forward(q))[1] >= WALL else "", 0.0) for q in path]


class WalledScene(Scene):
    """A scene whose forward simulation finds the wall and tells the queue, as the nodes do."""

    def __init__(self, delay=0.3, **config):
        super().__init__(delay, **config)
        self.wall = Wall()
        self.forward = ForwardSimulator(ARM, self.wall)
        self.forward.start(ARM.home)
        for update in self.updates:
            self._show(update)

    def step(self, command=None):
        super().step(command)
        if hasattr(self, "wall"):
            self.forward.check(100)
            found = self.forward.conflicts()
            seen = CollisionCheck(found.collision_seq, found.free_seq, found.examined_seq, found.text)
            self.queue.on_collision_check(seen)

    def furthest(self):
        return max(pose[1] for pose in self.robot.poses)

    def through_the_wall(self, seconds=2.0):
        self.draw(seconds, (0.0, 0.1, 0.0))
        self.run(8.0)
        return self.robot.report()


@pytest.mark.lengthy
def test_after_a_restart_of_the_operators_side_the_arm_still_waits_until_the_stop_is_turned_off():
    scene = WalledScene()
    tail = scene.through_the_wall().tail_seq
    scene.queue = PathPlanQueue(QueueConfig(), Reach(ARM))
    scene.run(5.0)
    report = scene.robot.report()
    assert (report.mode, report.tail_seq) == (ExecutorMode.PAUSED, tail)
    assert scene.furthest() < WALL
    scene.queue.set_stop_before_collision(False)
    scene.run(6.0)
    assert tail in [seq for seq, _ in scene.robot.executed]
    assert scene.furthest() > WALL


@pytest.mark.lengthy
def test_the_arm_stops_before_the_wall_and_tells_why():
    scene = WalledScene()
    report = scene.through_the_wall()
    assert report.mode is ExecutorMode.PAUSED
    assert "collision" in report.reason
    assert WALL - 0.01 < scene.furthest() < WALL
    assert "wall" in scene.state().notice
    assert scene.state().length > 0
    assert scene.robot.worst_acceleration <= 1.0


@pytest.mark.lengthy
def test_points_laid_over_a_long_delay_stop_too():
    scene = WalledScene(delay=2.0)
    scene.through_the_wall()
    assert WALL - 0.01 < scene.furthest() < WALL


@pytest.mark.lengthy
def test_the_brake_takes_the_wall_out_of_the_plan_and_it_goes_on():
    scene = WalledScene()
    scene.through_the_wall()
    scene.queue.set_brake(scene.now, 5.0)
    scene.run(1.0)
    scene.queue.set_brake(scene.now, 0.0)
    scene.run(1.0)
    scene.draw(1.0, (0.0, -0.1, 0.0))
    scene.finish()
    assert scene.robot.report().mode is ExecutorMode.IDLE
    assert scene.executed == scene.plan[0].tolist()
    assert scene.furthest() < WALL
    assert scene.robot.pose[1] < WALL - 0.05


@pytest.mark.lengthy
def test_delete_all_is_a_change_of_the_plan():
    scene = WalledScene()
    scene.through_the_wall()
    scene.queue.clear(scene.now)
    scene.run(2.0)
    assert scene.robot.report().limit_seq == 0
    scene.draw(1.0, (0.0, -0.1, 0.0))
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()


@pytest.mark.lengthy
def test_it_goes_on_when_the_wall_is_taken_away_and_waits_when_one_is_set_up():
    scene = WalledScene()
    scene.wall.stands = False
    scene.queue.set_rate(scene.now, 0.2)
    scene.draw(2.0, (0.0, 0.1, 0.0))
    scene.wall.stands = True
    scene.forward.recheck()
    scene.run(15.0)
    assert scene.robot.report().mode is ExecutorMode.PAUSED
    assert scene.furthest() < WALL
    scene.wall.stands = False
    scene.forward.recheck()
    scene.queue.set_rate(scene.now, 1.0)
    scene.finish()
    assert scene.furthest() > WALL
    assert scene.executed == scene.plan[0].tolist()


@pytest.mark.lengthy
def test_the_operator_may_override():
    scene = WalledScene()
    scene.through_the_wall()
    scene.queue.set_stop_before_collision(False)
    scene.finish()
    assert scene.furthest() > WALL
    assert not scene.state().stop_before_collision


@pytest.mark.lengthy
def test_without_the_parameter_a_red_plan_is_executed():
    scene = WalledScene(stop_before_collision=False)
    scene.through_the_wall()
    scene.finish()
    assert scene.furthest() > WALL


@pytest.mark.lengthy
def test_a_queue_that_was_restarted_does_not_let_go():
    scene = WalledScene()
    scene.through_the_wall()
    again = plan_models.Session(PathPlanQueue(QueueConfig(), Reach(ARM)), scene.robot, scene.up, scene.down)
    again.ticks = scene.ticks
    again.run(3.0)
    assert scene.robot.report().limit_seq > 0
    assert scene.furthest() < WALL
    again.queue.clear(again.now)  # its points are unknown to this one
    again.run(2.0)
    assert again.state().notice == "ready"


# The rule by itself.


def plan_of(n):
    store = PlanStore(1000)
    pose = np.tile([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0], (n, 1))
    store.append(np.arange(1, n + 1), 0.02 * np.arange(1, n + 1), pose, 0)
    return store


def test_a_collision_is_remembered_until_its_point_is_examined_again():
    stop = CollisionStop(True)
    stop.on_check(CollisionCheck(50, 49, 50, "wall"))
    stop.on_check(CollisionCheck(examined_seq=20))  # the world changed, and the check is on its way
    assert stop.limit(plan_of(100), 49) == 49
    stop.on_check(CollisionCheck(examined_seq=50))
    assert stop.limit(plan_of(100), 49) == 0


def test_a_limit_of_somebody_else_is_kept_until_the_points_after_it_were_examined():
    stop = CollisionStop(True)
    assert stop.limit(plan_of(100), 49) == 49
    stop.on_check(CollisionCheck(examined_seq=49))
    assert stop.limit(plan_of(100), 49) == 49
    stop.on_check(CollisionCheck(examined_seq=50))
    assert stop.limit(plan_of(100), 49) == 0
    assert CollisionStop(True).limit(plan_of(49), 49) == 0


@pytest.mark.parametrize("enabled", [True, False])
def test_a_collision_at_the_very_first_point_is_one(enabled):
    stop = CollisionStop(enabled)
    stop.on_check(CollisionCheck(1, 0, 1, "wall"))
    assert stop.limit(plan_of(100), 0) == (1 if enabled else 0)
    assert bool(stop.reason(plan_of(100))) == enabled


def test_a_collision_of_points_that_were_deleted_is_none():
    stop = CollisionStop(True)
    stop.on_check(CollisionCheck(50, 49, 100, "wall"))
    assert (stop.limit(plan_of(40), 0), stop.reason(plan_of(40))) == (0, "")
