"""Messages of planning to values and back, in one place; validation is the values' own."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from telerobot.msg import ArmPath
from telerobot.msg import Certificate as CertificateMessage
from telerobot.msg import Contact as ContactMessage
from telerobot.msg import Obstacle as ObstacleMessage
from telerobot.msg import Obstacles as ObstaclesMessage
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.cspace.covering import NamePair, name_pair
from telerobot_nodes.cspace.geometry import VOXELS, Change, Obstacle, Scene, Voxels, addition, arm_geometry, hull
from telerobot_nodes.cspace.search import Certificate, CheckedCertificate, check_certificate
from telerobot_nodes.cspace.service import Goal, PlannedPath, Proof
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.nodes.messages import doubles

MOST_CHANGES = 4096  # in one message


def changes_from_message(message: Any) -> list[Change]:
    """Changes of Obstacles.msg; raises InvalidValueError naming the obstacle and the field."""
    if len(message.obstacles) > MOST_CHANGES:
        raise InvalidValueError("obstacles (length)", len(message.obstacles), f"allowed: up to {MOST_CHANGES}")
    return [_change(entry) for entry in message.obstacles]


def _change(entry: Any) -> Change:
    if entry.operation == ObstacleMessage.REMOVE:
        return Change(entry.name)
    if entry.operation != ObstacleMessage.ADD:
        raise InvalidValueError(f"obstacle {entry.name}: operation", entry.operation, "allowed: 0 add, 1 remove")
    if entry.kind == VOXELS:
        centers = np.array(entry.points, dtype=np.float64)
        pose = tuple(float(v) for v in entry.pose)
        return Change(entry.name, (Voxels(entry.name, VOXELS, tuple(entry.size), pose, centers),), entry.attached_to)
    if entry.kind == "hull":
        change = hull(entry.name, list(entry.points), list(entry.pose), entry.attached_to)
    else:
        change = addition(_solid_of(entry), entry.attached_to)
    return replace(change, touch_links=frozenset(entry.touch_links))


def _solid_of(entry: Any) -> Obstacle:
    return Obstacle(entry.name, entry.kind, tuple(entry.size), tuple(float(v) for v in entry.pose))


def scene_to_message(scene: Scene, stamp: Any) -> Any:
    """Obstacles.msg of everything in force; hulls as the spheres that cover them, voxels as one thing."""
    rows = [
        _solid_message(solid, entry.attached_to, entry.touch_links)
        for entry in scene.entries.values()
        for solid in entry.solids
    ]
    return ObstaclesMessage(stamp=stamp, replace=True, obstacles=rows)


def _solid_message(solid: Obstacle, attached_to: str = "", touch_links: Iterable[str] = ()) -> Any:
    return ObstacleMessage(
        operation=ObstacleMessage.ADD,
        name=solid.name,
        kind=solid.kind,
        size=doubles(solid.size),
        pose=list(solid.pose),
        points=array("d", solid.centers.tobytes()) if isinstance(solid, Voxels) else array("d"),
        attached_to=attached_to,
        touch_links=sorted(touch_links),
    )


def scene_from_message(message: Any) -> Scene:
    """The scene of a message that replaces everything; raises InvalidValueError."""
    changes = changes_from_message(message)
    return Scene().changed(changes, True, {change.attached_to for change in changes} - {""})


def goal_from_message(message: Any, arm: str, measured: Mapping[str, FloatArray]) -> Goal:
    """Goal of ArmGoal.msg for the arm it means; raises InvalidValueError when it has no start and none is measured."""
    start = np.array(message.start)
    if not start.size:
        if arm not in measured:
            raise InvalidValueError("start", "empty", "allowed: joints, as nothing is measured of this arm yet")
        start = measured[arm]
    tolerance = list(message.orientation_tolerance) or [0.0, 0.0, 0.0]
    return Goal(
        arm,
        start,
        np.array(message.joint_goal) if len(message.joint_goal) else None,
        np.array(message.pose_goal) if len(message.pose_goal) else None,
        np.array(tolerance),
        message.start_time,
    )


def joints_from_message(message: Any, robot: RobotModel) -> FloatArray:
    """Joints (dof,) [rad] of a JointState with the arm's joints in any order, others between them.

    Put inside the limits, which measured values may miss by a little. Raises InvalidValueError when one is missing.
    """
    index = {name: i for i, name in enumerate(message.name)}
    missing = [name for name in robot.joint_names if index.get(name, len(message.position)) >= len(message.position)]
    if missing:
        needed = ", ".join(robot.joint_names)
        raise InvalidValueError("joint_states.name", list(message.name), f"allowed: positions of {needed}")
    q = finite_array([message.position[index[name]] for name in robot.joint_names], "joint_states.position", robot.dof)
    return np.clip(q, robot.limits.lower, robot.limits.upper)


def contacts_from_message(contacts: Iterable[Any]) -> frozenset[NamePair]:
    """Pairs of names of Contact.msg; raises InvalidValueError on an empty name."""
    pairs = [(contact.first, contact.second) for contact in contacts]
    for pair in pairs:
        if not all(pair):
            raise InvalidValueError("allowed", pair, "allowed: two names")
    return frozenset(name_pair(*pair) for pair in pairs)


def fingers_from_message(message: Any) -> dict[str, float]:
    """Places [rad], [m] by joint of a message with `finger_names`, `finger_positions`; raises InvalidValueError."""
    names, values = list(message.finger_names), finite_array(message.finger_positions, "finger_positions")
    if len(names) != len(values):
        raise InvalidValueError("finger_positions (length)", len(values), f"allowed: {len(names)}, as finger_names")
    return dict(zip(names, values.tolist(), strict=True))


def path_to_message(path: PlannedPath, world: Any = None) -> Any:
    """ArmPath.msg of the value; `world`: the stamp of the scene in which it was proved."""
    return ArmPath(
        arm=path.arm,
        joint_names=list(path.joint_names),
        dof=int(path.waypoints.shape[1]),
        waypoints=doubles(path.waypoints.reshape(-1)),
        times=doubles(path.times),
        positions=doubles(path.positions.reshape(-1)),
        velocities=doubles(path.velocities.reshape(-1)),
        length=float(path.length),
        clearance=float(path.clearance),
        certificate_cells=int(path.cells),
        certificate=_proof_message(path.proof, world),
    )


def _proof_message(proof: Proof, world: Any) -> Any:
    cells = proof.certificate
    message = CertificateMessage(
        dof=int(cells.centers.shape[1]),
        centers=doubles(cells.centers.reshape(-1)),
        halves=doubles(cells.halves.reshape(-1)),
        margin=float(proof.margin),
        self_margin=float(proof.self_margin),
        allowed=[ContactMessage(first=a, second=b) for a, b in sorted(proof.allowed)],
        finger_names=list(proof.fingers),
        finger_positions=numbers(proof.fingers.values()),
        ignored=sorted(proof.ignored),
        others=[_solid_message(solid) for solid in proof.others],
    )
    if world is not None:
        message.world = world
    return message


def check_path_message(path: Any, world: Any, robot: RobotModel) -> CheckedCertificate:
    """Prove again that an ArmPath.msg is free in the scene `world` (Obstacles.msg), by the checker of certificates.

    `robot`: the arm, at its place. Nothing of the planner's is used but the cells. What cannot be read is refused with
    the reason, as a wrong proof is.
    """
    proof = path.certificate
    if proof.world != world.stamp:
        return CheckedCertificate(False, "the proof is of another scene: its stamp is another one", -np.inf)
    try:
        scene = scene_from_message(world).without(proof.ignored)
        held = scene.attachments(path.arm)
        geometry = arm_geometry(robot, held, fingers_from_message(proof), contacts_from_message(proof.allowed))
        cells = Certificate(_rows(proof.centers, proof.dof, "centers"), _rows(proof.halves, proof.dof, "halves"))
        waypoints = _rows(path.waypoints, path.dof, "waypoints")
        obstacles = scene.obstacles + [_solid_of(entry) for entry in proof.others]
    except TelerobotError as error:
        return CheckedCertificate(False, str(error), -np.inf)
    return check_certificate(cells, waypoints, geometry, obstacles, proof.margin, proof.self_margin)


def _rows(values: Any, dof: int, field: str) -> FloatArray:
    flat = np.array(values, dtype=np.float64)
    if dof < 1 or flat.size % dof:
        raise InvalidValueError(f"{field} (length)", flat.size, f"allowed: a multiple of dof, {dof}")
    return flat.reshape(-1, dof)


def numbers(values: Iterable[float]) -> array[float]:
    """A message's float64[]."""
    return array("d", (float(value) for value in values))
