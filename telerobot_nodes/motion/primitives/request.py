"""A primitive as it is asked for, and the check of everything that does not depend on the arm's position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import yaml

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import KindValues, values_of

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a sequence has thousands of texts
SHORT = 64  # characters of a text that cannot nest too deep
DEPTH = 16  # levels of a list in lists


@dataclass(frozen=True)
class PrimitiveRequest:
    """One primitive with its parameters; `check_request` checks them."""

    id: int
    name: str  # of primitive_kinds.KINDS
    values: Mapping[str, Any] = field(default_factory=dict)  # by name, SI units
    accept: tuple[str, ...] = ()  # Terminations after which a sequence continues; none: the successful ones

    def __post_init__(self) -> None:
        for word in self.accept:
            if word not in Termination.__members__ or word == "RUNNING":
                allowed = ", ".join(name for name in Termination.__members__ if name != "RUNNING")
                raise InvalidValueError("accept", word, f"allowed: {allowed}")
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def accepts(self, reason: Termination) -> bool:
        """True when a sequence continues after this end."""
        return reason.name in self.accept if self.accept else reason.succeeded


def check_request(robot: RobotModel, request: PrimitiveRequest) -> KindValues:
    """The whole set of a request that fits `robot`; pure, callable from any thread.

    The executive and whoever writes primitives for it check with this one function. Raises InvalidValueError.
    """
    values = values_of(request.name, request.values)
    values.law.check_robot(robot.dof)
    values.law.check_sensor(robot)
    if values.kind.gripper:
        if robot.gripper is None:
            raise InvalidValueError("name", request.name, f"allowed: without a gripper, as of {robot.name}")
        in_range(values.grasp.grip_width, "grip_width", 0.0, robot.gripper.max_opening, "m")
    if values.law.trajectory.joint_dest:
        robot.limits.check_position(values.law.trajectory.joint_dest, "joint_dest")
    if values.kind.name == "joint_path":
        via_rows(robot, values.path.via_points)
    return values


def via_rows(robot: RobotModel, flat: tuple[float, ...]) -> FloatArray:
    """Via points (n, dof) [rad] inside the limits. Raises InvalidValueError."""
    points = finite_array(flat, "via_points")
    if not points.size or points.size % robot.dof:
        raise InvalidValueError("via_points (length)", points.size, f"allowed: multiples of {robot.dof}")
    rows = points.reshape(-1, robot.dof)
    for k, row in enumerate(rows):
        robot.limits.check_position(row, f"via_points[{k}]")
    return rows


def values_from(keys: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    """Parameters of a message, given as YAML scalars or lists by name. Raises InvalidValueError naming the key."""
    if len(keys) != len(texts):
        raise InvalidValueError("values (length)", len(texts), f"allowed: {len(keys)}, one for each key")
    values: dict[str, Any] = {}
    for key, text in zip(keys, texts, strict=True):
        if key in values:
            raise InvalidValueError(key, text, "allowed: once")
        try:
            _check_shape(key, text)
            values[key] = _numbers(yaml.load(text, _LOADER))
        except InvalidValueError:
            raise
        except (yaml.YAMLError, ValueError, LookupError, OverflowError, AttributeError) as error:  # as of 2026-13-45
            raise InvalidValueError(key, text, f"allowed: a YAML scalar or list ({error})") from None
    return values


def _check_shape(key: str, text: str) -> None:
    """Refuse what is small as a text and costs seconds or the process once it is built: aliases, deep nesting."""
    if len(text) <= SHORT and "*" not in text:
        return
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise InvalidValueError(key, text, "allowed: no aliases")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH:
            raise InvalidValueError(key, text, f"allowed: lists nested up to {DEPTH} deep")


def _numbers(value: Any) -> Any:
    """Numbers such as 1e-3, which YAML 1.1 reads as text, as numbers. Raises OverflowError: of 400 digits."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    if type(value) is int:
        float(value)
    return value
