"""Mutants of source files: each changes one place for the worse; a seed draws among all places.

What belongs here: which changes there are, and which are drawn. What must never enter: tests, processes.

Changes: a comparison, a sign or a condition is reversed; `and` and `or`, `min` and `max` are swapped; a number is
another one; a statement for its effect is left out (but not in a constructor, where any test would find it). Not
changed is what is not behaviour: texts, annotations, the words of refusals, defaults and bounds of parameters,
tolerances below 1e-5.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LEAST = 1e-5  # smaller numbers are tolerances
FACTOR = 4.0  # of a changed number, up or down
_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_SIGNS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
_WORDS: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
_SWAPPED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
_DECLARING = frozenset({"parameter", "in_range", "field"})  # calls whose numbers are bounds and defaults
_CONSTRUCTORS = frozenset({"__init__", "__post_init__"})


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str  # below the package
    line: int  # from 1
    kind: str
    start: int  # [B] in the file
    end: int
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """The changed file."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of one file, by place."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


def draw(package: Path, folders: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """`count` mutants of the files below `folders` of `package`, at most one a line; the same for the same seed.

    More of them begin with the same ones, so that a draw can be run in parts.
    """
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for path in _files(package, folders):
        name = path.relative_to(package).as_posix()
        for mutant in mutants_of(name, path.read_bytes()):
            lines.setdefault((name, mutant.line), []).append(mutant)
    chance = random.Random(seed)
    places = sorted(lines)
    chance.shuffle(places)
    return [chance.choice(lines[place]) for place in places[:count]]


def _files(package: Path, folders: Sequence[str]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in (package / folder).rglob("*.py") if path.name != "__init__.py")


class _Finder(ast.NodeVisitor):
    """Collects the mutants of one syntax tree."""

    def __init__(self, file: str, source: bytes) -> None:
        self.found: list[Mutant] = []
        self._file, self._source = file, source
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self._constructing = False

    # left out ----------------------------------------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        """The words of a refusal."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text."""

    def visit_Import(self, node: ast.Import) -> None:
        """No behaviour."""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Methods; defaults of fields stay."""
        for entry in node.body:
            if not isinstance(entry, ast.AnnAssign):
                self.visit(entry)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The body; annotations, defaults and decorators stay."""
        outer, self._constructing = self._constructing, node.name in _CONSTRUCTORS
        for entry in node.body:
            self.visit(entry)
        self._constructing = outer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value."""
        if node.value is not None:
            self.visit(node.value)

    # changes -----------------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        """A comparison is reversed."""
        if len(node.ops) == 1:
            self._between("comparison", node.left, node.comparators[0], *_COMPARISONS[type(node.ops[0])])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """A sign is another one."""
        texts = any(isinstance(side, (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple)) and not _number(side)
                    for side in (node.left, node.right))  # fmt: skip
        if type(node.op) in _SIGNS and not texts:
            self._between("sign", node.left, node.right, *_SIGNS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`and` for `or`."""
        self._between("word", node.values[0], node.values[1], *_WORDS[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """`not` is left out."""
        if isinstance(node.op, ast.Not):
            start = self._start(node)
            self._add("condition", node.lineno, start, start + len("not "), "")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """The condition is reversed."""
        self._reverse(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """The condition is reversed."""
        self._reverse(node.test)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """The least for the greatest."""
        name = node.func
        word = name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
        if word in _DECLARING:
            return
        if word in _SWAPPED:
            end = self._end(name)
            self._add("extreme", node.lineno, end - len(word), end, _SWAPPED[word])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A number or truth value is another one."""
        for after in _others(node.value):
            self._add("number", node.lineno, self._start(node), self._end(node), after)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect is left out."""
        if isinstance(node.value, ast.Call):
            self._leave_out(node)
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """An assignment to an attribute is left out."""
        if isinstance(node.targets[0], ast.Attribute):
            self._leave_out(node)
        if not isinstance(node.value, ast.Constant) or _number(node.value):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """A change of a value is left out."""
        self._leave_out(node)
        self.visit(node.value)

    # parts -------------------------------------------------------------------------------------------------------

    def _reverse(self, test: ast.expr) -> None:
        if isinstance(test, (ast.Name, ast.Attribute, ast.Call)):
            text = self._source[self._start(test) : self._end(test)].decode()
            self._add("condition", test.lineno, self._start(test), self._end(test), f"(not {text})")

    def _leave_out(self, node: ast.stmt) -> None:
        if not self._constructing:
            self._add("left out", node.lineno, self._start(node), self._end(node), "pass")

    def _between(self, kind: str, left: ast.expr, right: ast.expr, before: str, after: str) -> None:
        """Replace the operator between two operands, each perhaps in brackets."""
        first, last = self._end(left), self._start(right)
        at = self._source[first:last].find(before.encode())
        if at >= 0:
            self._add(kind, left.end_lineno or left.lineno, first + at, first + at + len(before), after)

    def _add(self, kind: str, line: int, start: int, end: int, after: str) -> None:
        before = self._source[start:end].decode()
        self.found.append(Mutant(self._file, line, kind, start, end, before, after))

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))


def _others(value: object) -> tuple[str, ...]:
    """Texts of other values in place of a truth value or a number; none for anything else."""
    if isinstance(value, bool):
        return (str(not value),)
    if isinstance(value, int):
        return (str(value + 1),)
    if isinstance(value, float) and value == 0.0:
        return ("1.0",)
    if isinstance(value, float) and abs(value) >= LEAST:
        return (repr(value * FACTOR), repr(value / FACTOR))
    return ()
