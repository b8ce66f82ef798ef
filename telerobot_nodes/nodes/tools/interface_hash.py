"""One number for topics and messages: two hosts with another one would misread each other's bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from telerobot_nodes.graph import Topic
from telerobot_nodes.nodes.framework import interface_class

HASH_BYTES = 8
_PLAIN = (bool, int, float, str)  # kinds of constants
_NESTED = re.compile(r"(\w+)/(\w+)")


def interface_hash(topics: Iterable[Topic]) -> bytes:
    """(8 bytes) hash of names, how they cross, and every field and constant of the messages, nested ones too."""
    lines: dict[str, str] = {}
    for number, entry in enumerate(topics):
        lines[f"topic {number}"] = f"{entry.name} {entry.type} {entry.crosses}"
        _describe(entry.type, lines)
    text = "\n".join(f"{name}: {lines[name]}" for name in sorted(lines))
    return hashlib.sha256(text.encode()).digest()[:HASH_BYTES]


def _describe(type_name: str, lines: dict[str, str]) -> None:
    if type_name in lines:
        return
    cls: Any = interface_class(type_name)
    fields = cls.get_fields_and_field_types()
    constants = {
        name: value for name, value in sorted(vars(cls).items()) if isinstance(value, _PLAIN) and name.isupper()
    }
    lines[type_name] = f"{fields} {constants}"
    for kind in fields.values():
        for package, name in _NESTED.findall(kind):
            _describe(f"{package}/msg/{name}", lines)
