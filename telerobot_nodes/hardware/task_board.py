"""The task board: a table with crank, door, drawer, bolt, plate, grapple fixture, and loose things with their places.

Simple shapes below the arm's workspace box. Crank, door, drawer and bolt have joints with friction; module, box, pin
and stud are loose; the others are fixed. A site marks each handle and rim: the workcell of run-time control
(`config/rtc/workcell.yaml`) has the same poses, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco

TALLEST = 0.14  # [m] height of the objects on the table, with room to pass over them
HIGHEST, LOWEST = 0.22, 0.03  # [m] table top over the floor; below LOWEST there is no board
WOOD, METAL, BLUE, RED, DARK = (
    [0.72, 0.60, 0.45, 1.0],
    [0.66, 0.68, 0.70, 1.0],
    [0.15, 0.40, 0.65, 1.0],
    [0.75, 0.25, 0.20, 1.0],
    [0.22, 0.23, 0.25, 1.0],
)
MODULE_MASS = 0.8  # [kg]
_BOX, _CYLINDER = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER
# of what the fingers hold: harder than MuJoCo's default, whose friction creeps by millimetres
_GRIPPED: dict[str, Any] = {
    "condim": 4,
    "priority": 1,
    "solref": [0.01, 1.0],
    "solimp": [0.97, 0.995, 0.001, 0.5, 2.0],
}

Vector = Sequence[float]


class _Board:
    """Adds bodies that stand on the table top to a spec."""

    def __init__(self, spec: mujoco.MjSpec, bits: tuple[int, int], top: float) -> None:
        self._world = spec.worldbody
        self.top = top
        self._bits = bits

    def body(self, name: str, x: float, y: float, z: float = 0.0) -> mujoco.MjsBody:
        """A body at (x, y) [m] in WORLD, `z` above the table top."""
        return self._world.add_body(name=name, pos=[x, y, self.top + z])

    def shape(self, body: mujoco.MjsBody, kind: mujoco.mjtGeom, pos: Vector, size: Vector, rgba: Vector) -> None:
        """A box (half sizes) or cylinder (radius, half length) on a body."""
        three = [*size, *(3 - len(size)) * [0.0]]
        contype, conaffinity = self._bits
        body.add_geom(
            type=kind, pos=pos, size=three, rgba=rgba, density=500.0, contype=contype, conaffinity=conaffinity
        )

    def handle(self, body: mujoco.MjsBody, pos: Vector, size: Vector, rgba: Vector) -> None:
        """An upright cylinder (radius, half length) for the fingers, marked as the body's."""
        contype, conaffinity = self._bits
        geom = body.add_geom(type=_CYLINDER, pos=pos, size=[*size, 0.0], rgba=rgba, density=500.0, **_GRIPPED)
        geom.contype, geom.conaffinity = contype, conaffinity
        self.site(body, body.name, pos)

    def loose(self, name: str, x: float, y: float, half: Vector, mass: float, rgba: Vector) -> None:
        """A loose box (half sizes) that stands on the table top; it touches arm and scene."""
        body = self.body(name, x, y, half[-1])
        body.add_freejoint(name=f"{name}_free")
        body.add_geom(
            type=_BOX,
            size=half,
            rgba=rgba,
            mass=mass,
            contype=3,
            conaffinity=3,
            **_GRIPPED,
        )

    def site(self, body: mujoco.MjsBody, name: str, pos: Vector) -> None:
        """A mark: where a handle is, or the middle of a rim."""
        body.add_site(name=f"{name}_mark", pos=pos)

    def joint(self, body: mujoco.MjsBody, kind: mujoco.mjtJoint, axis: Vector, span: Vector, friction: float) -> None:
        """A joint with stops, friction and light damping; the body's weight is balanced."""
        body.add_joint(
            name=f"{body.name}_joint",
            type=kind,
            axis=axis,
            range=span,
            limited=True,
            frictionloss=friction,
            damping=friction,
            armature=0.01,
        )
        body.gravcomp = 1.0


def add_task_board(spec: mujoco.MjSpec, bits: tuple[int, int], room: float) -> bool:
    """Add the table and everything on it below `room` [m] over the floor; False when there is too little room.

    `bits` are the contact bits (contype, conaffinity) of everything on the board.
    """
    top = min(HIGHEST, room - TALLEST)
    if top < LOWEST:
        return False
    board = _Board(spec, bits, top)
    table = board.body("table", 0.62, 0.0)
    board.shape(table, _BOX, [0, 0, -0.02], [0.27, 0.50, 0.02], WOOD)
    for x in (-0.24, 0.24):
        for y in (-0.46, 0.46):
            board.shape(table, _BOX, [x, y, -0.02 - 0.5 * top], [0.02, 0.02, 0.5 * top - 0.02], DARK)
    _add_crank(board)
    _add_door(board)
    _add_drawer(board)
    _add_fixed(board)
    _add_bolt(board)
    _add_loose(board)
    return True


