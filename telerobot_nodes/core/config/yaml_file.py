"""The strict reader of every YAML file: values into frozen dataclasses; errors name file, line, column and key.

Rejected: unknown, missing and duplicate keys, wrong types, numbers out of bounds or not finite. The dataclass is the
schema: its type hints, annotated with a `Key` where the file has another name or bounds.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar

import yaml

from telerobot_nodes.errors import InvalidValueError, ParameterFileError, TelerobotError

T = TypeVar("T")
MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 20
MAX_VALUES = 1_000_000  # of a file, with those behind each of its aliases
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, compiled, where it was built
_MERGE = "tag:yaml.org,2002:merge"  # of the key <<
_POWER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")  # 1e-3: a text in YAML 1.1, a number to people
_KINDS = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}


_TRUTH = {"yes": True, "on": True, "no": False, "off": False}  # words of YAML 1.1, as ROS reads them


class Mark(typing.NamedTuple):
    """A place in a file, from 1; 0: not known."""

    line: int = 0
    column: int = 0


class FileMapping(dict[str, Any]):
    """A mapping of a file that knows where each key stands."""

    def __init__(self, file: str = "", mark: Mark = Mark()) -> None:  # noqa: B008 -- a value
        super().__init__()
        self.file, self.mark = file, mark
        self.marks: dict[str, Mark] = {}

    def at(self, key: str) -> Mark:
        """Where a key stands; the mapping's own place for a key that it has not."""
        return self.marks.get(key, self.mark)

    def reject(self, key: str, problem: str) -> NoReturn:
        """Raise ParameterFileError at a key."""
        line, column = self.at(key)
        raise ParameterFileError(self.file, line, key, problem.strip("; "), column)


def read_yaml(path: Path, file: str = "") -> FileMapping:
    """The mapping of a file, shown as `file` in errors (empty: its path). Raises ParameterFileError."""
    return parse_yaml(read_yaml_text(path, file), file or str(path))


def read_yaml_text(path: Path, file: str = "") -> str:
    """The text of a YAML file, shown as `file` in errors (empty: its path). Raises ParameterFileError."""
    shown = file or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterFileError(shown, 0, "file", f"not readable: {error}") from None
    if len(text) > MAX_CHARACTERS:
        raise ParameterFileError(shown, 0, "file", f"allowed: up to {MAX_CHARACTERS} characters")
    return text


def parse_yaml(text: str, shown: str) -> FileMapping:
    """The mapping that the text of a file stands for, named `shown` in errors. Raises ParameterFileError."""
    try:
        _refuse_deep(text, shown)
        node = yaml.compose(text, Loader=_LOADER)
        value = _Builder(shown).value(node, 0)
    except yaml.MarkedYAMLError as error:
        line, column = _mark(error.problem_mark) if error.problem_mark else Mark()
        raise ParameterFileError(shown, line, "YAML", f"not readable: {error.problem}", column) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ParameterFileError(shown, 0, "file", f"not readable: {error}") from None
    if not isinstance(value, FileMapping):
        raise ParameterFileError(shown, 1 if node else 0, "mapping", "`key: value` lines are expected here")
    return value


def _refuse_deep(text: str, file: str) -> None:
    """Raise ParameterFileError for nesting that the reader, which is recursive and compiled, would not survive."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH + 1:
            _too_deep(file, event.start_mark)


def _too_deep(file: str, mark: yaml.Mark) -> NoReturn:
    line, column = _mark(mark)
    raise ParameterFileError(file, line, "YAML", f"values nest at most {MAX_DEPTH} deep", column)


def _mark(mark: yaml.Mark) -> Mark:
    return Mark(mark.line + 1, mark.column + 1)


class _Builder:
    """From YAML nodes to Python values; a node behind several aliases becomes one shared value."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._scalars = yaml.SafeLoader("")
        self._done: dict[int, Any] = {}
        self._open: set[int] = set()
        self._counts: dict[int, int] = {}  # values in a node, with those behind its aliases

    def value(self, node: yaml.Node | None, depth: int) -> Any:
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode):
            word = node.tag.endswith(":bool") and node.value.lower() in _TRUTH  # a text, until a truth value is needed
            return node.value if word else self._scalar(node)
        if id(node) not in self._done:
            if id(node) in self._open or depth > MAX_DEPTH:
                _too_deep(self._file, node.start_mark)
            self._open.add(id(node))
            if isinstance(node, yaml.MappingNode):
                self._done[id(node)] = self._mapping(node, depth)
            else:
                self._done[id(node)] = [self.value(item, depth + 1) for item in node.value]
            self._count(node)
        return self._done[id(node)]

    def _count(self, node: yaml.Node) -> None:
        """Refuse what is small as a text, and too much for whoever walks through it: lists of aliases of lists."""
        mapping = isinstance(node, yaml.MappingNode)
        below = (value for _, value in node.value) if mapping else node.value
        self._counts[id(node)] = 1 + sum(self._counts.get(id(item), 1) for item in below)
        if self._counts[id(node)] > MAX_VALUES:
            line, column = _mark(node.start_mark)
            problem = f"with its aliases it has more than {MAX_VALUES} values"
            raise ParameterFileError(self._file, line, "YAML", problem, column)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        """The value of a scalar, which may only look like one of its type: 2026-13-45, !!int x, 400 digits."""
        if not node.style and node.tag.endswith(":str") and _POWER.fullmatch(node.value):
            return float(node.value)
        try:
            value = self._scalars.construct_object(node)
            if type(value) is int:
                float(value)
        except (ValueError, LookupError, OverflowError, AttributeError):
            line, column = _mark(node.start_mark)
            kind = node.tag.rpartition(":")[2]
            problem = f"{shortened(node.value)} is no {kind}; a text stands in quotes"
            raise ParameterFileError(self._file, line, "YAML", problem, column) from None
        return value

    def _mapping(self, node: yaml.MappingNode, depth: int) -> FileMapping:
        mapping = FileMapping(self._file, _mark(node.start_mark))
        merged = []
        for key_node, value_node in node.value:
            key, value = str(key_node.value), self.value(value_node, depth + 1)
            at = _mark(key_node.start_mark)
            if key_node.tag == _MERGE:
                merged += value if isinstance(value, list) else [value]
            elif key in mapping:
                raise ParameterFileError(self._file, at.line, key, "given twice", at.column)
            else:
                mapping.marks[key], mapping[key] = at, value
        for part in merged:  # the mapping's own keys come first, then the earlier part's
            if not isinstance(part, FileMapping):
                mapping.reject("<<", "a mapping is expected, or a list of them")
            for key in [key for key in part if key not in mapping]:
                mapping.marks[key], mapping[key] = part.marks[key], part[key]
        return mapping


