"""Frames by name: where WORLD, the links of an arm and the fixed frames of a scene are."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

WORLD = ("", "world")  # unless the URDF has a link of that name
MOST_NAMES = 12  # in one refusal


class Frames:
    """Poses in WORLD of named frames: the links of one arm that its joints move, and fixed frames."""

    def __init__(self, robot: RobotModel, q: FloatArray | None = None) -> None:
        """`q`: joints (n,) [rad]; None: not known, then only links that never move have a pose."""
        self.robot = robot
        self.known = q is not None
        data = robot.new_data()
        pin.framesForwardKinematics(robot.model, data, np.array(robot.home if q is None else q))
        loose = loose_links(robot)
        self._tool = robot.model.frames[robot.tool_frame_id]
        self._on_tool: dict[str, pin.SE3] = {}
        self._placed: dict[str, pin.SE3] = {name: pin.SE3.Identity() for name in WORLD}
        for i, frame in enumerate(robot.model.frames):
            if frame.type != pin.FrameType.BODY or frame.name in loose:
                continue
            if frame.parentJoint == self._tool.parentJoint:
                self._on_tool[frame.name] = self._tool.placement.actInv(frame.placement)
            if self.known or frame.parentJoint == 0:
                self._placed[frame.name] = data.oMf[i].copy()

    def add(self, name: str, T_world_frame: pin.SE3) -> None:
        """Add a fixed frame."""
        self._placed[name] = T_world_frame

    def pose(self, name: str, field: str) -> pin.SE3:
        """T_world_frame of a frame; raises InvalidValueError that names `field`."""
        if name not in self._placed:
            why = "" if self.known else "; the arm's joints are not known"
            raise InvalidValueError(field, name, f"allowed: {_some(self._placed)}{why}")
        return self._placed[name]

    def fixed_to_tool(self, link: str, field: str) -> pin.SE3:
        """T_tool_link of a link that does not move against the tool; raises InvalidValueError that names `field`."""
        if link not in self._on_tool:
            raise InvalidValueError(field, link, f"allowed: links fixed to the tool: {_some(self._on_tool)}")
        return self._on_tool[link]

    def in_tool(self, name: str, field: str) -> pin.SE3:
        """T_tool_frame of a frame; raises InvalidValueError that names `field`."""
        if name in self._on_tool:
            return self._on_tool[name]
        return self.tool(field).actInv(self.pose(name, field))

    def tool(self, field: str) -> pin.SE3:
        """T_world_tool; raises InvalidValueError that names `field` when the joints are not known."""
        if not self.known:
            allowed = f"allowed: {_some(self._on_tool)}, as the joints of the arm are not known"
            raise InvalidValueError(field, "another", allowed)
        return self._placed[self._tool.name]


def loose_links(robot: RobotModel) -> frozenset[str]:
    """URDF links moved by a joint that is not the arm's, as fingers are."""
    root = ET.fromstring(robot.urdf)
    above = {_end(joint, "child"): joint for joint in root.findall("joint")}

    def is_loose(link: str) -> bool:
        while link in above and above[link].get("name") not in robot.joint_names:
            if above[link].get("type") != "fixed":
                return True
            link = _end(above[link], "parent")
        return False

    return frozenset(name for link in root.findall("link") if is_loose(name := link.get("name", "")))


def _end(joint: ET.Element, which: str) -> str:
    element = joint.find(which)
    return "" if element is None else element.get("link", "")


def _some(names: Mapping[str, object]) -> str:
    shown = [name for name in names if name][:MOST_NAMES]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) + 1 else "")