def _add_crank(board: _Board) -> None:
    stand = board.body("crank_stand", 0.50, 0.30)
    board.shape(stand, _CYLINDER, [0, 0, 0.025], [0.03, 0.025], DARK)
    crank = board.body("crank", 0.50, 0.30, 0.06)
    board.joint(crank, mujoco.mjtJoint.mjJNT_HINGE, [0, 0, 1], [-12.6, 12.6], 0.05)
    board.shape(crank, _BOX, [0.04, 0, 0], [0.05, 0.01, 0.006], METAL)
    knob = crank.add_body(name="knob", pos=[0.08, 0, 0.03])  # it spins on its pin, as that of a hand wheel
    board.joint(knob, mujoco.mjtJoint.mjJNT_HINGE, [0, 0, 1], [-63.0, 63.0], 0.001)
    board.handle(knob, [0, 0, 0], [0.01, 0.025], RED)


def _add_door(board: _Board) -> None:
    frame = board.body("door_frame", 0.80, 0.30)
    board.shape(frame, _BOX, [0, 0.11, 0.06], [0.012, 0.008, 0.06], DARK)
    door = board.body("door", 0.80, 0.40, 0.06)
    board.joint(door, mujoco.mjtJoint.mjJNT_HINGE, [0, 0, 1], [-1.8, 0.0], 0.05)
    board.shape(door, _BOX, [0, -0.09, 0], [0.006, 0.085, 0.055], BLUE)
    board.handle(door, [-0.03, -0.15, 0], [0.006, 0.03], METAL)


def _add_drawer(board: _Board) -> None:
    chest = board.body("chest", 0.82, -0.30)
    board.shape(chest, _BOX, [0, 0, 0.105], [0.06, 0.09, 0.005], DARK)
    for y in (-0.085, 0.085):
        board.shape(chest, _BOX, [0, y, 0.05], [0.06, 0.005, 0.05], DARK)
    drawer = board.body("drawer", 0.82, -0.30, 0.05)
    board.joint(drawer, mujoco.mjtJoint.mjJNT_SLIDE, [-1, 0, 0], [0.0, 0.10], 1.0)
    board.shape(drawer, _BOX, [-0.005, 0, 0], [0.055, 0.075, 0.035], BLUE)
    board.handle(drawer, [-0.085, 0, 0], [0.006, 0.03], METAL)


def _add_fixed(board: _Board) -> None:
    hole = board.body("hole", 0.55, -0.12)
    for x, y, sx, sy in ((0.035, 0, 0.02, 0.055), (-0.035, 0, 0.02, 0.055), (0, 0.035, 0.015, 0.02)):
        board.shape(hole, _BOX, [x, y, 0.025], [sx, sy, 0.025], METAL)
    board.shape(hole, _BOX, [0, -0.035, 0.025], [0.015, 0.02, 0.025], METAL)
    board.site(hole, "hole", [0, 0, 0.05])
    thread = board.body("thread", 0.43, 0.0)  # the beginning of a thread: a shallow seat
    board.shape(thread, _BOX, [0, 0, 0.007], [0.03, 0.03, 0.007], METAL)
    for side in (-0.02325, 0.02325):  # a square of 33 mm, in which the stud turns
        board.shape(thread, _BOX, [side, 0, 0.017], [0.00675, 0.03, 0.003], METAL)
        board.shape(thread, _BOX, [0, side, 0.017], [0.0165, 0.00675, 0.003], METAL)
    board.site(thread, "thread", [0, 0, 0.02])
    plate = board.body("plate", 0.62, 0.08)
    board.shape(plate, _BOX, [0, 0, 0.01], [0.10, 0.08, 0.01], METAL)
    board.site(plate, "plate", [0, 0, 0.01])
    grapple = board.body("fixture", 0.44, 0.44)
    board.shape(grapple, _CYLINDER, [0, 0, 0.005], [0.05, 0.005], DARK)
    board.shape(grapple, _CYLINDER, [0, 0, 0.05], [0.008, 0.045], METAL)
    board.shape(grapple, _CYLINDER, [0, 0, 0.10], [0.018, 0.006], METAL)
    board.site(grapple, "fixture", [0, 0, 0.05])


def _add_bolt(board: _Board) -> None:
    bolt = board.body("bolt", 0.70, -0.05, 0.02)
    board.joint(bolt, mujoco.mjtJoint.mjJNT_HINGE, [0, 0, 1], [-31.4, 31.4], 0.05)
    board.shape(bolt, _BOX, [0, 0, 0], [0.012, 0.012, 0.02], RED)
    board.site(bolt, "bolt", [0, 0, 0])


def _add_loose(board: _Board) -> None:
    """What can be picked up, pushed or put into something."""
    board.loose("module", 0.70, -0.17, (0.02, 0.02, 0.03), MODULE_MASS, BLUE)
    board.loose("box", 0.45, -0.34, (0.04, 0.025, 0.03), 0.5, WOOD)
    board.loose("pin", 0.45, -0.12, (0.012, 0.012, 0.04), 0.1, RED)  # square: the fingers hold it upright
    board.loose("stud", 0.43, 0.12, (0.010, 0.010, 0.03), 0.1, RED)
