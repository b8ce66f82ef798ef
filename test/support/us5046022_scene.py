"""The operator's queue, a link that delays, the real executor and the forward simulation, all without ROS."""

import executor_models
import numpy as np
import plan_models

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.robot import Reach, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig
from telerobot_nodes.simulation import ForwardSimulator

ARM = load_robot("arm")
HOME = pose_from_se3(ARM.forward(ARM.home))


class Scene(plan_models.Session):
    """A session whose plan is also run by a forward simulation, as a display would."""

    def __init__(self, delay=0.3, **config):
        queue = PathPlanQueue(QueueConfig(**config), Reach(ARM))
        robot = executor_models.ExecutorRobot()
        super().__init__(queue, robot, plan_models.Link(1, delay), plan_models.Link(2, delay))
        self.forward = ForwardSimulator(ARM)
        self.forward.start(ARM.home)
        self.seen = 0
        self.simulated = []  # plan time of the simulated arm at every step
        self.run(1.0 + 3 * delay)

    def step(self, command=None):
        super().step(command)
        for update in self.updates[self.seen :]:
            self._show(update)
        self.seen = len(self.updates)
        self.arm = self.forward.advance(self.now)  # as it is shown
        self.simulated.append(self.arm.time)

    def _show(self, update):
        points = update.points
        if update.kind is UpdateKind.RESET:
            self.forward.reset(1, np.empty(0), np.empty((0, 7)), ARM.home, update.trial)
        elif update.kind is UpdateKind.TRUNCATE:
            self.forward.truncate(update.after_seq, update.trial)
        elif update.kind is UpdateKind.TIP:
            self.forward.show_tip(update.tip, update.trial)
        if points is not None:
            self.forward.append(points.first_seq, points.time, points.pose, update.trial)

    def draw(self, seconds, velocity=(0.0, 0.1, 0.0)):
        """The hand moves at `velocity` [m/s] for `seconds`."""
        begin = self.now

        def command(now):
            position = 5.0 + np.array(velocity) * (now - begin)
            self.queue.command_pose(now, [*position, 0.0, 0.0, 0.0, 1.0], "device")

        self.run(seconds, command)

    def finish(self):
        """The arm executes what is planned; it was at every place of the plan, in order, inside its limits."""
        self.run(4.0)
        while self.state().length:
            self.run(1.0)
        assert self.executed == self.plan[0].tolist()
        assert_passed(np.array(self.robot.poses)[:, :3], self.plan[2])
        assert max(self.robot.worst_velocity, self.robot.worst_acceleration) <= 1.0
        assert self.robot.refused == []

    @property
    def hand(self):
        """(7,) pose of the operator's tool."""
        return self.queue._recorder.sampler.pose

    @property
    def plan(self):
        """(n,) numbers, (n,) plan times, (n, 3) positions, (n,) kinds of every point shown."""
        seq, time, pose, kind = zip(*self.shown(), strict=True)
        return np.array(seq), np.array(time), np.array(pose)[:, :3], np.array(kind)

    @property
    def executed(self):
        return [entry[0] for entry in self.robot.executed]


def assert_passed(way, places, near=0.003):
    """`way` (n, 3) [m], where the tool was, comes `near` every one of `places` (k, 3) [m] in order, without detours."""
    at = 0
    assert length_of(way) <= 1.1 * length_of(places) + near
    for place in places:
        gaps = np.linalg.norm(way[at:] - place, axis=1)
        close = np.flatnonzero(gaps <= near)
        assert close.size, f"the tool was never at {place} after {way[at]}; nearest: {1e3 * gaps.min():.1f} mm"
        at += int(close[0])


def length_of(way):
    """[m] of places (n, 3) [m] joined by straight lines."""
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
