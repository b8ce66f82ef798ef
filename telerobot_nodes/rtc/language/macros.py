"""Replacing names in a tree: canonical spelling, and parameters of macros [JPL-RTC]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TypeVar

from telerobot_nodes.rtc.language.errors import CommandError, did_you_mean
from telerobot_nodes.rtc.language.syntax import Define, Name, Position, Run, Statement

T = TypeVar("T")

MAX_STATEMENTS = 1000  # of a macro, all runs inside it expanded


def substitute(node: T, new_name: Callable[[Name], Name]) -> T:
    """The same tree with every name replaced; unchanged parts are shared."""
    if isinstance(node, Name):
        return new_name(node)  # type: ignore[return-value]
    if isinstance(node, tuple) and not isinstance(node, Position):
        items = tuple(substitute(item, new_name) for item in node)
        return items if any(a is not b for a, b in zip(items, node, strict=True)) else node  # type: ignore[return-value]
    if not hasattr(node, "__dataclass_fields__"):
        return node
    changed = {}
    for field in fields(node):  # type: ignore[arg-type]
        old = getattr(node, field.name)
        new = substitute(old, new_name)
        if new is not old:
            changed[field.name] = new
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def expand_macro(run: Run, macros: Mapping[str, Define], depth: int = 0) -> tuple[Statement, ...]:
    """The statements a macro stands for; raises CommandError for an unknown macro, wrong count, or a cycle."""
    macro = macros.get(run.name.text)
    if macro is None:
        raise CommandError(f"no macro {run.name.text!r}", run.name.at, hint=did_you_mean(run.name.text, macros))
    if len(run.arguments) != len(macro.parameters):
        problem = f"macro {macro.name.text!r} takes {len(macro.parameters)} names, not {len(run.arguments)}"
        raise CommandError(problem, run.at)
    if depth > len(macros):
        raise CommandError(f"macro {macro.name.text!r} runs itself", run.at)
    given = {formal.text: actual for formal, actual in zip(macro.parameters, run.arguments, strict=True)}
    out: list[Statement] = []
    for statement in substitute(macro.body, lambda name: given.get(name.text, name)):
        nested = isinstance(statement, Run) and not statement.forget
        out += expand_macro(statement, macros, depth + 1) if nested else (statement,)  # type: ignore[arg-type]
        if len(out) > MAX_STATEMENTS:
            raise CommandError(f"macro {macro.name.text!r} expands to more than {MAX_STATEMENTS} commands", run.at)
    return tuple(out)
