"""Coverings are made once: the last few are kept in memory, and all of them on disk for the next process.

A file is named after everything that decides its contents: shapes, kinematics, limits, pairs of the SRDF, the sources
of this package and the versions of the libraries. A file that is cut or changed is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import coal
import numpy as np

from telerobot_nodes._user_folders import user_cache
from telerobot_nodes.core.robot import LinkShape, RobotModel, link_shapes
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.cspace.covering.covered_links import CoveredLinks, Piece, cover_shapes
from telerobot_nodes.cspace.covering.link_pairs import LinkPairs
from telerobot_nodes.cspace.covering.solids import CollisionSphere

KEPT = 8  # robots, with their fingers, in memory
KEPT_FILES = 64
LIBRARIES = ("numpy", "scipy", "coal", "pin")

_KNOWN: dict[tuple[object, ...], CoveredLinks] = {}


def covered_links(robot: RobotModel, fingers: Mapping[str, float]) -> CoveredLinks:
    """The robot's links with their spheres; from memory, from disk, or made now.

    `fingers`: known places of joints that are not the arm's [rad], [m]. Raises ModelError, InvalidValueError.
    """
    key = (robot.urdf, *_values(robot), tuple(sorted(fingers.items())))
    known = _KNOWN.pop(key, None)
    if known is None:
        shapes = link_shapes(robot, fingers)
        known = _kept(_digest(robot, shapes), lambda: cover_shapes(robot, shapes))
    _KNOWN[key] = known
    for old in list(_KNOWN)[:-KEPT]:
        del _KNOWN[old]
    return known


def _values(robot: RobotModel) -> tuple[object, ...]:
    """What decides a covering besides URDF and meshes."""
    disabled = None if robot.srdf is None else tuple(sorted(robot.srdf.disabled.items()))
    arrays = (robot.limits.lower, robot.limits.upper, robot.home, pose_from_se3(robot.T_world_base))
    return robot.tool_frame, disabled, *(np.asarray(array, dtype=np.float64).tobytes() for array in arrays)


def _digest(robot: RobotModel, shapes: Sequence[LinkShape]) -> str:
    digest = hashlib.sha256(_versions().encode())
    for text in (robot.urdf, repr(_values(robot)), repr(list(robot.model.names))):
        digest.update(text.encode())
    for T in robot.model.jointPlacements:
        digest.update(T.homogeneous.tobytes())
    for shape in shapes:
        digest.update(repr((shape.link, shape.body, shape.name, shape.slack)).encode())
        for turn in shape.turns:
            digest.update(b"".join(T.homogeneous.tobytes() for T in turn) + b"turn")
        for array in _solid_arrays(shape.solid):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(type(shape.solid).__name__.encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _versions() -> str:
    """Sources of this package and versions of the libraries."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return " ".join([digest.hexdigest(), *(version(name) for name in LIBRARIES)])


def _solid_arrays(solid: coal.CollisionGeometry) -> Iterable[Any]:
    """The size of a solid; for a mesh its vertices and triangles."""
    if isinstance(solid, coal.BVHModelBase):
        yield solid.vertices()
        yield [[solid.tri_indices(i)[k] for k in range(3)] for i in range(solid.num_tris)]
    elif isinstance(solid, coal.Box):
        yield solid.halfSide
    else:
        yield [getattr(solid, name, 0.0) for name in ("radius", "halfLength")]


def _kept(digest: str, make: Callable[[], CoveredLinks]) -> CoveredLinks:
    file = user_cache("coverings") / f"{digest}.json"
    found = _read(file)
    if found is None:
        found = make()
        with contextlib.suppress(OSError):  # no home to write to
            _write(file, found)
    return found


def _read(file: Path) -> CoveredLinks | None:
    """The covering in a file; None when there is none that is whole."""
    try:
        seal, text = file.read_text().split("\n", 1)
        if seal != _seal(text):
            return None
        file.touch()  # in use: not forgotten
        return _from_values(json.loads(text))
    except (OSError, ValueError):
        return None


def _write(file: Path, covered: CoveredLinks) -> None:
    """Write a file, whole or not at all, and forget those not used for longest."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_to_values(covered))
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(f"{_seal(text)}\n{text}")
    draft.replace(file)
    by_use = sorted(file.parent.glob("*.json*"), key=lambda path: path.stat().st_mtime)
    for old in by_use[:-KEPT_FILES]:
        old.unlink(missing_ok=True)


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _to_values(covered: CoveredLinks) -> dict[str, Any]:
    return {
        "pieces": [
            [p.link, p.part, p.name, [[*s.center.tolist(), float(s.radius)] for s in p.spheres]] for p in covered.pieces
        ],
        "checked": sorted(covered.pairs.checked),
        "excluded": [[*pair, reason] for pair, reason in covered.pairs.excluded.items()],
        "boxes": [[*pair, box.tolist()] for pair, box in covered.boxes.items()],
    }


def _from_values(values: Mapping[str, Any]) -> CoveredLinks:
    pieces = [
        Piece(link, part, name, [CollisionSphere(np.array(row[:3]), row[3]) for row in rows])
        for link, part, name, rows in values["pieces"]
    ]
    checked = frozenset((a, b) for a, b in values["checked"])
    excluded = {(a, b): reason for a, b, reason in values["excluded"]}
    return CoveredLinks(pieces, LinkPairs(checked, excluded), {(a, b): np.array(box) for a, b, box in values["boxes"]})
