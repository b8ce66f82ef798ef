"""The arm as collision spheres on its links, as flat arrays for compiled code; held objects; pairs of bodies.

The spheres contain every collision shape of the URDF. Spheres form groups, groups form bodies and links, each with a
sphere around it: a bounding volume hierarchy. A body is the part of a link whose contacts are checked alike: URDF
links that one joint moves, or a thing that the tool holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import Chain, RobotModel, chain_of
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.covering import (
    APART,
    Boxes,
    CollisionSphere,
    NamePair,
    Piece,
    bounding_sphere,
    box_points,
    cover,
    cover_capsule,
    covered_links,
    cylinder_points,
    name_pair,
)
from telerobot_nodes.cspace.geometry.forward_kinematics import Arm
from telerobot_nodes.cspace.geometry.obstacles import Attachment, Obstacle, object_name
from telerobot_nodes.errors import InvalidValueError

GROUP = 6  # spheres of a group at most
HELD_TOLERANCE = 0.012  # [m] by which spheres may stand out of a held solid
HELD_SPHERES = 48  # of one held solid at most
FARTHEST = 100.0  # [m] of the base from WORLD's origin: the search keeps 0.3 mm for what single precision adds
MOST_BODIES = 62


@dataclass(frozen=True)
class ArmGeometry:
    """The spheres of `robot` with `attachments`; `excluded` names the pairs of links that are not checked and why."""

    robot: RobotModel
    arm: Arm
    attachments: tuple[Attachment, ...]
    excluded: tuple[tuple[str, str, str], ...]
    sphere_names: tuple[str, ...]  # the shape each sphere belongs to
    bodies: tuple[tuple[str, ...], ...]  # URDF links or held things of each body
    checked: frozenset[NamePair]  # links and held things that are checked against each other
    fingers: Mapping[str, float]  # known places of joints that are not the arm's [rad], [m]
    allowed: frozenset[NamePair]  # contacts that are allowed: links, held things, obstacles

    @property
    def dof(self) -> int:
        """Number of joints."""
        return self.robot.dof

    def key(self) -> str:
        """Digest of everything that decides a distance of this arm."""
        digest = hashlib.sha256()
        for array in self.arm:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def may_touch(self, obstacles: Iterable[Obstacle]) -> dict[str, int]:
        """For each obstacle that bodies are allowed to touch, their numbers as bits: `world_of`'s `allowed`."""
        found = {}
        for obstacle in obstacles if self.allowed else ():
            name = object_name(obstacle.name)
            bits = sum(1 << b for b, parts in enumerate(self.bodies) if name_pair(parts[0], name) in self.allowed)
            if bits:
                found[obstacle.name] = bits
        return found


def arm_geometry(
    robot: RobotModel,
    attachments: Sequence[Attachment] = (),
    fingers: Mapping[str, float] | None = None,
    allowed: Iterable[NamePair] = (),
) -> ArmGeometry:
    """Cover every collision shape of the robot's URDF, and what is attached to its tool, with spheres.

    `fingers`: known places of joints that are not the arm's; others may be anywhere in their range. `allowed`: pairs of
    links, held things and obstacles whose contact is allowed. Raises InvalidValueError, ModelError.
    """
    if np.abs(robot.T_world_base.translation).max() > FARTHEST:
        far = robot.T_world_base.translation.tolist()
        raise InvalidValueError("T_world_base", far, f"allowed: within {FARTHEST:g} m of the origin of WORLD")
    places = dict(fingers or {})
    contacts = frozenset(name_pair(a, b) for a, b in allowed)
    covered = covered_links(robot, places)
    pieces, pairs, boxes = covered.pieces, covered.pairs, covered.boxes
    held = [Piece(robot.dof, a.name, a.solid.name, _held_spheres(robot, a)) for a in attachments]
    checked = (pairs.checked | _with_held(robot, pieces, attachments)) - contacts
    bodies = _bodies([*pieces, *held], {a.name for a in attachments}, checked, contacts)
    chain = chain_of(robot.model, robot.tool_frame_id)
    arm, names = _flatten(bodies, chain, robot)
    excluded = tuple((a, b, reason) for (a, b), reason in pairs.excluded.items())
    rows, proved, box = _proved_last(_body_pairs(bodies, checked), bodies, checked, boxes, arm.box)
    return ArmGeometry(
        robot,
        arm._replace(pairs=rows, proved=proved, box=box),
        tuple(attachments),
        excluded,
        names,
        tuple(body.parts for body in bodies),
        checked,
        places,
        contacts,
    )


@dataclass(frozen=True)
class _Body:
    link: int
    parts: tuple[str, ...]
    spheres: list[tuple[CollisionSphere, str]]  # each with the name of its shape


