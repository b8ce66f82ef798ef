"""Expressions of the skill files: arithmetic, comparisons and poses, nothing else [JPL-RTC figure 4].

The grammar is that of Python's expressions, restricted to harmless nodes; the tree is evaluated node by node, so that a
file can compute but not act.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol

import numpy as np

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.language import did_you_mean
from telerobot_nodes.rtc.skills import pose_functions as _poses

MAX_LENGTH = 500  # [characters]
KEPT = 4096  # expressions, a library has a tenth


class ExpressionError(TelerobotError):
    """An expression is malformed, or cannot be computed from the known values."""


class NotYetKnownError(TelerobotError):
    """The value comes from a step that has not run yet."""


class Scope(Protocol):
    """Source of the values of names."""

    def lookup(self, name: str) -> object:
        """The value of a name; raises ExpressionError or NotYetKnownError."""

    def call(self, name: str, arguments: list[Any]) -> object:
        """A function that depends on the world, or NotImplemented."""


class Thing(str):
    """The name of an entity, whose attributes are looked up when an expression asks for them."""

    _read: Callable[[str, str], object]

    def __new__(cls, name: str, read: Callable[[str, str], object]) -> Thing:  # noqa: D102
        thing = super().__new__(cls, name)
        thing._read = read
        return thing

    def attribute(self, name: str) -> object:
        """The value of an attribute of the entity."""
        return self._read(str(self), name)


class Angles(np.ndarray[Any, np.dtype[np.float64]]):
    """Joint angles (dof,) [rad]: they are computed with, also seven of them, as many numbers as a pose has."""


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_LEAVES = (ast.Load, ast.And, ast.Or, ast.Not, ast.USub, *_BINARY, *_COMPARE)
_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.List,
)


@dataclass(frozen=True)
class Expression:
    """A checked expression. `names`: the names it needs; `attributes`: pairs of `name.attribute`.

    `constant`: it needs neither a name nor the world.
    """

    text: str
    tree: ast.expr
    names: frozenset[str]
    attributes: frozenset[tuple[str, str]]
    constant: bool

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def compile_expression(text: object) -> Expression:
    """Check an expression; numbers, booleans and lists of numbers from YAML stand for themselves.

    Raises ExpressionError naming what is not allowed.
    """
    source = text if isinstance(text, str) else repr(text)
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH} characters")
    return _compiled(source)


@lru_cache(maxsize=KEPT)
def _compiled(source: str) -> Expression:
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{source!r} is not an expression: {error}") from None
    names, attributes = set(), set()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = {id(node.func) for node in calls}
    for node in ast.walk(tree):
        _admit(node, source, functions)
        if isinstance(node, ast.Name) and id(node) not in functions:
            names.add(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.add((node.value.id, node.attr))
    of_world = any(call.func.id in WORLD_FUNCTIONS for call in calls)  # type: ignore[attr-defined]
    return Expression(source.strip(), tree, frozenset(names), frozenset(attributes), not (names or of_world))


def _admit(node: ast.AST, source: str, functions: set[int]) -> None:
    allowed = isinstance(node, (*_NODES, *_LEAVES))
    if isinstance(node, ast.Call):
        allowed = isinstance(node.func, ast.Name) and not node.keywords
        if allowed and node.func.id not in FUNCTIONS and node.func.id not in WORLD_FUNCTIONS:  # type: ignore[attr-defined]
            known = [*FUNCTIONS, *WORLD_FUNCTIONS]
            name = node.func.id  # type: ignore[attr-defined]
            raise ExpressionError(f"no function is called {name!r} in {source!r}; {did_you_mean(name, known)}")
        if allowed:
            _admit_count(node.func.id, len(node.args), source)  # type: ignore[attr-defined]
    if isinstance(node, ast.Attribute):
        allowed = not node.attr.startswith("_") and id(node) not in functions
    if isinstance(node, ast.Constant):
        allowed = isinstance(node.value, (int, float, str, bool))
    if not allowed:
        raise ExpressionError(f"{type(node).__name__} is not allowed in {source!r}")


def _admit_count(name: str, given: int, source: str) -> None:
    """Refuse a function with too many or too few arguments."""
    if name in WORLD_FUNCTIONS:
        fits = given == _ARGUMENTS.get(name, given)
    elif name in ("min", "max"):  # Python knows no signature of them
        fits = given > 0
    else:
        try:
            fits = bool(_signature(name).bind(*range(given)))
        except TypeError:
            fits = False
    if not fits:
        raise ExpressionError(f"{name}() does not take {given} argument{'s' * (given != 1)}, in {source!r}")


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(FUNCTIONS[name])


def value_of_constant(expression: Expression) -> Any:
    """The value of an expression that needs no scope; raises ExpressionError."""
    return evaluate(expression, _NO_SCOPE)


@lru_cache(maxsize=KEPT)
def constants_of_calls(expression: Expression, functions: tuple[str, ...]) -> tuple[str, ...]:
    """The second argument of every call of these functions, where it is a text."""
    calls = (node for node in ast.walk(expression.tree) if isinstance(node, ast.Call))
    named = (call.args[1] for call in calls if call.func.id in functions)  # type: ignore[attr-defined]
    return tuple(str(one.value) for one in named if isinstance(one, ast.Constant))


class _NoScope:
    def lookup(self, name: str) -> object:
        raise ExpressionError(f"{name!r} has no value here")

    def call(self, name: str, _arguments: list[Any]) -> object:
        return self.lookup(name)


_NO_SCOPE = _NoScope()


def evaluate(expression: Expression, scope: Scope) -> Any:
    """The value; raises ExpressionError naming the expression, or NotYetKnownError."""
    try:
        return _evaluate(expression.tree, scope)
    except (ArithmeticError, TypeError, ValueError, LookupError, RecursionError) as error:
        raise ExpressionError(f"{expression.text!r}: {error}") from error


def _evaluate(node: ast.expr, scope: Scope) -> Any:
    return _RULES[type(node)](node, scope)


def _binary(node: Any, scope: Scope) -> Any:
    left, right = _evaluate(node.left, scope), _evaluate(node.right, scope)
    if isinstance(left, str) or isinstance(right, str):
        raise ExpressionError("texts are compared, not computed with")
    angles = isinstance(left, Angles) or isinstance(right, Angles)
    if not angles and (np.size(left) == 7 or np.size(right) == 7):
        raise ExpressionError("poses are joined by compose() and mean(), not by arithmetic")
    return _BINARY[type(node.op)](_vector(left), _vector(right))


def _vector(value: Any) -> Any:
    return np.asarray(value, dtype=np.float64) if isinstance(value, (tuple, list)) else value


def _unary(node: Any, scope: Scope) -> Any:
    value = _evaluate(node.operand, scope)
    return not value if isinstance(node.op, ast.Not) else -_vector(value)


def _boolean(node: Any, scope: Scope) -> bool:
    wanted = isinstance(node.op, ast.Or)
    return next((wanted for value in node.values if bool(_evaluate(value, scope)) is wanted), not wanted)


def _compare(node: Any, scope: Scope) -> bool:
    left = _evaluate(node.left, scope)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = _evaluate(right_node, scope)
        if not bool(_COMPARE[type(op)](left, right)):
            return False
        left = right
    return True


def _call(node: Any, scope: Scope) -> Any:
    arguments = [_evaluate(argument, scope) for argument in node.args]
    if node.func.id in WORLD_FUNCTIONS:
        return scope.call(node.func.id, arguments)
    return FUNCTIONS[node.func.id](*arguments)


def _attribute(node: Any, scope: Scope) -> Any:
    thing = _evaluate(node.value, scope)
    if isinstance(thing, Thing):
        return thing.attribute(node.attr)
    if isinstance(thing, Mapping) and node.attr in thing:
        return thing[node.attr]
    known = list(thing) if isinstance(thing, Mapping) else []
    raise ExpressionError(f"nothing is known of {ast.unparse(node)}; {did_you_mean(node.attr, known)}".strip("; "))


def _subscript(node: Any, scope: Scope) -> Any:
    value = _evaluate(node.value, scope)
    if isinstance(value, Mapping):
        raise ExpressionError(f"{ast.unparse(node.value)} has names, no numbers of items; name one with a dot")
    return value[_index(_evaluate(node.slice, scope))]


_RULES: dict[type, Callable[[Any, Scope], Any]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: lambda n, s: _evaluate(n.body if _evaluate(n.test, s) else n.orelse, s),
    ast.Call: _call,
    ast.Name: lambda n, s: s.lookup(n.id),
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Constant: lambda n, s: n.value,
    ast.Tuple: lambda n, s: tuple(_evaluate(item, s) for item in n.elts),
    ast.List: lambda n, s: tuple(_evaluate(item, s) for item in n.elts),
}


def _index(value: Any) -> int:
    if isinstance(value, (int, np.integer)):
        return int(value)
    raise ExpressionError(f"an index is a whole number, not {value!r}")


# Functions that need nothing but their arguments; poses are arrays `x y z [m], qx qy qz qw`.

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "deg": math.radians,
    "norm": lambda v: float(np.linalg.norm(np.asarray(v, dtype=np.float64))),
    "unit": _poses.unit,
    "offset": _poses.offset,
    "rotate": _poses.rotate,
    "compose": _poses.compose,
    "inverse": _poses.inverse,
    "mean": _poses.mean,
    "before": _poses.before,
    "shift": _poses.shift,
    "axis_of": _poses.axis_of,
    "facing": _poses.facing,
    "turn_about": _poses.turn_about,
    "carry_about": _poses.carry_about,
    "arc": _poses.arc,
    "arc_turned": _poses.arc_turned,
    "spin": _poses.spin,
    "swept": _poses.swept,
    "spun": _poses.spun,
    "moved": _poses.moved,
    "distance": _poses.distance,
    "angle": _poses.angle,
    "position": _poses.position,
}
# Functions the scope answers: they read the database or ask the kinematics.
WORLD_FUNCTIONS = frozenset(("pose", "relative", "reachable", "has", "trusted", "last"))
_ARGUMENTS = {"pose": 1, "relative": 2, "reachable": 2, "has": 2, "trusted": 1, "last": 2}