@dataclass(frozen=True)
class Key:
    """Where a field's value comes from in the file, and its bounds: `Annotated[float, Key("speed", low=0.0)]`."""

    name: str = ""  # of the key; empty: the field's
    low: float = -math.inf
    high: float = math.inf
    part: Literal["value", "key", "source"] = "value"  # key: the mapping's own in that around it; source: the mapping


OWN_KEY = Key(part="key")
SOURCE = Key(part="source")


@dataclass(frozen=True)
class Rules:
    """How a room reads its own types; `prepare(key, value, known keys)` may rename a key and convert its value."""

    converters: Mapping[Any, Callable[[Any], Any]] = dataclasses.field(default_factory=dict)
    prepare: Callable[[str, Any, frozenset[str]], tuple[str, Any]] = lambda key, value, known: (key, value)


PLAIN = Rules()
_Rows: TypeAlias = dict[str, tuple[str, Any, Key]]  # key in the file to field, type, description


class Spot(typing.NamedTuple):
    """Where a value stands in a file."""

    file: str
    mark: Mark = Mark()
    key: str = ""

    def below(self, mapping: Mapping[str, Any], name: str) -> Spot:
        """The spot of a key of a mapping."""
        mark = mapping.at(name) if isinstance(mapping, FileMapping) else self.mark
        return Spot(self.file, mark, f"{self.key}.{name}" if self.key else name)

    def item(self, number: int) -> Spot:
        """The spot of an element of a list."""
        return self._replace(key=f"{self.key}[{number}]")

    def reject(self, problem: str) -> NoReturn:
        """Raise ParameterFileError here."""
        raise ParameterFileError(self.file, self.mark.line, self.key or "mapping", problem, self.mark.column)


def build(cls: type[T], raw: object, spot: Spot, rules: Rules = PLAIN, own_key: str = "") -> T:
    """An object of a dataclass from a mapping; fields that are dataclasses are built the same way.

    Raises ParameterFileError.
    """
    if not isinstance(raw, Mapping):
        spot.reject(f"{shortened(raw)}: a mapping is needed")
    source = raw if isinstance(raw, FileMapping) else FileMapping(spot.file)
    spot = spot._replace(mark=spot.mark if spot.mark.line else source.mark)
    given = {"key": own_key, "source": source}
    rows = _fields(cls)  # type: ignore[arg-type]
    values = _values(raw, rows, spot, rules)
    values |= {field: given[info.part] for field, _, info in rows.values() if info.part != "value"}
    for entry in dataclasses.fields(cls):  # type: ignore[arg-type]
        if entry.default is MISSING and entry.default_factory is MISSING and entry.name not in values:
            word = next(word for word, (own, _, _) in rows.items() if own == entry.name)
            spot.below(raw, word).reject("the key is missing")
    try:
        return cls(**values)
    except InvalidValueError as error:
        spot.below(raw, error.field).reject(f"{shortened(error.value)}: {error.allowed}")
    except TelerobotError as error:
        spot.reject(str(error))


