"""Parameter files: ROS layout read strictly into one validated dataclass per node.

ROS accepts NaN, duplicate and unknown keys and files for another node without a word; here each is refused with
file, line and key. A node's dataclass is frozen, its fields made by `parameter`.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from telerobot_nodes.errors import InvalidValueError, ParameterFileError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class ParameterInfo:
    """What is known of a parameter besides its type and default."""

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


def parameter_info(cls: type) -> dict[str, ParameterInfo]:
    """Description of each parameter of a node's dataclass, by name."""
    fields = dataclasses.fields(cls)
    return {f.name: f.metadata.get("parameter", ParameterInfo("", -math.inf, math.inf, "")) for f in fields}


def check_parameter(cls: type, name: str, value: object) -> Any:
    """`value` as the field's type; raises InvalidValueError naming the parameter, the value and what is allowed."""
    info = parameter_info(cls).get(name)
    if info is None:
        raise InvalidValueError(name, value, f"allowed names: {', '.join(parameter_info(cls))}")
    kind = typing.get_type_hints(cls)[name]
    if typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0]
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InvalidValueError(name, value, f"allowed: a list of {element.__name__}")
        return tuple(_scalar(f"{name}[{i}]", item, element, info) for i, item in enumerate(value))
    return _scalar(name, value, kind, info)


def _scalar(name: str, value: object, kind: type, info: ParameterInfo) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
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
    path = Path(file)
    sections = _sections(path, node_name, known_nodes)
    values: dict[str, Any] = {}
    for section in sections:
        for key, node in _items(path, section):
            values[key] = _value(cls, path, key, node)
    return cls(**values)


def _sections(path: Path, node_name: str, known_nodes: Sequence[str]) -> list[yaml.Node]:
    """The `ros__parameters` mappings that apply, the wildcard's first."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ParameterFileError(str(path), line, "YAML", str(error.problem)) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterFileError(str(path), 0, "file", f"not readable: {error}") from None
    owners = dict(_items(path, root))
    chosen = [owners[key] for key in sorted(owners, key=len) if key == "/**"]
    chosen += [owners[key] for key in owners if key != "/**" and key.rsplit("/", 1)[-1] == node_name]
    for key, node in _items(path, root):
        if known_nodes and key != "/**" and key.rsplit("/", 1)[-1] not in known_nodes:
            raise ParameterFileError(str(path), _line(node), key, f"no such node; one of {', '.join(known_nodes)}")
    if not chosen and not known_nodes:
        raise ParameterFileError(str(path), 1, node_name, f"no section for this node; found: {', '.join(owners)}")
    sections = []
    for owner in chosen:
        for key, node in _items(path, owner):
            if key != "ros__parameters":
                raise ParameterFileError(str(path), _line(node), key, "allowed here: ros__parameters")
            sections.append(node)
    return sections


def _items(path: Path, node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    """Keys and value nodes of a mapping; duplicate keys and anything but a mapping are refused."""
    if not isinstance(node, yaml.MappingNode):
        raise ParameterFileError(str(path), _line(node), "mapping", "`key: value` lines are expected here")
    seen: list[tuple[str, yaml.Node]] = []
    for key_node, value_node in node.value:
        key = str(key_node.value)
        if key in (name for name, _ in seen):
            raise ParameterFileError(str(path), _line(key_node), key, "given twice")
        seen.append((key, value_node))
    return seen


def _value(cls: type, path: Path, key: str, node: yaml.Node) -> Any:
    try:
        plain = yaml.SafeLoader("").construct_object(node, deep=True)
        return check_parameter(cls, key, plain)
    except InvalidValueError as error:
        raise ParameterFileError(str(path), _line(node), error.field, f"{error.value!r}: {error.allowed}") from None
    except yaml.YAMLError as error:
        raise ParameterFileError(str(path), _line(node), key, str(error)) from None


def _line(node: yaml.Node | None) -> int:
    return node.start_mark.line + 1 if node is not None else 0
