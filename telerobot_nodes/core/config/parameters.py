"""Parameter files: ROS layout read strictly into one validated dataclass per node.

ROS silently accepts NaN, duplicate and unknown keys and files for another node; here each is rejected with file,
line and key. A node's dataclass is frozen, its fields made by `parameter`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from telerobot_nodes.core.config.yaml_file import FileMapping, read_yaml, truth
from telerobot_nodes.errors import InvalidValueError, ParameterFileError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class ParameterInfo:
    """Description of a parameter besides its type and default."""

    unit: str
    low: float
    high: float
    doc: str
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        if self.choices:
            return f"allowed: {', '.join(self.choices)}"
        return f"allowed: {self.low:g} .. {self.high:g} [{self.unit or '-'}]"


def parameter(
    default: Any,
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    doc: str = "",
    choices: Sequence[str] = (),
) -> Any:
    """A dataclass field that is a node's parameter; bounds hold for every element of a list."""
    info = ParameterInfo(unit, low, high, doc, tuple(choices))
    if isinstance(default, list):
        default = tuple(default)
    return dataclasses.field(default=default, metadata={"parameter": info})


def types_of(cls: type) -> dict[str, Any]:
    """Type of each field of a class, by name; read once."""
    return _types(cls)


def parameter_info(cls: type) -> dict[str, ParameterInfo]:
    """Description of each parameter of a node's dataclass, by name."""
    return _infos(cls)


@functools.cache
def _types(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


@functools.cache
def _infos(cls: type) -> dict[str, ParameterInfo]:
    fields = dataclasses.fields(cls)
    return {f.name: f.metadata.get("parameter", ParameterInfo("", -math.inf, math.inf, "")) for f in fields}


def check_parameter(cls: type, name: str, value: object) -> Any:
    """`value` as the field's type; raises InvalidValueError naming the parameter, the value and what is allowed."""
    info = parameter_info(cls).get(name)
    if info is None:
        raise InvalidValueError(name, value, f"allowed names: {', '.join(parameter_info(cls))}")
    kind = types_of(cls)[name]
    if typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0]
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InvalidValueError(name, value, f"allowed: a list of {element.__name__}")
        return tuple(_scalar(f"{name}[{i}]", item, element, info) for i, item in enumerate(value))
    return _scalar(name, value, kind, info)


def _scalar(name: str, value: object, kind: type, info: ParameterInfo) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            value = float(value)
        except OverflowError:
            raise InvalidValueError(name, value, info.allowed) from None
    if type(value) is not kind:
        raise InvalidValueError(name, value, f"allowed: {kind.__name__}")
    if info.choices and value not in info.choices:
        raise InvalidValueError(name, value, info.allowed)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValueError(name, value, "allowed: finite numbers")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not info.low <= value <= info.high:
        raise InvalidValueError(name, value, info.allowed)
    return value


def load_parameters(cls: type[T], file: str | Path, node_name: str, known_nodes: Sequence[str] = ()) -> T:
    """The parameters of `node_name` in a YAML file `node: ros__parameters: {name: value}`, defaults for the rest.

    `/**` stands for every node; a node's own section wins. A file for several nodes is read with the names of all
    `known_nodes`: it need not have a section for this one. Raises ParameterFileError naming file, line and key.
    """
    values: dict[str, Any] = {}
    for section in _sections(read_yaml(Path(file)), node_name, known_nodes):
        for name, value in section.items():
            try:
                values[name] = check_parameter(cls, name, truth(value) if types_of(cls).get(name) is bool else value)
            except InvalidValueError as error:
                (line, column), problem = section.at(name), f"{error.value!r}: {error.allowed}"
                raise ParameterFileError(section.file, line, error.field, problem, column) from None
    return cls(**values)


def _sections(root: FileMapping, node_name: str, known_nodes: Sequence[str]) -> list[FileMapping]:
    """The `ros__parameters` mappings that apply, the wildcard's first."""
    names = {owner: owner.rsplit("/", 1)[-1] for owner in root if owner != "/**"}
    for owner, name in names.items():
        if known_nodes and name not in known_nodes:
            root.reject(owner, f"no such node; one of {', '.join(known_nodes)}")
    chosen = [owner for owner in root if owner == "/**"] + [owner for owner in names if names[owner] == node_name]
    if not chosen and not known_nodes:
        raise ParameterFileError(root.file, 1, node_name, f"no section for this node; found: {', '.join(root)}")
    sections = []
    for owner in chosen:
        inside = _mapping(root, owner)
        for key in inside:
            if key != "ros__parameters":
                inside.reject(key, "allowed here: ros__parameters")
            sections.append(_mapping(inside, key))
    return sections


def _mapping(around: FileMapping, key: str) -> FileMapping:
    found = around[key]
    if not isinstance(found, FileMapping):
        around.reject(key, "`name: value` lines are expected here")
    return found
