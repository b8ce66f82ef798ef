"""The live script of a command in a terminal: what was tried, what is active, what comes next.

On a terminal the tree is drawn anew at each change. Elsewhere, as in a log file, each step is a line when it ends, and
one that waits at a breakpoint when it begins to wait.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from telerobot_nodes.core.protocol import StepState

_S = StepState
MARKS = {
    _S.TO_COME: " ",
    _S.ACTIVE: ">",
    _S.WAITING: "?",
    _S.DONE: "+",
    _S.SKIPPED: "o",
    _S.FAILED: "x",
    _S.STOPPED: "!",
}
STYLES = {  # of the others: red
    _S.TO_COME: "dim",
    _S.ACTIVE: "bold yellow",
    _S.WAITING: "bold cyan",
    _S.DONE: "green",
    _S.SKIPPED: "dim",
}
OVER = (_S.DONE, _S.SKIPPED, _S.FAILED, _S.STOPPED)


class LiveScript:
    """Shows the messages of one text; a context manager."""

    def __init__(self, console: Console | None = None, as_lines: bool = False) -> None:
        """`as_lines`: on a terminal, too, for one that reads what a person types."""
        self._console = console or Console(stderr=True, highlight=False)
        drawn = self._console.is_terminal and not as_lines
        self._live = Live(console=self._console, auto_refresh=False) if drawn else None
        self._lines = ScriptLines()

    def __enter__(self) -> LiveScript:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, message: Any) -> None:
        """Show a ScriptState.msg."""
        if self._live is not None:
            self._live.update(tree_of(message), refresh=True)
            return
        for line in self._lines.of(message):
            self._console.print(line, soft_wrap=True)


class ScriptLines:
    """The messages of live scripts as lines: each step when it is over, or begins to wait at a breakpoint."""

    def __init__(self, whole: bool = False) -> None:
        """`whole`: also the text and the end of each command, and when each step began."""
        self._whole = whole
        self._printed: dict[int, int] = {}  # steps of each command
        self._waits: Any = None  # command, count and name of the step last reported as waiting

    def of(self, message: Any) -> list[Text]:
        """The lines that a ScriptState.msg adds."""
        lines = []
        if self._whole and message.command not in self._printed:
            lines.append(Text(f"command {message.command}: {message.text}", style="bold"))
        over = [step for step in message.steps if step.state in OVER]
        lines += [self._line(step) for step in over[self._printed.get(message.command, 0) :]]
        self._printed[message.command] = len(over)
        step = next((step for step in message.steps if step.state == _S.WAITING), None)
        waits = step and (message.command, len(over), step.name)
        if waits is not None and waits != self._waits:
            lines.append(self._line(step))
        self._waits = waits
        if self._whole and message.outcome:
            lines.append(Text(f"{message.outcome}: {message.reason} ({message.elapsed:.1f} s)"))
        return lines

    def _line(self, step: Any) -> Text:
        if not self._whole:
            return line_of(step)
        recovery = f"  [recovery {step.recovery}]" if step.recovery else ""
        began = f"{step.began:8.2f} s  " if step.state in OVER else " " * 12
        return Text.assemble(began, line_of(step), recovery)


def tree_of(message: Any) -> Tree:
    """The script as a tree: the command, its steps by their frames, and why a step failed."""
    state = message.outcome or ("paused" if message.paused else message.state)
    reason = f": {message.reason}" if message.reason else ""
    tree = Tree(Text(f"{message.text}  [{state}{reason}] {message.elapsed:.1f} s", style="bold"))
    branches: dict[tuple[str, ...], Tree] = {(): tree}
    latest: tuple[str, ...] = ()
    for step in message.steps:
        frame = tuple(step.name.split(".")[:-1])
        if step.recovery:
            frame = (*frame, f"recovery {step.recovery}")
        if frame != latest:  # the same frame again, later, is another branch
            kept = _common(frame, latest)
            branches = {key: branch for key, branch in branches.items() if key == kept[: len(key)]}
            for depth in range(len(kept) + 1, len(frame) + 1):
                branches[frame[:depth]] = branches[frame[: depth - 1]].add(Text(frame[depth - 1], style="cyan"))
            latest = frame
        branches[frame].add(line_of(step))
    return tree


def line_of(step: Any) -> Text:
    """One step: mark, name, what does it, how long it took, why it failed."""
    where = f"{step.kind} {step.subsystem}".strip()
    took = f"{step.ended - step.began:6.2f} s" if step.state in OVER else " " * 8
    note = f"  {step.note}" if step.note else ""
    return Text(
        f"{MARKS[step.state]} {step.name:<24} {where:<32} {took}{note}".rstrip(), style=STYLES.get(step.state, "red")
    )


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    count = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:count]
