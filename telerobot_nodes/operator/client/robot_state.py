"""What is known of one arm at one instant, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.protocol import ControlMode, ExecutorMode
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client.client import OperatorClient
from telerobot_nodes.operator.client.requests import STOPPED
from telerobot_nodes.operator.client.status import (
    InputStatus,
    LinkSetting,
    PeerStatus,
    QueueStatus,
    RecorderStatus,
    RobotStatus,
    SimulationStatus,
)


@dataclass(frozen=True)
class RobotState:
    """Latest status of robot, plan queue, forward simulation, link, recorder, device; None: none received yet."""

    robot: RobotStatus
    queue: QueueStatus
    simulation: SimulationStatus
    link: LinkSetting | None
    age: float | None  # [s] since the robot's status was received
    notices: tuple[str, ...] = ()  # oldest first
    recorder: RecorderStatus | None = None  # of this host
    input: InputStatus | None = None  # of the operator's device
    peers: tuple[PeerStatus, ...] = ()  # the link to each other host; empty: this graph has none

    @property
    def tool_pose(self) -> FloatArray:
        """Measured tool x y z [m], qx qy qz qw in WORLD; empty: not known."""
        return self.robot.tool_pose

    @property
    def joint_position(self) -> FloatArray:
        """Measured joints [rad]; empty: not known."""
        return self.robot.joint_position

    @property
    def wrench(self) -> FloatArray:
        """Measured force [N] and torque [N m], SENSOR frame; empty: not known."""
        return self.robot.wrench

    @property
    def mode(self) -> ExecutorMode:
        """What the plan executor does."""
        return self.robot.mode

    @property
    def control_mode(self) -> ControlMode | None:
        """Who moves the arm; None: not known."""
        return None if self.input is None else self.input.mode

    @property
    def lead(self) -> float:
        """Plan time from the robot's last confirmed state to the end of the plan [s]."""
        return self.queue.lead

    @property
    def moving(self) -> bool:
        """True while the measured arm moves."""
        return self.robot.moving

    @property
    def ready(self) -> bool:
        """True when the arm would follow what is added to the plan."""
        stopped = self.robot.mode in STOPPED or self.robot.estop
        begun = self.age is not None and bool(self.queue.target_pose.size)
        return begun and self.queue.has_authority and not stopped


def state_of(client: OperatorClient, now: float) -> RobotState:
    """The state now."""
    received = client.received
    return RobotState(
        robot=client.robot,
        queue=client.queue,
        simulation=client.simulation,
        link=None if received.link is None else client.link,
        age=None if received.robot is None else now - received.robot,
        notices=tuple(notice.text for notice in client.notices),
        recorder=None if received.recorder is None else client.recorder,
        input=None if received.input is None else client.input,
        peers=tuple(client.peers.values()),
    )
