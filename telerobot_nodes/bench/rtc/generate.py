"""Random commands from the grammar itself: every rule can occur; for tests, floods and benchmarks [JPL-RTC].

`choose(n)` returns a number in 0 .. n-1; with the same choices comes the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from lark.grammar import NonTerminal, Rule  # type: ignore[attr-defined]

from telerobot_nodes.rtc.language import grammar, words

Choose = Callable[[int], int]

MAX_STEPS = 60  # expansions before the shortest ones are taken
_SAMPLES: dict[str, tuple[str, ...]] = {
    "NAME": ("module", "left_arm", "Right_arm", "dock-2", "_p", "hole7"),
    "QUOTED": ("'speed'", "'bolt 3'", "'module'"),
    "QUANTITY": ("0.05", "20 N", "-3.5e-2 m", "360deg", "7", ".5 s", "+2", "1e16", "5 %", "0.2m/s^2", "90 deg/s"),
    "STRING": ('"a remark"', '""', '"with \\"quotes\\" and \\\\"', '"; # not the end"'),
    "COMPARATOR": (">", "<", ">=", "<="),
}
_WHOLE = ("1", "2", "17", "4000")
_WHOLE_RULES = frozenset(("command_number", "done", "failed"))
_NOT_IN_MACRO = frozenset(("define", "try_"))


def random_command(choose: Choose, separators: Sequence[str] = (" ",)) -> str:
    """Return a text derived from the grammar's start rule; it parses without error."""
    walk = _Walk(choose)
    walk.expand("start", "start", in_macro=False)
    return "".join(word + separators[choose(len(separators))] for word in walk.out).rstrip(" ")


class _Walk:
    """Derive one text, leftmost symbol first."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.out: list[str] = []
        self.steps = 0

    def expand(self, symbol: str, parent: str, in_macro: bool) -> None:
        self.steps += 1
        rules = [rule for rule in _rules()[symbol] if not (in_macro and _defines(rule))]
        if self.steps > MAX_STEPS:
            least = min(_size(rule) for rule in rules)
            rules = [rule for rule in rules if _size(rule) == least]
        rule = rules[self.choose(len(rules))]
        if rule.alias == "literal_pose":
            self._pose()  # the grammar leaves the count of numbers to the tree builder
            return
        inside = in_macro or symbol == "define"
        for item in rule.expansion:
            if isinstance(item, NonTerminal):
                self.expand(item.name, symbol, inside)
            else:
                self.out.append(self._word(item.name, parent))

    def _word(self, terminal: str, parent: str) -> str:
        if terminal == "QUANTITY" and parent in _WHOLE_RULES:
            return self._one_of(_WHOLE)
        samples = _SAMPLES.get(terminal)
        return self._one_of(samples) if samples else words()[terminal]

    def _pose(self) -> None:
        count = (3, 7)[self.choose(2)]
        numbers = [self._one_of(_SAMPLES["QUANTITY"]) for _ in range(count)]
        frame = self._one_of(("", "in world", "in tool", "in module"))
        self.out.append(f"({', '.join(numbers)}) {frame}")

    def _one_of(self, words_: Sequence[str]) -> str:
        return words_[self.choose(len(words_))]


def _defines(rule: Rule) -> bool:
    return any(item.name in _NOT_IN_MACRO for item in rule.expansion)


@lru_cache(maxsize=1)
def _rules() -> dict[str, list[Rule]]:
    by_origin: dict[str, list[Rule]] = {}
    for rule in grammar().rules:  # type: ignore[attr-defined]
        by_origin.setdefault(rule.origin.name, []).append(rule)
    return by_origin


@lru_cache(maxsize=1)
def _sizes() -> dict[str, int]:
    """Return the smallest number of expansions that finish each rule."""
    sizes = dict.fromkeys(_rules(), 10_000)
    changed = True
    while changed:
        changed = False
        for name, rules in _rules().items():
            least = min(1 + sum(sizes[i.name] for i in rule.expansion if isinstance(i, NonTerminal)) for rule in rules)
            if least < sizes[name]:
                sizes[name] = least
                changed = True
    return sizes


def _size(rule: Rule) -> int:
    return sum(_sizes()[item.name] for item in rule.expansion if isinstance(item, NonTerminal))
