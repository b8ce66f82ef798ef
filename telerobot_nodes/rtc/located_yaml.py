"""YAML whose every value knows its file and line, read key by key with nothing unknown left over [JPL-RTC data files].

Refuses duplicate keys, unknown keys, wrong types, numbers that are not finite; ParameterFileError names the line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import yaml

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.expressions import Expression, ExpressionError, compile_expression
from telerobot_nodes.rtc.problems import did_you_mean

MAX_DEPTH = 20
MAX_BYTES = 1_000_000


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, compiled, where it was built


class Section:
    """A mapping of a file. Keys are taken out one by one; `end()` refuses what is left."""

    def __init__(self, file: str, node: yaml.MappingNode, depth: int = 0) -> None:
        self.file = file
        self.line: int = node.start_mark.line + 1
        self._depth = depth
        self._nodes: dict[str, yaml.Node] = {}
        self._lines: dict[str, int] = {}
        self._known: set[str] = set()
        if depth > MAX_DEPTH:
            self.refuse("", f"mappings nest at most {MAX_DEPTH} deep")
        for key_node, value in node.value:
            key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else ""
            self._lines.setdefault(key, key_node.start_mark.line + 1)
            if not key or key in self._nodes:
                raise ParameterFileError(
                    file, key_node.start_mark.line + 1, key or "?", "the key is given twice or bad"
                )
            self._nodes[key] = value

    def refuse(self, key: str, problem: str) -> NoReturn:
        """Raise ParameterFileError at the line of `key`."""
        raise ParameterFileError(self.file, self._lines.get(key, self.line), key or "-", problem)

    def line_of(self, key: str) -> int:
        """Line of a key, or of the section."""
        return int(self._lines.get(key, self.line))

    def names(self) -> tuple[str, ...]:
        """Every key, in the order of the file."""
        return tuple(self._nodes)

    def has(self, key: str) -> bool:
        """True when the key is there."""
        self._known.add(key)
        return key in self._nodes

    def end(self) -> None:
        """Refuse every key nobody asked for."""
        for key in self._nodes:
            if key not in self._known:
                self.refuse(key, f"unknown key; {did_you_mean(key, self._known) or 'known: ' + ', '.join(self._known)}")

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required without `default`."""
        node = self._take(key, default is None)
        if node is None:
            return default or ""
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            self.refuse(key, "a text is needed")
        return str(node.value)

    def word(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of a few words."""
        value = self.text(key, default)
        if value not in allowed:
            self.refuse(key, f"{value!r} is not allowed; allowed: {', '.join(allowed)}")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        node = self._take(key, False)
        if node is None:
            return default
        if getattr(node, "value", None) not in ("true", "false"):
            self.refuse(key, "true or false is needed")
        return bool(node.value == "true")

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """A finite number in [low, high]."""
        node = self._take(key, default is None)
        if node is None:
            return float(default or 0.0)
        try:
            value = float(node.value) if isinstance(node, yaml.ScalarNode) else math.nan
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            self.refuse(key, f"{getattr(node, 'value', node)!r} is not allowed; allowed: {low:g} .. {high:g}")
        return value

    def expression(self, key: str) -> Expression:
        """An expression, or a number or list that stands for itself."""
        return self._expression(key, self._take(key, True))

    def maybe_expression(self, key: str) -> Expression | None:
        """An expression, or None when the key is absent."""
        return self.expression(key) if self.has(key) else None

    def expressions(self, key: str) -> dict[str, Expression]:
        """A mapping of names to expressions; empty when absent."""
        section = self.maybe_section(key)
        return {} if section is None else {name: section.expression(name) for name in section.names()}

    def value(self, key: str) -> object:
        """Numbers, texts, booleans, lists and mappings as Python values, finite."""
        node = self._take(key, True)
        built = yaml.SafeLoader("").construct_object(node, deep=True) if node is not None else None
        for number in _numbers(built):
            if not math.isfinite(number):
                self.refuse(key, f"{number} is not finite")
        return built

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; a single text stands for a list of one; empty when absent."""
        node = self._take(key, False)
        if node is None:
            return ()
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not all(isinstance(item, yaml.ScalarNode) for item in nodes):
            self.refuse(key, "a list of texts is needed")
        return tuple(str(item.value) for item in nodes)

    def section(self, key: str) -> Section:
        """A mapping; required."""
        node = self._take(key, True)
        if not isinstance(node, yaml.MappingNode):
            self.refuse(key, "a mapping is needed")
        return Section(self.file, node, self._depth + 1)

    def maybe_section(self, key: str) -> Section | None:
        """A mapping, or None when absent."""
        return self.section(key) if self.has(key) else None

    def sections(self, key: str) -> Iterator[Section]:
        """A list of mappings; a single mapping stands for a list of one; nothing when absent."""
        node = self._take(key, False)
        if node is None:
            return
        for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(item, yaml.MappingNode):
                self.refuse(key, "a list of mappings is needed")
            yield Section(self.file, item, self._depth + 1)

    def _take(self, key: str, required: bool) -> yaml.Node | None:
        self._known.add(key)
        node = self._nodes.get(key)
        if node is None and required:
            self.refuse(key, "the key is missing")
        return node

    def _expression(self, key: str, node: yaml.Node | None) -> Expression:
        try:
            if isinstance(node, yaml.ScalarNode):
                text = {"true": "True", "false": "False"}.get(node.value, node.value)
                return compile_expression(text)
            return compile_expression(self.value(key))
        except ExpressionError as error:
            self.refuse(key, str(error))


def read_yaml(file: Path) -> Section:
    """The mapping of a file; raises ParameterFileError when it is not one."""
    try:
        text = file.read_text(encoding="utf-8")
        if len(text) > MAX_BYTES:
            raise ParameterFileError(file.name, 1, "-", f"the file is longer than {MAX_BYTES} characters")
        node = yaml.compose(text, _LOADER)
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterFileError(file.name, 1, "-", str(error)) from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise ParameterFileError(file.name, line, "-", getattr(error, "problem", None) or str(error)) from error
    if not isinstance(node, yaml.MappingNode):
        raise ParameterFileError(file.name, 1, "-", "the file is not a mapping")
    return Section(file.name, node)


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
