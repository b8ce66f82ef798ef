"""The judge of a run: measures taken from the physics alone, independent of the controller.

Every quantity comes from MuJoCo's state: joint positions, body poses, contact forces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.tasks.task import AXES, Measure


@dataclass(frozen=True)
class Verdict:
    """Result of one measure of a run; `value` NaN: there was nothing to measure."""

    name: str
    value: float
    op: str
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """True when the value keeps the limit."""
        return bool(self.value <= self.limit if self.op == "<=" else self.value >= self.limit)


class Judge:
    """Samples every measure at each physics step. One model, one run."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, measures: Sequence[Measure]) -> None:
        self._model, self._data = model, data
        self._measures = tuple(measures)
        for m in measures:
            _id(model, mujoco.mjtObj.mjOBJ_BODY, m.frame, f"success.{m.name}.frame")
            if m.of == "joint":
                _id(model, mujoco.mjtObj.mjOBJ_JOINT, m.joint, f"success.{m.name}.joint")
            else:
                _id(model, mujoco.mjtObj.mjOBJ_BODY, m.body, f"success.{m.name}.body")
        self._geoms = {m.body: _geoms_of(model, m.body) for m in measures if m.of in ("force", "torque")}
        bodies = {name for m in measures for name in (m.body, m.frame) if name}
        self._p = {name: data.body(name).xpos for name in bodies}  # views that follow the physics
        self._R = {name: data.body(name).xmat.reshape(3, 3) for name in bodies}
        self._joint = {m.joint: int(model.joint(m.joint).qposadr[0]) for m in measures if m.joint}
        self._start: list[tuple[float, FloatArray, FloatArray]] = []
        self.rows: list[list[float]] = []
        self.labels: list[str] = []

    def begin(self) -> None:
        """Begin the run: joints, positions and rotations are relative to this moment."""
        none = np.zeros(3), np.eye(3)
        self._start = [
            (float(self._data.qpos[self._joint[m.joint]]), *none)
            if m.of == "joint"
            else (0.0, self._p[m.body].copy(), self._R[m.body].copy())
            for m in self._measures
        ]
        self.rows.clear()
        self.labels.clear()

    def sample(self, label: str) -> None:
        """Sample all measures after a physics step, while the primitive `label` runs."""
        if not self._start:
            return
        wrenches = {body: self._wrench(body) for body in self._geoms}
        self.rows.append(
            [self._value(m, start, wrenches) for m, start in zip(self._measures, self._start, strict=True)]
        )
        self.labels.append(label)

    def verdicts(self, period: float) -> tuple[Verdict, ...]:
        """Results of all measures of the run, sampled every `period` [s]."""
        table = np.array(self.rows).reshape(-1, len(self._measures))
        labels = np.array(self.labels)
        return tuple(
            Verdict(m.name, _reduced(table[:, i], labels, m, period), m.op, m.value, m.unit)
            for i, m in enumerate(self._measures)
        )

    def _value(
        self,
        m: Measure,
        start: tuple[float, FloatArray, FloatArray],
        wrenches: Mapping[str, tuple[FloatArray, FloatArray]],
    ) -> float:
        if m.of == "joint":
            value = float(self._data.qpos[self._joint[m.joint]]) - start[0]
        elif m.of == "tilt":
            value = _angle(float(self._R[m.frame][:, 2] @ self._R[m.body][:, 2]))
        elif m.of == "rotation":
            value = _angle(0.5 * (float(np.vdot(start[2], self._R[m.body])) - 1.0))
        elif m.of == "position":
            value = self._along(m, self._p[m.body] - (start[1] if m.relative else self._p[m.frame]))
        else:
            value = self._along(m, wrenches[m.body][0 if m.of == "force" else 1])
        return value if m.target is None else abs(value - m.target)

    def _along(self, m: Measure, vector: FloatArray) -> float:
        along = self._R[m.frame].T @ vector
        chosen = [float(along[AXES.index(axis)]) for axis in m.axes]
        return chosen[0] if len(chosen) == 1 else math.hypot(*chosen)

    def _wrench(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Net contact force [N] and torque [N m] on a body's tree at its origin, WORLD axes."""
        model, data = self._model, self._data
        force, torque, six = np.zeros(3), np.zeros(3), np.zeros(6)
        if not data.ncon:
            return force, torque
        mine = self._geoms[body][data.contact.geom]
        for k in np.flatnonzero(mine[:, 0] != mine[:, 1]):
            contact = data.contact[k]
            mujoco.mj_contactForce(model, data, k, six)
            R = contact.frame.reshape(3, 3)
            sign = 1.0 if mine[k, 1] else -1.0  # MuJoCo's force acts from the first geom on the second
            push = sign * (R.T @ six[:3])
            force += push
            torque += _cross(contact.pos - self._p[body], push) + sign * (R.T @ six[3:])
        return force, torque


def _angle(cosine: float) -> float:
    """Angle [rad] of a cosine that rounding may have put outside -1 .. 1."""
    return math.acos(min(max(cosine, -1.0), 1.0))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross product of two vectors (3,), faster than `np.cross`."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _reduced(values: FloatArray, labels: FloatArray, m: Measure, period: float) -> float:
    """One number of a measure's samples (n,), `period` [s] apart, with labels (n,); NaN: too few of them."""
    if m.during:
        values = values[np.isin(labels, m.during)]
    count = max(round(m.smooth / period), 1)
    if values.size < count:
        return float("nan")
    if count > 1:
        values = np.convolve(values, np.full(count, 1.0 / count), "valid")
    if m.reduce == "final":
        return float(values[-1])
    if m.reduce == "rms":
        return float(np.sqrt(np.mean(values**2)))
    if m.reduce == "p95":
        return float(np.percentile(values, 95.0))
    return float(getattr(np, m.reduce)(values))


def _geoms_of(model: mujoco.MjModel, body: str) -> npt.NDArray[np.bool_]:
    """Mask of the geoms that belong to a body and its descendants."""
    tree = {_id(model, mujoco.mjtObj.mjOBJ_BODY, body, "success.body")}
    for i in range(min(tree) + 1, model.nbody):
        if int(model.body_parentid[i]) in tree:
            tree.add(i)
    return np.isin(model.geom_bodyid, sorted(tree))


def _id(model: mujoco.MjModel, kind: mujoco.mjtObj, name: str, field: str) -> int:
    found = mujoco.mj_name2id(model, kind, name)
    if found < 0:
        raise InvalidValueError(field, name, "allowed: a name of the scene")
    return int(found)
