"""Reading a URDF: what must be in it, and the Pinocchio model of the arm alone.

Everything wrong with a file is found here and raised as ModelError naming file, part and reason.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import example_robot_data, share_path
from telerobot_nodes.core.robot.profiles import PROFILES, RobotProfile
from telerobot_nodes.errors import ModelError

MOVING = ("revolute", "continuous", "prismatic")
CONTINUOUS_RANGE = 2.0 * math.pi  # [rad] either way: joints without end stops still have cables


def locate(name_or_path: str) -> tuple[Path, RobotProfile | None]:
    """The URDF file of a known robot's name or of a path, and the profile if the name is known."""
    profile = PROFILES.get(name_or_path)
    if profile is None:
        path = Path(name_or_path)
        if not path.is_file():
            raise ModelError(f"robot {name_or_path!r}: neither a URDF file nor one of {', '.join(PROFILES)}")
        return path, None
    if profile.example:
        return example_robot_data() / "robots" / profile.urdf, profile
    return share_path(profile.urdf), profile


def read_urdf(path: Path) -> ET.Element:
    """The checked `<robot>` element; continuous joints have become revolute ones of two turns."""
    try:
        robot = ET.fromstring(path.read_bytes())
    except (OSError, ET.ParseError) as error:
        raise ModelError(f"{path}: not readable as XML: {error}") from None
    if robot.tag != "robot":
        raise ModelError(f"{path}: the root element is <{robot.tag}>, not <robot>")
    links = {link.get("name", "") for link in robot.findall("link")}
    for joint in robot.findall("joint"):
        _check_joint(path, joint, links)
    _check_numbers(path, robot)
    return robot


def continuous_joints(path: Path) -> frozenset[str]:
    """Names of the joints of a URDF file that have no end stops."""
    joints = ET.fromstring(path.read_bytes()).findall("joint")
    return frozenset(joint.get("name", "") for joint in joints if joint.get("type") == "continuous")


def _check_joint(path: Path, joint: ET.Element, links: set[str]) -> None:
    name = f"{path}: joint {joint.get('name')!r}"
    for end in ("parent", "child"):
        element = joint.find(end)
        link = "" if element is None else element.get("link", "")
        if link not in links:
            raise ModelError(f"{name}: {end} link {link!r} does not exist")
    if joint.get("type") not in MOVING:
        return
    limit = joint.find("limit")
    if limit is None:
        raise ModelError(f"{name}: no <limit>; position, velocity and effort limits are required")
    if joint.get("type") == "continuous":
        joint.set("type", "revolute")
        limit.set("lower", str(-CONTINUOUS_RANGE))
        limit.set("upper", str(CONTINUOUS_RANGE))
    _check_limit(name, limit)


def _check_limit(name: str, limit: ET.Element) -> None:
    values = {key: _number(f"{name}: limit {key}", limit.get(key)) for key in ("lower", "upper", "velocity", "effort")}
    if not values["lower"] < values["upper"]:
        raise ModelError(f"{name}: limit lower {values['lower']:g} is not below upper {values['upper']:g}")
    for key in ("velocity", "effort"):
        if values[key] <= 0.0:
            raise ModelError(f"{name}: limit {key} is {values[key]:g}; allowed: above 0")


def _number(what: str, text: str | None) -> float:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        raise ModelError(f"{what}: {text!r} is not a number") from None
    if not math.isfinite(value):
        raise ModelError(f"{what}: {'missing' if text is None else text}; allowed: a finite number")
    return value


_VECTORS = {"origin": ("xyz", "rpy"), "axis": ("xyz",)}
_SCALARS = {"mass": ("value",), "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}


def _check_numbers(path: Path, robot: ET.Element) -> None:
    for part in (*robot.findall("link"), *robot.findall("joint")):
        where = f"{path}: {part.tag} {part.get('name')!r}"
        for element in part.iter():
            for key in _SCALARS.get(element.tag, ()):
                _number(f"{where}: {element.tag} {key}", element.get(key))
            for key in _VECTORS.get(element.tag, ()):
                words = element.get(key, "0 0 0").split()
                if len(words) != 3:
                    raise ModelError(f"{where}: {element.tag} {key} has {len(words)} values; allowed: 3")
                for word in words:
                    _number(f"{where}: {element.tag} {key}", word)


def build_arm(path: Path, robot: ET.Element, tool_frame: str) -> pin.Model:
    """The model of the joints between base and tool frame alone; every other joint is locked at zero."""
    try:
        whole = pin.buildModelFromXML(ET.tostring(robot, encoding="unicode"))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{path}: {str(error).strip()}") from None
    if not whole.existFrame(tool_frame):
        raise ModelError(f"{path}: tool frame {tool_frame!r} does not exist; one of {', '.join(_frames(whole))}")
    joint = whole.frames[whole.getFrameId(tool_frame)].parentJoint
    chain = set(whole.supports[joint])
    locked = [i for i in range(1, whole.njoints) if i not in chain]
    _check_followers(path, robot, {whole.names[i] for i in chain})
    arm = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    if arm.nv == 0:
        raise ModelError(f"{path}: no joint moves tool frame {tool_frame!r}")
    if arm.nq != arm.nv:
        raise ModelError(f"{path}: joints of more than one axis are not supported")
    return arm


def _check_followers(path: Path, robot: ET.Element, chain: set[str]) -> None:
    """Joints of the arm move on their own; joints beside it, as a gripper's, may follow others."""
    for joint in robot.findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("name") in chain:
            raise ModelError(
                f"{path}: joint {joint.get('name')!r} of the arm follows {mimic.get('joint')!r} (mimic); "
                "allowed: joints of the arm that move on their own"
            )


def default_tool_frame(path: Path, robot: ET.Element) -> str:
    """The last link of the longest chain: the rule for URDFs without a profile."""
    parent = {j.find("child").get("link", ""): j.find("parent").get("link", "") for j in robot.findall("joint")}  # type: ignore[union-attr]

    def depth(link: str) -> int:
        steps = 0
        while link in parent and steps <= len(parent):
            link = parent[link]
            steps += 1
        return steps

    names = [link.get("name", "") for link in robot.findall("link")]
    if not names:
        raise ModelError(f"{path}: no <link>")
    preferred = [name for name in names if name in ("tool", "tool0", "tcp")]
    return (preferred or sorted(names, key=lambda name: (-depth(name), name)))[0]


def _frames(model: pin.Model) -> list[str]:
    return [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]


def place_base(model: pin.Model, T_world_base: pin.SE3) -> None:
    """Move the whole arm so that its base stands at `T_world_base`."""
    model.jointPlacements[1] = T_world_base * model.jointPlacements[1]
    for frame in model.frames:
        if frame.parentJoint == 0 and frame.name != "universe":
            frame.placement = T_world_base * frame.placement
    if not np.isfinite(T_world_base.homogeneous).all():
        raise ModelError("T_world_base: not finite")
