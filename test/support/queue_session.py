"""A queue with a robot behind a link, and devices that draw for it."""

import numpy as np

from telerobot_nodes.errors import OutOfReachError

HOME = [0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]


class Within:
    """Reach of a test: `check(pose)` raises where it ends; no arm, so no singularity."""

    pass_singularities = False

    def __init__(self, check=lambda pose: None):
        self.check = check

    def __call__(self, pose):
        self.check(pose)

    def step(self, before, pose):
        self.check(pose)


def _near(pose):
    if pose[0] > 0.6:
        raise OutOfReachError(f"pose: x {pose[0]:.3f} is out of reach; allowed: 0.6 or less")


reach = Within(_near)


def ready(session):
    session.run(0.5 + 3 * session.up.delay)
    assert session.state().has_authority
    assert session.state().head_seq >= 1
    return session


def drawing(session, speed=0.1, axis=1):
    """A device that goes steadily along one axis from now on."""
    start = session.now

    def command(now):
        pose = [9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 1.0]
        pose[axis] += speed * (now - start)
        session.queue.command_pose(now, pose, "device")

    return command


def assert_executed_as_shown(session):
    assert [seq for seq, _ in session.robot.executed] == [point[0] for point in session.shown()]
    assert session.robot.refused == []


def steps(session):
    poses = np.array([point[2][:3] for point in session.shown()])
    return np.linalg.norm(np.diff(poses, axis=0), axis=1)