def _with_held(robot: RobotModel, pieces: list[Piece], attachments: Sequence[Attachment]) -> frozenset[NamePair]:
    """Pairs of held things with every link that moves against them, but those they may touch."""
    links = {piece.part for piece in pieces if piece.link < robot.dof}
    return frozenset(name_pair(a.name, link) for a in attachments for link in links - a.touch_links)


def _bodies(
    pieces: list[Piece], held: Collection[str], checked: frozenset[NamePair], allowed: frozenset[NamePair]
) -> list[_Body]:
    """Pieces that move together, of links or `held`, with the same contacts; in the order of the links."""
    groups: dict[tuple[object, ...], list[Piece]] = {}
    for piece in pieces:
        against = frozenset(b if a == piece.part else a for a, b in checked if piece.part in (a, b))
        free = frozenset(b if a == piece.part else a for a, b in allowed if piece.part in (a, b))
        groups.setdefault((piece.link, against, free, piece.part in held), []).append(piece)
    if len(groups) > MOST_BODIES:
        raise InvalidValueError("bodies (number)", len(groups), f"allowed: up to {MOST_BODIES}, links and held things")
    bodies = [
        _Body(
            group[0].link,
            tuple(dict.fromkeys(piece.part for piece in group)),
            _outermost([(sphere, piece.name) for piece in group for sphere in piece.spheres]),
        )
        for group in groups.values()
    ]
    return sorted(bodies, key=lambda body: body.link)


def _proved_last(
    rows: IntArray, bodies: list[_Body], checked: frozenset[NamePair], boxes: Boxes, box: FloatArray
) -> tuple[IntArray, int, FloatArray]:
    """The pairs of bodies, those last of which all parts are proved apart; their number; where in `box` (n, 2)."""
    proved = np.zeros(len(rows), dtype=bool)
    for i, (a, b) in enumerate(rows.tolist()):
        parts = {name_pair(x, y) for x in bodies[a].parts for y in bodies[b].parts} & checked
        proved[i] = parts <= boxes.keys()
        for pair in parts if proved[i] else ():
            box = np.column_stack([np.maximum(box[:, 0], boxes[pair][:, 0]), np.minimum(box[:, 1], boxes[pair][:, 1])])
    return np.vstack([rows[~proved], rows[proved]]), int(proved.sum()), box


