"""From a macro and its arguments to steps of plain numbers, each bound when it is asked for [US5231693 claim 7]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros.bound_values import Context, Scope, bound
from telerobot_nodes.macros.macro import Macro, MacroStep
from telerobot_nodes.macros.macro_files import MacroFolder
from telerobot_nodes.rtc.skills import ExpressionError

MOST_STEPS = 5000  # of a macro with all that it uses and repeats


@dataclass(frozen=True)
class BoundStep:
    """A step with all its numbers. `label`: macro/step, `#2` at its second turn."""

    label: str
    step: MacroStep
    values: Mapping[str, Any]  # of the primitive
    text: str = ""

    def reject(self, error: InvalidValueError) -> NoReturn:
        """Raise ParameterFileError at the line of a refused value."""
        key = error.field.split("[")[0].split(" ")[0]  # of via_points[3], or tr_tn_dest (length)
        self.step.reject(key, f"{error.value!r}: {error.allowed}")


def steps_of(
    folder: MacroFolder, name: str, arguments: Mapping[str, object], context: Callable[[], Context]
) -> Iterator[BoundStep]:
    """The steps of a macro in their order, nested ones in place; each is computed from the context of its moment.

    Raises InvalidValueError of an argument at once, NoMacroError, and ParameterFileError at the line of a step.
    """
    folder.closure(name)  # no cycle below
    macro = folder.get(name)
    return _counted(_steps(folder, macro, macro.arguments(arguments), context, name))


def _counted(steps: Iterator[BoundStep]) -> Iterator[BoundStep]:
    for number, step in enumerate(steps):
        if number == MOST_STEPS:
            raise InvalidValueError("steps", step.label, f"allowed: {MOST_STEPS} with all that is used and repeated")
        yield step


def _steps(
    folder: MacroFolder, macro: Macro, given: Mapping[str, Any], context: Callable[[], Context], above: str
) -> Iterator[BoundStep]:
    for step in macro.steps:
        for turn in range(1, step.repeat + 1):
            label = f"{above}/{step.name}" + (f"#{turn}" if turn > 1 else "")
            now = _bound(label, step, Scope(given, context()))
            if step.macro:
                inner = folder.get(step.macro)
                yield from _steps(folder, inner, _arguments(inner, now), context, label)
            else:
                yield now


def _bound(label: str, step: MacroStep, scope: Scope) -> BoundStep:
    key = "text"
    try:
        text = bound(step.text, scope)
        values = {}
        for key, value in step.values.items():
            values[key] = bound(value, scope)
    except (ExpressionError, InvalidValueError) as error:
        step.reject(key, str(error))
    return BoundStep(label, step, values, text)


def _arguments(inner: Macro, now: BoundStep) -> Mapping[str, Any]:
    try:
        return inner.arguments(now.values)
    except InvalidValueError as error:
        now.reject(error)
