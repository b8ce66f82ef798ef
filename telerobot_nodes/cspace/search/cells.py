"""Database of joint-space cells with proved status: a binary tree of boxes, made on demand and kept.

[US5347459] claim 2; hierarchical subdivision [BrooksLozanoPerez1985]. FULL: the arm's spheres, with the margin,
collide at every configuration of the cell. FREE: at none. MIXED: neither is proved; the cell can be halved, across the
joint that moves the arm most. Each cell records what it may touch, so that a moved obstacle changes only the cells
that it touches before or after.
"""

from __future__ import annotations

import hashlib
import io
import math
from pathlib import Path

import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    Voxels,
    World,
    bound_cell,
    link_poses_of,
    touches,
    touches_itself,
    world_of,
)
from telerobot_nodes.errors import InvalidValueError

MIXED, FREE, FULL = 0, 1, 2
STATUS = ("mixed", "free", "full")
SELF = "the arm itself"
VERSION = b"cells 1"


class CellDatabase:
    """Cells of one arm among named obstacles. Cell 0 is the whole joint range. One thread.

    `center`, `half` (cells, n) [rad]; `status`; `child` of the lower half, the upper is the next; -1: not halved.
    """

    def __init__(
        self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float = 0.0, self_margin: float = 0.0
    ) -> None:
        self.geometry, self.obstacles = geometry, list(obstacles)
        self.margin, self.self_margin = margin, self_margin
        self.world = self._world_of(obstacles)
        self._poses = link_poses_of(geometry.arm)
        self.clear()

    def _world_of(self, obstacles: list[Obstacle]) -> World:
        return world_of(obstacles, self.margin, self.self_margin, self.geometry.may_touch(obstacles))

    def clear(self) -> None:
        """Discard every cell."""
        self._discard()
        self._judge(0, tuple(self.touched[0]))

    def _discard(self) -> None:
        """Leave one cell, the whole joint range, that is not judged: mixed."""
        arm = self.geometry.arm
        self.center = [0.5 * (arm.lower + arm.upper)]
        self.half = [0.5 * (arm.upper - arm.lower)]
        self.child = [-1]
        self.axis = [-1]
        names = (SELF, *(o.name for o in self.obstacles))
        self.touched = [dict.fromkeys(names, False)]  # what each cell may touch, and whether it does everywhere
        self.status = [MIXED]

    def __len__(self) -> int:
        return len(self.status)

    def key(self) -> str:
        """Digest of arm, attachments, obstacles and margins: what the status of a cell depends on."""
        digest = hashlib.sha256(VERSION + self.geometry.key().encode())
        digest.update(repr(sorted(self.geometry.may_touch(self.obstacles).items())).encode())
        digest.update(repr((self.margin, self.self_margin, sorted(self.obstacles, key=lambda o: o.name))).encode())
        return digest.hexdigest()

    def _judge(self, cell: int, names: tuple[str, ...]) -> None:
        """Judge which of `names` the cell touches; the rest stays as it is."""
        arm, poses, known = self.geometry.arm, self._poses, self.touched[cell]
        bound_cell(arm, poses, self.center[cell], self.half[cell])
        index = {o.name: i for i, o in enumerate(self.obstacles)}
        for name in names:
            if name == SELF:
                may, everywhere = touches_itself(arm, self.world, poses)
            else:
                may, everywhere = touches(arm, self.world, poses, index[name])
            known.pop(name, None)
            if may:
                known[name] = everywhere
        self.status[cell] = FULL if any(known.values()) else MIXED if known else FREE

    def halve(self, cell: int) -> int:
        """The lower half of a cell (the upper one is the next), made if needed. Halves inherit what is not touched."""
        if self.child[cell] >= 0:
            return self.child[cell]
        axis = self._widest(cell)
        first = len(self.status)
        for sign in (-1.0, 1.0):
            center, half = self.center[cell].copy(), self.half[cell].copy()
            half[axis] *= 0.5
            center[axis] += sign * half[axis]
            self.center.append(center)
            self.half.append(half)
            self.child.append(-1)
            self.axis.append(-1)
            self.touched.append({})
            self.status.append(MIXED)
            self._judge(len(self.status) - 1, tuple(self.touched[cell]))
        self.child[cell], self.axis[cell] = first, axis
        return first

    def _widest(self, cell: int) -> int:
        """The joint whose half width moves the arm most."""
        bound_cell(self.geometry.arm, self._poses, self.center[cell], self.half[cell])
        motion = np.diff(self._poses.motion, axis=1)
        return int(np.where(self.half[cell] > 0.0, motion.max(axis=0), -1.0).argmax())

    def leaf(self, q: FloatArray) -> int:
        """The smallest cell so far that holds `q` (n,) [rad], the lower one on a face.

        Raises InvalidValueError outside the limits.
        """
        q = self.geometry.robot.limits.check_position(q, "q")
        cell = 0
        while self.child[cell] >= 0:
            axis = self.axis[cell]
            cell = self.child[cell] + (1 if q[axis] > self.center[cell][axis] else 0)
        return cell

    def leaves(self, q: FloatArray) -> list[int]:
        """Every leaf that holds `q` (n,) [rad]: more than one where `q` lies on a face."""
        found, stack = [], [0]
        while stack:
            cell = stack.pop()
            if self.child[cell] < 0:
                found.append(cell)
                continue
            beyond = q[self.axis[cell]] - self.center[cell][self.axis[cell]]
            stack += [self.child[cell]] if beyond <= 0.0 else []
            stack += [self.child[cell] + 1] if beyond >= 0.0 else []
        return sorted(found)

    def refine(self, q: FloatArray, finest: float) -> int:
        """The leaf that holds `q`, halved until it is not mixed or no half width is above `finest` [rad]."""
        cell = self.leaf(q)
        while self.status[cell] == MIXED and not self.is_finest(cell, finest):
            self.halve(cell)
            cell = self.leaf(q)
        return cell

    def is_finest(self, cell: int, finest: float) -> bool:
        """True when the cell is not to be halved any more: no half width above `finest` [rad]."""
        return bool(self.half[cell].max() <= finest)

    def set_obstacles(self, obstacles: list[Obstacle]) -> int:
        """Change the obstacles; the number of cells judged again: those that a changed one touched or touches now.

        Changed voxels may touch every cell, and change often: then all cells are discarded, and none is judged until it
        is asked for.
        """
        world = self._world_of(obstacles)  # refuses before anything changes
        before, after = ({o.name: o for o in rows} for rows in (self.obstacles, obstacles))
        changed = {name for name in {**before, **after} if before.get(name) != after.get(name)}
        self.obstacles = list(obstacles)
        self.world = world
        if any(isinstance(rows.get(name), Voxels) for rows in (before, after) for name in changed):
            self._discard()
            return 1
        return self._judge_again(changed, changed & set(after)) if changed else 0

    def _judge_again(self, changed: set[str], present: set[str]) -> int:
        """Depth first; a cell that touches no changed obstacle holds no cell that does."""
        judged, stack = 0, [0]
        while stack:
            cell = stack.pop()
            touched = changed & set(self.touched[cell])
            for name in changed - present:
                self.touched[cell].pop(name, None)
            self._judge(cell, tuple(present))
            judged += 1
            if self.child[cell] >= 0 and (touched or changed & set(self.touched[cell])):
                stack += [self.child[cell], self.child[cell] + 1]
        return judged

    def save(self, file: str | Path) -> None:
        """Every cell into `file`, whole or not at all."""
        names = [SELF, *(o.name for o in self.obstacles)]
        rows = [(c, names.index(n), int(f)) for c, known in enumerate(self.touched) for n, f in known.items()]
        body = io.BytesIO()
        np.savez_compressed(
            body,
            center=np.array(self.center),
            half=np.array(self.half),
            child=np.array(self.child),
            axis=np.array(self.axis),
            touched=np.array(rows, dtype=np.int64).reshape(-1, 3),
        )
        content = body.getvalue()
        path = Path(file)
        draft = path.with_name(path.name + ".part")
        draft.write_bytes(self.key().encode() + hashlib.sha256(content).hexdigest().encode() + content)
        draft.replace(path)

    def load(self, file: str | Path) -> str:
        """Load the cells of `file`; empty on success, else the reason, and the database is unchanged."""
        try:
            content = Path(file).read_bytes()
        except OSError as error:
            return f"not readable: {error}"
        key, check, body = content[:64], content[64:128], content[128:]
        if check != hashlib.sha256(body).hexdigest().encode():
            return "damaged: its checksum is wrong"
        if key != self.key().encode():
            return "made for another arm, attachment, obstacle or margin"
        with np.load(io.BytesIO(body)) as arrays:
            self._take(arrays["center"], arrays["half"], arrays["child"], arrays["axis"], arrays["touched"])
        return ""

    def _take(self, center: FloatArray, half: FloatArray, child: IntArray, axis: IntArray, touched: IntArray) -> None:
        names = [SELF, *(o.name for o in self.obstacles)]
        self.center, self.half = list(center), list(half)
        self.child, self.axis = child.tolist(), axis.tolist()
        self.touched = [{} for _ in range(len(center))]
        for cell, name, everywhere in touched.tolist():
            self.touched[cell][names[name]] = bool(everywhere)
        self.status = [FULL if any(k.values()) else MIXED if k else FREE for k in self.touched]

    def volume(self, status: int) -> float:
        """Part of the joint space (0 .. 1) whose cells have this status now."""
        whole = math.prod(self.half[0])
        leaves = (i for i, c in enumerate(self.child) if c < 0 and self.status[i] == status)
        return sum(math.prod(self.half[i]) for i in leaves) / whole

    def neighbours(self, cell: int) -> list[int]:
        """Leaves that share a face, or a part of one, with a leaf."""
        found = []
        for axis in range(self.center[cell].size):
            for sign in (-1.0, 1.0):
                found += self._across(cell, axis, sign)
        return found

    def _across(self, cell: int, axis: int, sign: float) -> list[int]:
        low, high = self.center[cell] - self.half[cell], self.center[cell] + self.half[cell]
        face = high[axis] if sign > 0.0 else low[axis]
        low[axis] = high[axis] = face + sign * 1e-9
        if not self.center[0][axis] - self.half[0][axis] < low[axis] < self.center[0][axis] + self.half[0][axis]:
            return []
        found, stack = [], [0]
        while stack:
            other = stack.pop()
            if self.child[other] < 0:
                found.append(other)
                continue
            split, middle = self.axis[other], self.center[other][self.axis[other]]
            if low[split] < middle - 1e-12:
                stack.append(self.child[other])
            if high[split] > middle + 1e-12:
                stack.append(self.child[other] + 1)
        return found


def named(status: int) -> str:
    """Name of a status; raises InvalidValueError."""
    if status not in (MIXED, FREE, FULL):
        raise InvalidValueError("status", status, "allowed: 0 mixed, 1 free, 2 full")
    return STATUS[status]