def _body_pairs(bodies: list[_Body], checked: frozenset[NamePair]) -> IntArray:
    found = [
        (i, j)
        for i, a in enumerate(bodies)
        for j, b in enumerate(bodies)
        if a.link < b.link and any(name_pair(x, y) in checked for x in a.parts for y in b.parts)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _z_to(axis: FloatArray) -> FloatArray:
    """A rotation that takes z to `axis`."""
    u, _, _ = np.linalg.svd(axis.reshape(3, 1))
    first = u[:, 1]
    return np.column_stack([first, np.cross(axis, first), axis])


def _held_spheres(robot: RobotModel, attachment: Attachment) -> list[CollisionSphere]:
    T_joint_tool = robot.model.frames[robot.tool_frame_id].placement
    solid = attachment.solid
    return solid_spheres(solid, T_joint_tool * solid.T_world_obstacle, HELD_TOLERANCE, HELD_SPHERES)


def solid_spheres(solid: Obstacle, T: pin.SE3, tolerance: float, most: int) -> list[CollisionSphere]:
    """Spheres, `most` or fewer, that contain a box, sphere or cylinder at `T`."""
    size = np.array(solid.size)
    if solid.kind == "sphere":
        return cover_capsule(T.translation, T.translation, float(size[0]), tolerance)
    points = box_points(size) if solid.kind == "box" else cylinder_points(float(size[0]), float(size[1]))
    return [CollisionSphere(T.act(sphere.center), sphere.radius) for sphere in cover(points, tolerance, most)]


def _outermost(entries: list[tuple[CollisionSphere, str]]) -> list[tuple[CollisionSphere, str]]:
    """The spheres that lie inside no other."""
    kept: list[tuple[CollisionSphere, str]] = []
    for sphere, name in sorted(entries, key=lambda entry: -entry[0].radius):
        if not any(np.linalg.norm(sphere.center - k.center) + sphere.radius <= k.radius + 1e-12 for k, _ in kept):
            kept.append((sphere, name))
    return kept


def _groups(entries: list[tuple[CollisionSphere, str]]) -> list[list[tuple[CollisionSphere, str]]]:
    """Groups of at most GROUP spheres, made by halving along the longest side."""
    if len(entries) <= GROUP:
        return [entries] if entries else []
    centers = np.array([sphere.center for sphere, _ in entries])
    axis = int(np.ptp(centers, axis=0).argmax())
    order = np.argsort(centers[:, axis], kind="stable")
    half = len(entries) // 2
    return _groups([entries[i] for i in order[:half]]) + _groups([entries[i] for i in order[half:]])


def enclosing_sphere(spheres: Sequence[CollisionSphere]) -> CollisionSphere:
    """A sphere that holds every one of `spheres`; radius 0 for none."""
    if not spheres:
        return CollisionSphere(np.zeros(3), 0.0)
    centers = np.array([sphere.center for sphere in spheres])
    radii = np.array([sphere.radius for sphere in spheres])
    out = np.vstack([centers + radii[:, None] * d for d in np.vstack([np.eye(3), -np.eye(3)])])
    middle = bounding_sphere(out).center
    return CollisionSphere(middle, float((np.linalg.norm(centers - middle, axis=1) + radii).max()))


def _flatten(bodies: list[_Body], chain: Chain, robot: RobotModel) -> tuple[Arm, tuple[str, ...]]:
    """The arm without pairs, in frames whose z is the joint's axis; and the names of its spheres."""
    align = [_z_to(axis) for axis in chain.axis]
    before = [np.eye(3), *align[:-1]]
    turned = [_turned(body, np.eye(3) if body.link == 0 else align[body.link - 1].T) for body in bodies]
    rows = [(number, group) for number, spheres in enumerate(turned) for group in _groups(spheres)]
    groups = [[sphere for sphere, _ in group] for _, group in rows]
    body_link = np.array([body.link for body in bodies], dtype=np.int64)
    group_body = np.array([number for number, _ in rows], dtype=np.int64)
    group_link, links = body_link[group_body], range(robot.dof + 1)
    of_group = [enclosing_sphere(group) for group in groups]
    of_body = [enclosing_sphere([s for s, _ in spheres]) for spheres in turned]
    of_link = [
        enclosing_sphere(
            [s for body, spheres in zip(bodies, turned, strict=True) if body.link == k for s, _ in spheres]
        )
        for k in links
    ]
    spheres = [sphere for group in groups for sphere in group]
    arm = Arm(
        rotation=np.array([b.T @ R @ a for b, R, a in zip(before, chain.rotation, align, strict=True)]),
        offset=np.array([b.T @ o for b, o in zip(before, chain.offset, strict=True)]),
        prismatic=np.array(chain.prismatic, dtype=np.float64),
        sphere_center=np.array([sphere.center for sphere in spheres]).reshape(-1, 3),
        sphere_radius=np.array([sphere.radius for sphere in spheres]),
        sphere_first=_firsts([len(group) for group in groups]),
        group_link=group_link,
        group_center=np.array([sphere.center for sphere in of_group]).reshape(-1, 3),
        group_radius=np.array([sphere.radius for sphere in of_group]),
        link_first=_firsts([int((group_link == k).sum()) for k in links]),
        link_center=np.array([sphere.center for sphere in of_link]).reshape(-1, 3),
        link_radius=np.array([sphere.radius for sphere in of_link]),
        group_body=group_body,
        body_link=body_link,
        body_first=_firsts([int((group_body == b).sum()) for b in range(len(bodies))]),
        body_center=np.array([sphere.center for sphere in of_body]).reshape(-1, 3),
        body_radius=np.array([sphere.radius for sphere in of_body]),
        pairs=np.empty((0, 2), dtype=np.int64),
        proved=0,
        apart=APART,
        box=np.column_stack([robot.limits.lower, robot.limits.upper]),
        first_moving=_first_moving(bodies, turned, chain),
        lower=np.array(robot.limits.lower),
        upper=np.array(robot.limits.upper),
    )
    return arm, tuple(name for _, group in rows for _, name in group)


def _turned(body: _Body, R: FloatArray) -> list[tuple[CollisionSphere, str]]:
    return [(CollisionSphere(R @ sphere.center, sphere.radius), name) for sphere, name in body.spheres]


def _firsts(counts: Sequence[int]) -> IntArray:
    return np.cumsum([0, *counts]).astype(np.int64)


def _first_moving(bodies: list[_Body], turned: list[list[tuple[CollisionSphere, str]]], chain: Chain) -> int:
    """2 when joint 1 turns and every sphere that it carries lies on its axis, so that none moves; else 1."""
    carried = [s for body, spheres in zip(bodies, turned, strict=True) if body.link == 1 for s, _ in spheres]
    still = all(np.hypot(sphere.center[0], sphere.center[1]) <= 1e-9 for sphere in carried)
    return 2 if still and chain.prismatic[0] == 0.0 else 1
