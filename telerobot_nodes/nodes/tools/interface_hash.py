"""One number for all that crosses: two hosts with another one would misread each other's bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from telerobot_nodes.graph import Service, Topic
from telerobot_nodes.nodes.framework import interface_class

HASH_BYTES = 8
_PLAIN = (bool, int, float, str)  # kinds of constants
_NESTED = re.compile(r"(\w+)/(\w+)")


def interface_hash(topics: Iterable[Topic], requests: Iterable[Service]) -> bytes:
    """(8 bytes) hash of names, how they cross, and every field and constant of the messages, nested ones too.

    A topic without a type carries `requests`, whose interfaces count as well.
    """
    lines: dict[str, str] = {}
    for number, entry in enumerate(topics):
        lines[f"topic {number}"] = f"{entry.name} {entry.type} {entry.crosses}"
        if entry.type:
            _describe(interface_class(entry.type), lines)
    for request in requests:
        kind = interface_class(request.type)
        lines[f"request {request.name}"] = f"{request.type} {request.stops}"
        for part in ("Request", "Response", "Goal", "Feedback", "Result"):
            if hasattr(kind, part):
                _describe(getattr(kind, part), lines)
    text = "\n".join(f"{name}: {lines[name]}" for name in sorted(lines))
    return hashlib.sha256(text.encode()).digest()[:HASH_BYTES]


def _describe(cls: Any, lines: dict[str, str]) -> None:
    name = f"{cls.__module__}.{cls.__name__}"
    if name in lines:
        return
    fields = cls.get_fields_and_field_types()
    constants = {
        name: value for name, value in sorted(vars(cls).items()) if isinstance(value, _PLAIN) and name.isupper()
    }
    lines[name] = f"{fields} {constants}"
    for kind in fields.values():
        for package, inner in _NESTED.findall(kind):
            _describe(interface_class(f"{package}/msg/{inner}"), lines)
