"""Mutants are one change each, of behaviour only, the same for the same seed."""

import ast

import pytest

from telerobot_nodes.bench.plan import checkout
from telerobot_nodes.bench.plan.mutation import draw, mutants_of

CHANGES = [
    ("x = a < b", "x = a >= b"),
    ("x = (a + b) == (c)", "x = (a + b) != (c)"),
    ("x = (a) - (b)", "x = (a) + (b)"),
    ("x = a and (b or c)", "x = a or (b or c)"),
    ("x = not (a)", "x = (a)"),
    ("x = min(a, b)", "x = max(a, b)"),
    ("x = np.maximum(a, b)", "x = np.minimum(a, b)"),
    ("x = 3", "x = 4"),
    ("x = 0.5", "x = 2.0"),
    ("x = 0.5", "x = 0.125"),
    ("x = True", "x = False"),
    ("x = a if b else c", "x = a if (not b) else c"),
    ("def f(self):\n    self.g(a)", "def f(self):\n    pass"),
    ("def f(self):\n    self.g = a", "def f(self):\n    pass"),
    ("def f(self):\n    a += b", "def f(self):\n    pass"),
    ("é = 'ü'; x = a < b", "é = 'ü'; x = a >= b"),
    ("x = a is not b", "x = a is b"),
    ("x = a not in b", "x = a in b"),
]


def changed(text):
    source = text.encode()
    return [mutant.apply(source).decode() for mutant in mutants_of("plan/x.py", source)]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_change_is_made_at_its_place_and_nowhere_else(before, after):
    assert after in changed(before)


@pytest.mark.parametrize(
    "text",
    [
        '"""A < B."""',
        "x: float = field(default=0.5)",
        "class A:\n    x: float = 0.5",
        "x = in_range(a, 'a', 0.0, 1.0)",
        "raise ValueError(1, a < b)",
        "x = f'{a + b}'",
        "x = 'a' + b",
        "x = 1e-9",
        "import a",
        "def f(a: int = 3) -> None:\n    return a",
        "def __init__(self):\n    self.a = b\n    self.f(b)",
    ],
)
def test_what_is_not_behaviour_is_not_changed(text):
    assert changed(text) == []


@pytest.mark.lengthy
@pytest.mark.nightly
def test_every_mutant_of_the_plan_differs_from_its_source_and_can_be_compiled():
    for mutant in draw(checkout.PACKAGE, ("plan", "simulation"), 400, 1):
        source = (checkout.PACKAGE / mutant.file).read_bytes()
        text = mutant.apply(source)
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(source)), str(mutant)
        assert source.splitlines()[mutant.line - 1] != text.splitlines()[mutant.line - 1], str(mutant)


@pytest.mark.lengthy
def test_a_seed_draws_the_same_mutants_again_of_different_lines():
    first, again = (draw(checkout.PACKAGE, ("plan",), 60, 3) for _ in range(2))
    assert first == again
    assert first[:20] == draw(checkout.PACKAGE, ("plan",), 20, 3)
    assert first != draw(checkout.PACKAGE, ("plan",), 60, 4)
    assert len({(mutant.file, mutant.line) for mutant in first}) == 60
    assert len({mutant.file for mutant in first}) > 15
