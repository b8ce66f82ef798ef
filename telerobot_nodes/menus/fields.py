"""From what a parameter is declared as to the field of a form that sets it, or a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import MacroParameter
from telerobot_nodes.menus.menu import Ask
from telerobot_nodes.menus.parts import HALF_TURN, Part, value_of
from telerobot_nodes.motion.parameters import Declaration
from telerobot_nodes.operator.forms import FormField, Sort

IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def base_value(robot: RobotModel, declaration: Declaration, presets: Mapping[str, Any]) -> Any:
    """A parameter's value before a field sets it: the preset, else the default; for a goal without one, home."""
    value = presets.get(declaration.name, declaration.default)
    if isinstance(value, list):
        value = tuple(value)
    if value != ():
        return value
    if declaration.name == "joint_dest":
        return tuple(round(float(angle), 6) for angle in robot.home)
    if declaration.name == "tr_tn_dest":
        pose = pose_from_se3(robot.forward(robot.home))
        return (*(round(float(number), 6) for number in pose[:3]), *map(float, pose[3:]))
    return IDENTITY if declaration.shape.pose else ()


def primitive_field(
    ask: Ask, part: Part, declaration: Declaration, value: Any, presets: Mapping[str, Any]
) -> FormField:
    """The field of a part of a primitive's parameter. Raises InvalidValueError naming a key of the ask."""
    info = declaration.info
    low, high = info.low, info.high
    if declaration.shape.pose and part.turns:
        low, high = -HALF_TURN, HALF_TURN
    sort = _sort(part, declaration)
    default = value_of(part, declaration, value)
    if part.sign < 0.0:
        low, high, default = -high, -low, -default
    count = declaration.shape.length or (len(value) if declaration.name == "joint_dest" else 0)
    return _narrowed(
        ask,
        FormField(
            name=ask.name,
            sort=sort,
            default=default,
            unit=_unit(part, declaration, presets),
            low=low,
            high=high,
            doc=ask.doc or info.doc,
            choices=info.choices,
            count=count if sort in (Sort.NUMBERS, Sort.FLAGS) else 0,
        ),
    )


def macro_field(ask: Ask, parameter: MacroParameter, preset: Any) -> FormField:
    """The field of a macro's parameter. Raises InvalidValueError naming a key of the ask, or the parameter."""
    values = parameter.default if preset is None else parameter.check(preset)
    several = len(values) > 1
    return _narrowed(
        ask,
        FormField(
            name=ask.name,
            sort=Sort.NUMBERS if several else Sort.NUMBER,
            default=values if several else values[0],
            unit=parameter.unit,
            low=parameter.low,
            high=parameter.high,
            doc=ask.doc or parameter.doc,
            count=len(values) if several else 0,
        ),
    )


def _narrowed(ask: Ask, field: FormField) -> FormField:
    """The field with the bounds that the file gives. Raises InvalidValueError at `low`, `high`, or at the field."""
    for key in ("low", "high"):
        bound = getattr(ask, key)
        if bound is None:
            continue
        if field.sort not in (Sort.NUMBER, Sort.NUMBERS, Sort.WHOLE) or not field.low <= bound <= field.high:
            allowed = field.allowed if field.sort in (Sort.NUMBER, Sort.NUMBERS, Sort.WHOLE) else "allowed: no bounds"
            raise InvalidValueError(key, bound, allowed)
    low = field.low if ask.low is None else ask.low
    high = field.high if ask.high is None else ask.high
    if low > high:
        raise InvalidValueError("high", high, f"allowed: {low:g} or more, which is `low`")
    narrowed = replace(field, low=low, high=high)
    default = narrowed.default
    if isinstance(default, float):
        default = round(default, 9) + 0.0  # an angle of a pose: 45, not 45.00000000000001; 0, not -0
    if default == ():
        return narrowed  # none is given; the primitive says whether it may be left out
    try:
        return replace(narrowed, default=narrowed.read(default))
    except InvalidValueError as error:
        raise InvalidValueError("sets", error.value, f"as its default; {error.allowed}") from None


def _sort(part: Part, declaration: Declaration) -> Sort:
    whole = part.index is None
    if declaration.selects:
        return Sort.FLAGS if whole else Sort.FLAG
    plain = {bool: Sort.FLAG, int: Sort.WHOLE, str: Sort.CHOICE, float: Sort.NUMBER}
    return plain.get(declaration.kind, Sort.NUMBERS if whole else Sort.NUMBER)


def _unit(part: Part, declaration: Declaration, presets: Mapping[str, Any]) -> str:
    """The unit of a part, of a declared unit such as `m/s, rad/s`; that of a duration or speed, of which it is."""
    unit = declaration.info.unit
    if declaration.shape.pose:
        return unit if part.index is None else ("deg" if part.turns else "m")
    if declaration.name == "time_vel_val":
        duration, _, speed = unit.partition(" or ")
        return duration if presets.get("time_vel_sel") == "time" else speed
    translation, _, rotation = unit.partition(", ")
    return unit if part.index is None or not rotation else (rotation if part.turns else translation)
