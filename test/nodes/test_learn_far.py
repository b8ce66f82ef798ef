"""`telerobot macro learn --live` where only what crosses the link is received: the executor's state."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from telerobot.msg import ExecutorState
from telerobot_nodes.cli.macro.live import follow_live
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import TelerobotError

ARM = load_robot("arm")
PERIOD = 0.05  # [s] of the state
PUSH = 4.0  # [N]


class Far:
    """The robot's side as a link carries it; the first joint turns and the tool pushes."""

    def __init__(self, probe, joints=True):
        self._publisher = probe.create_publisher(ExecutorState, "plan_executor/state", 1)
        self._joints, self._ticks = joints, 0
        self.timer = probe.create_timer(PERIOD, self._publish)

    def _publish(self):
        self._ticks += 1
        message, time = ExecutorState(), self._ticks * PERIOD
        message.link.stamp.sec, message.link.stamp.nanosec = int(time), round(1e9 * (time % 1.0))
        if self._joints:
            message.joint_position = [float(q) for q in np.array(ARM.home) + 0.1 * time * np.eye(ARM.dof)[0]]
        message.wrench = [0.0, 0.0, PUSH, 0.0, 0.0, 0.0]
        self._publisher.publish(message)


def test_joints_and_force_come_from_the_state_that_crosses_and_fingers_are_told_as_missing(ros, capsys):
    far = Far(ros.probe)
    follower = follow_live(ARM, "", 2.0)
    ros.probe.destroy_timer(far.timer)
    assert follower.seconds > 1.0
    assert follower.motions == 1
    told = capsys.readouterr().err
    assert "those that cross the link" in told
    assert "no fingers" in told
    assert "no force" not in told
    track = follower.track()
    assert track.force == pytest.approx(PUSH)
    turned = track.pose[-1, :3] - track.pose[0, :3]
    radius = np.linalg.norm(ARM.forward(ARM.home).translation[:2])
    assert np.linalg.norm(turned) == pytest.approx(0.1 * radius * follower.seconds, rel=0.05)


def test_a_state_without_joints_is_no_arm(ros):
    far = Far(ros.probe, joints=False)
    with pytest.raises(TelerobotError, match="no joints of the arm"):
        follow_live(ARM, "", 2.0)
    ros.probe.destroy_timer(far.timer)
