"""The judge: what the physics itself says of a run. It never sees the controller.

Every quantity comes from MuJoCo's state: joint positions, body poses, contact forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.tasks.task import AXES, Measure


@dataclass(frozen=True)
class Verdict:
    """One measure of a run; `value` NaN: there was nothing to measure."""

    name: str
    value: float
    op: str
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """True when it holds."""
        return bool(self.value <= self.limit if self.op == "<=" else self.value >= self.limit)


class Judge:
    """Samples every measure at each physics step. One model, one run."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, measures: Sequence[Measure]) -> None:
        self._model, self._data = model, data
        self._measures = tuple(measures)
        self._subtrees = {m.body: _subtree(model, m.body) for m in measures if m.of in ("force", "torque")}
        for m in measures:
            _id(model, mujoco.mjtObj.mjOBJ_BODY, m.frame, f"success.{m.name}.frame")
            if m.of == "joint":
                _id(model, mujoco.mjtObj.mjOBJ_JOINT, m.joint, f"success.{m.name}.joint")
            else:
                _id(model, mujoco.mjtObj.mjOBJ_BODY, m.body, f"success.{m.name}.body")
        self.rows: list[tuple[float, ...]] = []
        self.labels: list[str] = []
        self._start = np.zeros(len(self._measures))
        self._origin: dict[str, FloatArray] = {}

    def begin(self) -> None:
        """The run begins: joints and positions count from here."""
        for i, m in enumerate(self._measures):
            if m.of == "joint":
                self._start[i] = self._data.joint(m.joint).qpos[0]
            elif m.of == "position" and m.relative:
                self._origin[m.name] = self._data.body(m.body).xpos.copy()

    def sample(self, label: str) -> None:
        """After a physics step, while the primitive `label` runs."""
        wrenches = {body: self._wrench(body) for body in self._subtrees}
        self.rows.append(tuple(self._value(i, m, wrenches) for i, m in enumerate(self._measures)))
        self.labels.append(label)

    def verdicts(self, period: float) -> tuple[Verdict, ...]:
        """Every measure of the run, sampled every `period` [s]."""
        table = np.array(self.rows).reshape(-1, len(self._measures))
        labels = np.array(self.labels)
        return tuple(
            Verdict(m.name, _reduced(table[:, i], labels, m, period), m.op, m.value, m.unit)
            for i, m in enumerate(self._measures)
        )

    def _value(self, i: int, m: Measure, wrenches: Mapping[str, tuple[FloatArray, FloatArray]]) -> float:
        data = self._data
        if m.of == "joint":
            return _from_target(float(data.joint(m.joint).qpos[0] - self._start[i]), m)
        R_frame = data.body(m.frame).xmat.reshape(3, 3)
        if m.of == "tilt":
            cosine = float(R_frame[:, 2] @ data.body(m.body).xmat.reshape(3, 3)[:, 2])
            return _from_target(float(np.arccos(np.clip(cosine, -1.0, 1.0))), m)
        if m.of == "position":
            origin = self._origin.get(m.name, data.body(m.frame).xpos)
            vector = data.body(m.body).xpos - origin
        else:
            vector = wrenches[m.body][0 if m.of == "force" else 1]
        along = R_frame.T @ vector
        chosen = [along[AXES.index(axis)] for axis in m.axes]
        return _from_target(float(chosen[0] if len(chosen) == 1 else np.linalg.norm(chosen)), m)

    def _wrench(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Net contact force [N] and torque [N m] on a body's tree at its origin, WORLD axes."""
        model, data, tree = self._model, self._data, self._subtrees[body]
        force, torque, six = np.zeros(3), np.zeros(3), np.zeros(6)
        at = data.body(body).xpos
        for k in range(data.ncon):
            contact = data.contact[k]
            one, two = (int(model.geom_bodyid[g]) in tree for g in (contact.geom1, contact.geom2))
            if one == two:
                continue
            mujoco.mj_contactForce(model, data, k, six)
            R = contact.frame.reshape(3, 3)
            sign = 1.0 if two else -1.0  # MuJoCo's is what the first exerts on the second
            push = sign * (R.T @ six[:3])
            force += push
            torque += _cross(contact.pos - at, push) + sign * (R.T @ six[3:])
        return force, torque


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """A product of two vectors (3,), without the generality that costs most of it."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _from_target(value: float, m: Measure) -> float:
    return value if m.target is None else abs(value - m.target)


def _reduced(values: FloatArray, labels: FloatArray, m: Measure, period: float) -> float:
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


def _subtree(model: mujoco.MjModel, body: str) -> frozenset[int]:
    """A body and everything that hangs on it."""
    root = _id(model, mujoco.mjtObj.mjOBJ_BODY, body, "success.body")
    tree = {root}
    for i in range(root + 1, model.nbody):
        if int(model.body_parentid[i]) in tree:
            tree.add(i)
    return frozenset(tree)


def _id(model: mujoco.MjModel, kind: mujoco.mjtObj, name: str, field: str) -> int:
    found = mujoco.mj_name2id(model, kind, name)
    if found < 0:
        raise InvalidValueError(field, name, "allowed: a name of the scene")
    return int(found)
