"""The MuJoCo model of one arm in its scene, built from the checked URDF of the robot model.

Contact rules: the arm touches the scene, never itself; its base and the link turning on that touch nothing; scene
bodies do not touch each other.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from telerobot_nodes.core.config import example_robot_data
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import ModelError
from telerobot_nodes.hardware.realism import Realism
from telerobot_nodes.hardware.task_board import add_task_board

ARM = "arm/"  # prefix of the arm's names in the scene
FORCE, TORQUE, GRIPPER = "wrist_force", "wrist_torque", "gripper"
ARM_BITS, SCENE_BITS = (1, 2), (2, 1)  # (contype, conaffinity)
FINGER_GAIN = 2000.0  # [N/m] of the finger's position servo
FINGER_FORCE = 40.0  # [N]
PAYLOAD_RADIUS = 0.02  # [m] of gyration of the payload

Furnish = Callable[[mujoco.MjSpec], None]


def build_scene(
    robot: RobotModel,
    period: float,
    task_board: bool = True,
    realism: Realism | None = None,
    furnish: Furnish | None = None,
) -> mujoco.MjModel:
    """The compiled model; `furnish` may add to it. Raises ModelError if the robot cannot be simulated."""
    realism = realism or Realism()
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = period
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)  # loose objects at rest cost a third of a step
    _add_floor(spec)
    if task_board:
        add_task_board(spec, SCENE_BITS, _room_below(robot))
    arm = _arm_spec(robot)
    base = robot.T_world_base
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(base.rotation).ravel())
    spec.attach(arm, frame=spec.worldbody.add_frame(pos=base.translation, quat=quaternion), prefix=ARM)
    _add_sensor(spec, robot)
    _add_gripper(spec, robot)
    _add_payload(spec, robot, realism.payload_mass)
    if furnish is not None:
        furnish(spec)
    for geom in spec.geoms:
        geom.friction[0] = realism.friction
    try:
        return spec.compile()
    except ValueError as error:
        raise ModelError(f"{robot.urdf_path}: MuJoCo rejects it: {error}") from None


def _room_below(robot: RobotModel) -> float:
    """Height of the lowest point of the arm's workspace box over the floor [m]."""
    box = robot.workspace
    return float(box.center[2] - 0.5 * box.size[2])


def _add_floor(spec: mujoco.MjSpec) -> None:
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[3.0, 3.0, 0.1],
        rgba=[0.85, 0.86, 0.87, 1.0],
        contype=SCENE_BITS[0],
        conaffinity=SCENE_BITS[1],
    )
    spec.worldbody.add_light(pos=[1.0, -1.0, 3.0], dir=[-0.3, 0.3, -1.0])


def _arm_spec(robot: RobotModel) -> mujoco.MjSpec:
    """The arm alone, with rotor inertias and contact bits."""
    xml = _with_meshes(robot)
    try:
        arm = mujoco.MjSpec.from_string(ET.tostring(xml, encoding="unicode"))
    except ValueError as error:
        raise ModelError(f"{robot.urdf_path}: MuJoCo cannot read it: {error}") from None
    for name, inertia in zip(robot.joint_names, robot.model.armature, strict=True):
        arm.joint(name).armature = inertia
    for body in arm.bodies:
        bits = ARM_BITS if _joints_below(body) > 1 else (0, 0)
        for geom in body.geoms:
            geom.contype, geom.conaffinity = bits
    return arm


def _joints_below(body: mujoco.MjsBody) -> int:
    """Joints between the body and the world; 0 for the fixed base, 1 for the link that only turns on it."""
    count = 0
    while body is not None and body.name != "world":
        count += len(body.joints)
        body = body.parent
    return count


def _with_meshes(robot: RobotModel) -> ET.Element:
    """The URDF as MuJoCo reads it: without visuals, mesh files by absolute path."""
    xml = ET.fromstring(robot.urdf)
    for link in xml.findall("link"):
        if link.find("collision") is not None or any(v.find("geometry/mesh") is not None for v in link.iter("visual")):
            for visual in link.findall("visual"):
                link.remove(visual)
    for mesh in xml.iter("mesh"):
        mesh.set("filename", str(_mesh_path(robot.urdf_path, mesh.get("filename", ""))))
    for old in xml.findall("mujoco"):
        xml.remove(old)
    compiler = {"strippath": "false", "discardvisual": "false", "fusestatic": "false", "balanceinertia": "true"}
    ET.SubElement(ET.SubElement(xml, "mujoco"), "compiler", compiler)
    return xml


def _mesh_path(urdf: Path, name: str) -> Path:
    """The mesh file of a `package://`, `file://` or relative name; ModelError when it does not exist."""
    if name.startswith("package://"):
        inside = name.removeprefix("package://")
        roots = [*urdf.parents, example_robot_data().parent]
        package, _, rest = inside.partition("/")
        candidates = [root / inside for root in roots] + [root / rest for root in roots if root.name == package]
    else:
        candidates = [urdf.parent / name.removeprefix("file://")]
    for path in candidates:
        if path.is_file():
            return path
    raise ModelError(f"{urdf}: mesh {name!r} does not exist")


def _add_sensor(spec: mujoco.MjSpec, robot: RobotModel) -> None:
    """Force and torque where the sensor's body hangs on the wrist, in the sensor's frame."""
    body = spec.body(ARM + (robot.sensor_frame or robot.tool_frame))
    if body is None:
        raise ModelError(f"{robot.urdf_path}: sensor frame {robot.sensor_frame!r} is not a link")
    body.add_site(name="wrist_sensor")
    for name, kind in ((FORCE, mujoco.mjtSensor.mjSENS_FORCE), (TORQUE, mujoco.mjtSensor.mjSENS_TORQUE)):
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="wrist_sensor")


def _add_gripper(spec: mujoco.MjSpec, robot: RobotModel) -> None:
    """A position servo on the first finger; the URDF's mimic couples the other."""
    if robot.gripper is None or not robot.gripper.joints:
        return
    spec.add_actuator(
        name=GRIPPER,
        target=ARM + robot.gripper.joints[0],
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gainprm=[FINGER_GAIN] + 9 * [0.0],
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        biasprm=[0.0, -FINGER_GAIN, -40.0] + 7 * [0.0],
        forcerange=[-FINGER_FORCE, FINGER_FORCE],
    )
    for name in robot.gripper.joints:
        spec.joint(ARM + name).armature = 0.1


def _add_payload(spec: mujoco.MjSpec, robot: RobotModel, mass: float) -> None:
    """A load at the tool frame, beyond the wrist sensor."""
    body = spec.body(ARM + robot.tool_frame)
    if mass > 0.0 and body is not None:
        inertia = mass * PAYLOAD_RADIUS**2
        body.add_body(name="payload", mass=mass, inertia=[inertia] * 3, ipos=[0, 0, 0], explicitinertial=True)
