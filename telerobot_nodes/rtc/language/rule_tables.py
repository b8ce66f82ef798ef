"""Rules of the grammar that differ in a word or a class only, as tables; helpers for the children of a rule.

Rules with a shape of their own are methods of `tree_builder.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from lark import Token

from telerobot_nodes.rtc.language import syntax as tree
from telerobot_nodes.rtc.language.errors import CommandError
from telerobot_nodes.rtc.language.syntax import Control, Name, Position, Quantity, Query

Children: TypeAlias = list[Any]
Rule: TypeAlias = Callable[[Any, Children], Any]  # a method of the tree builder

TASK_RULES = (
    *("move", "touch", "follow", "approach", "retract", "lift", "grasp", "release", "pick", "place_", "turn", "open"),
    *("close", "insert", "remove", "seat", "push", "pull", "slide", "level", "polish", "inspect", "look", "locate"),
    *("hold", "comply", "teleoperate", "trade", "return_", "wait", "tare", "perform"),
)
TASK_VERBS = frozenset(rule.rstrip("_") for rule in TASK_RULES)
SETTING_RULES = (
    *("timeout", "retry", "busy", "report", "interpolate", "mode", "payload", "tool", "frame", "dither", "note"),
    "label",
)
CONTROL_RULES = ("halt", "pause", "resume", "step", "continue_", "clear", "cancel", "reset", "reload")
CLAUSE_CLASSES = {
    "guarded": tree.Guarded,
    "via_operator": tree.ViaOperator,
    "reflex": tree.Reflex,
    "until": tree.Until,
}
LIST_CLASSES = {"try_": tree.Trial, "with_": tree.With, "via_places": tree.ViaPlaces, "maintain": tree.Maintain}
CONSTRAINT_KINDS = {
    "work_range": "safe-work-range",
    "task_region": "avoid-task-region",
    "neighbors": "avoid-neighbors",
    "pose_kept": "pose-during-motion",
    **{kind: kind for kind in ("upright", "speed", "acceleration", "force", "torque", "clearance", "stiffness")},
}
OPTION_TOKENS = frozenset(
    ["FREE", "GUARDED", "REVERSED", "CLOCKWISE", "COUNTERCLOCKWISE", "GRIPPER", "TOOL", "WORLD", "CAMERA"],
)
SUBJECTS = frozenset(["DATABASE", "RESOURCES", "COMMANDS", "TASKS", "SKILLS", "OBJECTS", "MACROS"])


def position(token: Token) -> Position:
    """Where a token stands; a token that was not read from a text stands nowhere."""
    return Position(token.line or 0, token.column or 0, token.start_pos or 0, token.end_pos or 0)


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


def _made(cls: Callable[..., Any]) -> Rule:
    """The children that are no tokens are the fields, in order."""
    return lambda _self, c: cls(*(child for child in c if not isinstance(child, Token)), at=position(c[0]))


def _collected(cls: Callable[..., Any]) -> Rule:
    """The children that are no tokens are one list."""
    return lambda _self, c: cls(tuple(child for child in c if not isinstance(child, Token)), at=position(c[0]))


def _constraint(kind: str) -> Rule:
    return lambda _self, c: tree.Constraint(kind, only(c, Quantity), only(c, Name), position(c[0]))


def _setting(kind: str) -> Rule:
    def build(_self: Any, c: Children) -> tree.Setting:
        value = next((child for child in c if not isinstance(child, Token)), None)
        if value is None:
            value = unquote(str(c[-1])) if c[-1].type == "STRING" else keyword(c[-1])
        return tree.Setting(kind, value, position(c[0]))

    return build


def _scope(build_type: type[Control] | type[Query], verb: str) -> Rule:
    def build(_self: Any, c: Children) -> Control | Query:
        scope: dict[str, Any] = dict(child for child in c if type(child) is tuple)
        return build_type(verb, name=only(c, Name), at=position(c[0]), **scope)

    return build


RULES: dict[str, Rule] = {
    **{rule: _head(rule.rstrip("_")) for rule in TASK_RULES},
    **{rule: _constraint(kind) for rule, kind in CONSTRAINT_KINDS.items()},
    **{rule: _setting("as" if rule == "label" else rule) for rule in SETTING_RULES},
    **{rule: _made(cls) for rule, cls in CLAUSE_CLASSES.items()},
    **{rule: _collected(cls) for rule, cls in LIST_CLASSES.items()},
    **{rule: _scope(Control, rule.rstrip("_")) for rule in CONTROL_RULES},
    **{rule: _scope(Query, rule) for rule in ("status", "where")},
}