def _values(raw: Mapping[str, Any], rows: _Rows, spot: Spot, rules: Rules) -> dict[str, Any]:
    """Field to value, for the keys that a mapping has."""
    known = frozenset(word for word, (_, _, info) in rows.items() if info.part == "value")
    values: dict[str, Any] = {}
    for word, item in raw.items():
        name, value = _prepared(rules, str(word), item, known, spot.below(raw, str(word)))
        here = spot.below(raw, str(word))._replace(key=spot.below(raw, name).key)
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            here.reject(f"unknown key; {hint}allowed: {', '.join(sorted(known))}")
        field, kind, info = rows[name]
        values[field] = convert(kind, value, here, rules, info)
    return values


def convert(kind: Any, value: Any, spot: Spot, rules: Rules = PLAIN, info: Key | None = None) -> Any:
    """A value of the file as a type hint asks for; raises ParameterFileError."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    result: Any
    if origin in (typing.Union, types.UnionType):
        result = None if value is None else convert(arguments[0], value, spot, rules, info)
    elif kind in rules.converters:
        result = _converted(rules.converters[kind], value, spot)
    elif origin is tuple:
        result = _tuple(arguments[0], value, spot, rules, info)
    elif origin is collections.abc.Mapping:
        result = _mapping(arguments[1], value, spot, rules)
    elif dataclasses.is_dataclass(kind):
        result = build(typing.cast("type[Any]", kind), value, spot, rules)
    elif origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        result = _word(kind, value, spot)
    else:
        result = _scalar(kind, value, spot, info or Key())
    return result


def _converted(converter: Callable[[Any], Any], value: Any, spot: Spot) -> Any:
    try:
        return converter(value)
    except TelerobotError as error:
        spot.reject(str(error))


def _prepared(rules: Rules, name: str, value: Any, known: frozenset[str], spot: Spot) -> tuple[str, Any]:
    try:
        return rules.prepare(name, value, known)
    except InvalidValueError as error:
        spot.reject(str(error))


def _tuple(kind: Any, value: Any, spot: Spot, rules: Rules, info: Key | None) -> tuple[Any, ...]:
    """A list; one value stands for a list of one, a mapping for its items where the items know their key."""
    if isinstance(value, Mapping) and _has_own_key(kind):
        return tuple(build(kind, item, spot.below(value, word), rules, word) for word, item in value.items())
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(convert(kind, item, _spot_of(item, spot.item(i)), rules, info) for i, item in enumerate(items))


def _spot_of(item: object, spot: Spot) -> Spot:
    return spot._replace(mark=item.mark) if isinstance(item, FileMapping) else spot


def _mapping(kind: Any, value: Any, spot: Spot, rules: Rules) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        spot.reject(f"{shortened(value)}: a mapping is needed")
    if kind is Any or kind is object:
        return dict(
            _prepared(rules, str(word), item, frozenset(), spot.below(value, word)) for word, item in value.items()
        )
    if _has_own_key(kind):
        return {word: build(kind, item, spot.below(value, word), rules, word) for word, item in value.items()}
    return {word: convert(kind, item, spot.below(value, word), rules) for word, item in value.items()}


def _word(kind: Any, value: object, spot: Spot) -> Any:
    if typing.get_origin(kind) is Literal:
        words = {word: word for word in typing.get_args(kind)}
    else:
        words = {m.value if isinstance(m.value, str) else m.name.lower(): m for m in kind}
    if not isinstance(value, str) or value not in words:
        spot.reject(f"{shortened(value)} is not allowed; allowed: {', '.join(words)}")
    return words[value]


def _scalar(kind: Any, value: Any, spot: Spot, info: Key) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if kind is bool:
        value = truth(value)
    bounds = f"; allowed: {info.low:g} .. {info.high:g}" if info != Key(info.name) else ""
    if type(value) is not kind or value == "":
        spot.reject(f"{shortened(value)}: {_KINDS.get(kind, str(kind))} is needed{bounds}")
    if kind is float and not math.isfinite(value):
        spot.reject(f"{value} is not finite{bounds}")
    if kind in (int, float) and not info.low <= value <= info.high:
        spot.reject(f"{shortened(value)} is not allowed{bounds}")
    return value


@lru_cache(maxsize=200)
def _fields(cls: type) -> _Rows:
    """Key in the file to field, type and description."""
    rows = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        info = next((entry for entry in getattr(hint, "__metadata__", ()) if isinstance(entry, Key)), Key())
        rows[info.name or name] = (name, typing.get_args(hint)[0] if hasattr(hint, "__metadata__") else hint, info)
    return {word: row for word, row in rows.items() if row[0] in cls.__dataclass_fields__}  # type: ignore[attr-defined]


def _has_own_key(kind: Any) -> bool:
    is_class = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    return is_class and any(info.part == "key" for _, _, info in _fields(kind).values())


def truth(value: Any) -> Any:
    """True or false for yes, on, no, off in any case; another value as it is."""
    return _TRUTH.get(value.lower(), value) if isinstance(value, str) else value


def finite(value: Any) -> bool:
    """Whether every number in a value is finite."""
    if isinstance(value, Mapping):
        return all(finite(item) for item in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return all(finite(item) for item in value)
    return not isinstance(value, float) or math.isfinite(value)
