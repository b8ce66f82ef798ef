"""A node's parameters: strict file, then ROS overrides, declared with description, range and unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.parameter import Parameter

from telerobot_nodes import graph
from telerobot_nodes.core.config import ParameterInfo, check_parameter, load_parameters, parameter_info
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.nodes.framework.base import GraphNode

T = TypeVar("T")

_NAMES = tuple(node.name for node in graph.NODES)


def node_parameters(node: GraphNode, cls: type[T], change: Callable[[T], None] | None = None) -> T:
    """The validated parameters of `node`: defaults, then its file, then `--ros-args -p`.

    With `change` they can be set at run time: it gets the new set as a whole, after validation; without it they are
    read-only. Raises ParameterFileError or InvalidValueError naming file, line, key.
    """
    file = node.options.params
    values = load_parameters(cls, file, node.options.name, _NAMES) if file is not None else cls()
    info = parameter_info(cls)
    for name, default in _plain(values).items():
        descriptor = _descriptor(info[name], default, read_only=change is None)
        node.declare_parameter(name, list(default) if isinstance(default, tuple) else default, descriptor)
    current = cls(**{name: check_parameter(cls, name, node.get_parameter(name).value) for name in _plain(values)})
    if change is not None:
        node.add_on_set_parameters_callback(_setter(cls, current, change))
    return current


def _setter(cls: type[T], current: T, change: Callable[[T], None]) -> Callable[[list[Parameter]], Any]:
    held = current

    def set_parameters(parameters: list[Parameter]) -> Any:
        nonlocal held
        try:
            asked = {entry.name: check_parameter(cls, entry.name, entry.value) for entry in parameters}
            held = dataclasses.replace(held, **asked)  # type: ignore[type-var]
            change(held)
        except (TelerobotError, InvalidValueError) as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    return set_parameters


def _plain(values: Any) -> dict[str, Any]:
    return {entry.name: getattr(values, entry.name) for entry in dataclasses.fields(values)}


def _descriptor(info: ParameterInfo, default: object, read_only: bool) -> ParameterDescriptor:
    unit = f" [{info.unit}]" if info.unit else ""
    descriptor = ParameterDescriptor(description=f"{info.doc}{unit}", read_only=read_only)
    if isinstance(default, float) and abs(info.low) < float("inf") and abs(info.high) < float("inf"):
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(info.low), to_value=float(info.high))]
    elif type(default) is int and abs(info.low) < float("inf") and abs(info.high) < float("inf"):
        descriptor.integer_range = [IntegerRange(from_value=int(info.low), to_value=int(info.high))]
    if info.choices:
        descriptor.additional_constraints = info.allowed
    return descriptor
