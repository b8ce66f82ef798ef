"""Rules of the grammar that differ in a word only, as tables; and what every rule does with its children.

What belongs here: names of rules and of what they become. Rules with a shape of their own are in `tree_builder.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from lark import Token

from telerobot_nodes.rtc.problems import CommandError
from telerobot_nodes.rtc.syntax import Constraint, Control, Name, Position, Quantity, Query, Setting

Children: TypeAlias = list[Any]
Rule: TypeAlias = Callable[[Any, Children], Any]  # a method of the tree builder

TASK_RULES = [
    "move",
    "touch",
    "follow",
    "approach",
    "retract",
    "lift",
    "grasp",
    "release",
    "pick",
    "place_",
    "turn",
    "open",
    "close",
    "insert",
    "remove",
    "seat",
    "push",
    "pull",
    "slide",
    "level",
    "polish",
    "inspect",
    "look",
    "locate",
    "hold",
    "comply",
    "teleoperate",
    "trade",
    "return_",
    "wait",
    "tare",
    "perform",
]
CONSTRAINT_KINDS = {
    "work_range": "safe-work-range",
    "task_region": "avoid-task-region",
    "neighbors": "avoid-neighbors",
    "pose_kept": "pose-during-motion",
    "upright": "upright",
    "speed": "speed",
    "acceleration": "acceleration",
    "force": "force",
    "torque": "torque",
    "clearance": "clearance",
    "stiffness": "stiffness",
}
OPTION_TOKENS = frozenset(
    ["FREE", "GUARDED", "REVERSED", "CLOCKWISE", "COUNTERCLOCKWISE", "GRIPPER", "TOOL", "WORLD", "CAMERA"],
)
SETTING_RULES = {
    "timeout": "timeout",
    "retry": "retry",
    "busy": "busy",
    "report": "report",
    "interpolate": "interpolate",
    "mode": "mode",
    "payload": "payload",
    "tool": "tool",
    "frame": "frame",
    "dither": "dither",
    "label": "as",
    "note": "note",
}
SUBJECTS = frozenset(["DATABASE", "RESOURCES", "COMMANDS", "TASKS", "SKILLS", "OBJECTS", "MACROS"])


def position(token: Token) -> Position:
    """Where a token stands."""
    return Position(token.line, token.column, token.start_pos, token.end_pos)


def keyword(token: Token) -> str:
    """The word of a keyword token as it is printed."""
    return str(token).lower().replace("_", "-")


def only(children: Children, kind: type) -> Any:
    """The first child of a kind; None when there is none."""
    for child in children:
        if type(child) is kind:
            return child
    return None


def all_of(children: Children, kind: type) -> tuple[Any, ...]:
    """Every child of a kind."""
    return tuple(child for child in children if type(child) is kind)


def whole(quantity: Quantity, what: str) -> int:
    """A whole number from 1; raises CommandError naming `what` it counts."""
    if quantity.unit or quantity.number != int(quantity.number) or quantity.number < 1:
        raise CommandError(f"{what} must be a whole number from 1, without unit", quantity.at)
    return int(quantity.number)


def unquote(text: str) -> str:
    """The text inside double quotes, escapes resolved; empty for no text."""
    out, escaped = [], False
    for char in text[1:-1]:
        if escaped or char != "\\":
            out.append(char)
            escaped = False
        else:
            escaped = True
    return "".join(out)


def _head(verb: str) -> Rule:
    return lambda _self, c: (verb, position(c[0]), c)


def _constraint(kind: str) -> Rule:
    return lambda _self, c: Constraint(kind, only(c, Quantity), only(c, Name), position(c[0]))


def _setting(kind: str) -> Rule:
    def build(_self: Any, c: Children) -> Setting:
        value = next((child for child in c if not isinstance(child, Token)), None)
        if value is None:
            value = unquote(str(c[-1])) if c[-1].type == "STRING" else keyword(c[-1])
        return Setting(kind, value, position(c[0]))

    return build


def _scope(build_type: type[Control] | type[Query], verb: str) -> Rule:
    def build(_self: Any, c: Children) -> Control | Query:
        scope: dict[str, Any] = dict(child for child in c if type(child) is tuple)
        return build_type(verb, name=only(c, Name), at=position(c[0]), **scope)

    return build


RULES: dict[str, Rule] = {
    **{rule: _head(rule.rstrip("_")) for rule in TASK_RULES},
    **{rule: _constraint(kind) for rule, kind in CONSTRAINT_KINDS.items()},
    **{rule: _setting(kind) for rule, kind in SETTING_RULES.items()},
    **{rule: _scope(Control, rule) for rule in ("halt", "pause", "resume", "cancel", "reset", "reload")},
    **{rule: _scope(Query, rule) for rule in ("status", "where")},
}
