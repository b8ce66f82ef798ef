"""The outputs of `forward_simulator`: its state, arms as joint states and transforms, the plan as a coloured line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import Point
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.operator.transforms import WORLD, ArmTransforms
from telerobot_nodes.operator.client import MOTION
from telerobot_nodes.simulation import ArmState, PathLine

_FREE = ColorRGBA(r=0.2, g=0.7, b=1.0, a=1.0)
_TRIAL = ColorRGBA(r=0.3, g=0.6, b=0.6, a=1.0)
_MOTION = ColorRGBA(r=0.6, g=0.1, b=1.0, a=1.0)
_CONFLICT = ColorRGBA(r=1.0, g=0.2, b=0.1, a=1.0)


@dataclass(frozen=True)
class Shown:
    """The arms at one moment; None: there is none."""

    arm: ArmState  # at the plan's head
    trial: ArmState | None  # at the trial path's head
    present: ArmState | None  # estimated now
    scrubbed: ArmState | None  # at a plan time that the operator asked for
    simulated: FloatArray | None  # (dof,) [rad] of a motion of primitives that is drawn


class ForwardDisplay:
    """Publishes the outputs of one `forward_simulator`."""

    def __init__(self, node: GraphNode, robot: RobotModel) -> None:
        self._node = node
        self._names = list(robot.joint_names)
        self._state = node.publisher("forward_simulator/state")
        self._joints = {
            name: node.publisher(f"forward_simulator/{name}") for name in ("predicted", "estimate", "trial", "scrubbed")
        }
        self._simulated = node.publisher("forward_simulator/simulated")
        self._markers = node.publisher("forward_simulator/markers")
        self._transforms = ArmTransforms(node, robot)

    @property
    def transforms(self) -> str:
        """For diagnostics: whether there are transforms."""
        return self._transforms.text

    def publish(self, message: Any, shown: Shown) -> None:
        """Publish the state, completed with the arms, and each arm by itself."""
        arms = {"predicted": shown.arm, "estimate": shown.present, "trial": shown.trial, "scrubbed": shown.scrubbed}
        stamp = self._node.stamp()
        message.stamp = stamp
        message.head_position = _joints(shown.arm)
        message.estimate_position = _joints(shown.present)
        message.trial_position = _joints(shown.trial)
        self._state.publish(message)
        for name, arm in arms.items():
            if arm is not None:
                self._joints[name].publish(self._joint_state(arm.joint_position, stamp))
        drawn = {name: arm.joint_position for name, arm in arms.items() if arm is not None and name != "scrubbed"}
        if shown.simulated is not None:
            self._simulated.publish(self._joint_state(shown.simulated, stamp))
            drawn["simulated"] = shown.simulated
        self._transforms.send(drawn, stamp)

    def _joint_state(self, joints: FloatArray, stamp: Any) -> JointState:
        state = JointState(name=self._names, position=convert.doubles(joints))
        state.header.stamp = stamp
        return state

    def publish_lines(self, plan: PathLine, trial: PathLine, motion: PathLine) -> None:
        """Publish the tool's paths, in one message: a listener takes the latest one as the whole."""
        lines = [
            self._line("plan", plan, _FREE),
            self._line("trial", trial, _TRIAL),
            self._line(MOTION, motion, _MOTION),
        ]
        self._markers.publish(MarkerArray(markers=lines))

    def _line(self, name: str, path: PathLine, free: ColorRGBA) -> Marker:
        line = Marker(type=Marker.LINE_STRIP, action=Marker.ADD, ns=name)
        line.header.frame_id, line.header.stamp = WORLD, self._node.stamp()
        line.scale.x, line.pose.orientation.w = 0.004, 1.0
        line.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in path.places]
        line.colors = [_CONFLICT if kind else free for kind in path.kinds]
        if len(line.points) < 2:
            line.action = Marker.DELETE
        return line


def _joints(arm: ArmState | None) -> Any:
    return convert.doubles(arm.joint_position if arm is not None else ())
