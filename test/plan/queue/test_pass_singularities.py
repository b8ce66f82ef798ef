"""The hand leads the tool through a singularity of the wrist, on request: queue, reach and the real executor."""

import executor_models
import numpy as np
import plan_models
import pytest

from telerobot_nodes.core.robot import ArmLoad, Kinematics, Reach
from telerobot_nodes.core.values.frames import distance, pose_from_se3, se3_from_pose
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig

ARM = executor_models.ARM
BEFORE = np.array([0.27632112, 0.9, -3.35, 0.0, 0.2, 0.0])  # joints 4 and 6 in line when joint 5 comes to 0
WAY = 0.15  # [m] upward, through the singularity half way
START = pose_from_se3(ARM.forward(BEFORE))


class Desk:
    """Queue and executor, with the arm before the singularity."""

    def __init__(self, time_clutch=True, **config):
        reach = Reach(ARM)
        reach.arm_at(BEFORE)
        reach.begin()
        load = ArmLoad(ARM, reach, 0.95, 0.57)
        queue = PathPlanQueue(QueueConfig(**config), reach, path_load=load)
        robot = executor_models.ExecutorRobot()
        robot.follower.hold(BEFORE, 0.0)
        self.session = plan_models.Session(queue, robot, plan_models.Link(1, 0.1), plan_models.Link(2, 0.1))
        self.session.run(1.0)
        assert self.session.state().head_seq == 1
        queue.set_time_clutch(self.session.now, time_clutch)

    def draw(self, speed, offset=(0.0, 0.0)):
        """The hand goes up by WAY, at an even speed [m/s], and holds; `offset` [m] beside."""
        session, begin = self.session, self.session.now

        def command(now):
            share = min(speed * (now - begin) / WAY, 1.0)
            place = np.array([offset[0] * share, offset[1] * share, WAY * share]) + 9.0
            session.queue.command_pose(now, [*place, 0.0, 0.0, 0.0, 1.0], "device")

        session.run(WAY / speed + 2.0, command)
        session.run(20.0)

    @property
    def laid(self):
        return np.array([point[2] for point in self.session.shown()])

    @property
    def notices(self):
        return " ".join(self.session.notices)


def singular_values(poses):
    kinematics = Kinematics(ARM)
    return kinematics.smallest_singular_values(kinematics.solve_path(poses, BEFORE))


@pytest.mark.parametrize("time_clutch", [True, False], ids=["synced", "artificial time base"])
def test_with_the_control_on_a_path_straight_through_is_laid_and_executed(time_clutch):
    desk = Desk(time_clutch, pass_singularities=True)
    desk.draw(0.05)
    poses, robot = desk.laid, desk.session.robot
    assert poses[-1, 2] - START[2] == pytest.approx(WAY, abs=1e-3)
    assert singular_values(poses).min() < 0.005
    assert robot.refused == []
    assert [seq for seq, _ in robot.executed][-1] == desk.session.state().head_seq
    assert max(robot.worst_velocity, robot.worst_acceleration) <= 1.0
    assert distance(ARM.forward(robot.follower.q), se3_from_pose(poses[-1]))[0] < 1e-4
    dense = np.vstack([poses[:-1, :3] + u * np.diff(poses[:, :3], axis=0) for u in np.linspace(0.0, 1.0, 10)])
    off = [np.linalg.norm(dense - pose[:3], axis=1).min() for pose in robot.poses[::5]]
    assert max(off) < 1e-3


def test_with_the_control_off_the_hand_stops_before_it():
    desk = Desk()
    desk.draw(0.05)
    assert desk.laid[-1, 2] - START[2] < 0.7 * WAY
    assert singular_values(desk.laid).min() >= 0.02
    assert "singularity" in desk.notices
    assert not desk.session.state().pass_singularities


def test_the_control_is_turned_while_the_hand_waits_before_it():
    desk = Desk()
    desk.draw(0.05)
    waits = desk.laid[-1, 2]
    desk.session.queue.set_pass_singularities(True)
    assert desk.session.state().pass_singularities
    desk.draw(0.05)
    assert desk.laid[-1, 2] > waits + 0.1
    assert desk.session.robot.refused == []


@pytest.mark.parametrize("beside", [0.0005, 0.002, 0.01])
def test_whatever_is_laid_beside_a_singularity_the_executor_takes(beside):
    desk = Desk(pass_singularities=True)
    desk.draw(0.2, (beside, beside))
    robot = desk.session.robot
    assert robot.refused == []
    assert [seq for seq, _ in robot.executed][-1] == desk.session.state().head_seq
    assert max(robot.worst_velocity, robot.worst_acceleration) <= 1.0
