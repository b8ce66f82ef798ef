"""`telerobot run "TEXT"`, `telerobot try "TEXT"`, `telerobot complete "TEXT"`: the command language from a shell."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telerobot_nodes.core.protocol import begins_with_halt

if TYPE_CHECKING:
    from telerobot_nodes.operator.script import LiveScript, ScriptLog

NOT_DONE = 1
SCRIPT_LIMIT = 1.0  # [s] the last state of a script may come after its report
WORDS = frozenset(("pause", "resume", "step", "continue", "reset", "status", "help"))  # texts of a single word

Namespace = Annotated[str, typer.Option(help="Namespace of the decision unit.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the final report as one JSON object.")]


@dataclasses.dataclass(frozen=True)
class Watching:
    """What is shown of a command, and which of its steps wait for a word."""

    watch: bool = False  # show every step
    step: bool = False  # every step waits
    break_at: tuple[str, ...] = ()  # names of steps and skills that wait
    log: Path | None = None  # where the live script is saved

    @property
    def waits(self) -> bool:
        """Whether any step may wait."""
        return self.step or bool(self.break_at)

    def text_of(self, text: str) -> str:
        """The text with its breakpoints; one that halts stays as it is, so that it is heard as a halt."""
        if begins_with_halt(text):
            return text
        names = ", ".join(f"'{name}'" for name in self.break_at)
        return "; ".join((*["confirm each step"][: self.step], *[f"break at {names}"][: bool(names)], text))


NOT_WATCHED = Watching()


def is_text(argument: str) -> bool:
    """True for a command text, False for the name of a node."""
    return len(argument.split()) > 1 or argument.strip().lower() in WORDS or begins_with_halt(argument)


def run_text(text: str, namespace: str = "", as_json: bool = False, watching: Watching = NOT_WATCHED) -> int:
    """Submit a text, print progress, wait for its end; returns 0 if it succeeded, else 1."""
    from telerobot_nodes.runtime import join_graph

    join_graph()
    from telerobot_nodes.nodes.clients import CommandClient

    shown = watching.watch or watching.waits
    show = (lambda _report: None) if as_json or shown else _show_progress
    with _Watched(watching) as watched, CommandClient(namespace, hurry=begins_with_halt(text)) as robot:
        robot.watch = watched.show
        if watching.waits:
            _take_words(robot, watched)
        report = robot.run(watching.text_of(text), progress=show)
        if report.command and (shown or watching.log):
            robot.wait_until(lambda: watched.ended, SCRIPT_LIMIT)
    if as_json:
        print(json.dumps(_plain(report)))
    else:
        print(_ending(report))
    return 0 if report.ok else NOT_DONE


def attempt(
    text: Annotated[str, typer.Argument(help='Tasks, macros: "grasp module; lift module".')],
    namespace: Namespace = "",
    as_json: AsJson = False,
) -> None:
    """Check whether tasks would work, one after the other; if not, why and at which step. Nothing moves."""
    from telerobot_nodes.runtime import join_graph

    join_graph()
    from telerobot_nodes.nodes.clients import CommandClient

    with CommandClient(namespace) as robot:
        report = robot.attempt(text)
    if as_json:
        print(json.dumps(_plain(report)))
    else:
        for step in report.trial:
            target = " ".join(f"{value:.4f}" for value in step.target)
            print(f"{'+' if step.ok else '-'} {step.step:<22} {step.kind:<16} {step.duration:6.2f} s  {target}")
        print(_ending(report))
    raise typer.Exit(0 if report.ok else NOT_DONE)


def complete(
    text: Annotated[str, typer.Argument(help="The text typed so far.")],
    folder: Annotated[Path | None, typer.Option(help="Folder of the skill files; default: the package's.")] = None,
) -> None:
    """Print the possible next words, one per line. Needs no graph."""
    from telerobot_nodes.core.config import share_path
    from telerobot_nodes.rtc.language import complete as words
    from telerobot_nodes.rtc.skills import load_library

    library = load_library(folder or share_path("config/rtc"))
    vocabulary = dataclasses.replace(library.workcell.vocabulary)
    for word in words(text, len(text), vocabulary):
        print(word)


class _Watched(contextlib.ExitStack):
    """Where the live scripts go: to standard error, to a file, to both or nowhere. A context manager."""

    def __init__(self, watching: Watching) -> None:
        """Raises TelerobotError when the file cannot be written."""
        super().__init__()
        self.command = 0  # the last one shown
        self.ended = False
        self._log: ScriptLog | None = None
        self._live: LiveScript | None = None
        if watching == NOT_WATCHED:  # a halt does not wait for imports
            return
        from telerobot_nodes.operator.script import LiveScript, ScriptLog

        if watching.log is not None:
            self._log = self.enter_context(ScriptLog(watching.log))
        if watching.watch or watching.waits:
            self._live = self.enter_context(LiveScript(as_lines=watching.waits))

    def show(self, message: Any) -> None:
        """Take a ScriptState.msg."""
        self.command, self.ended = int(message.command), bool(message.outcome)
        if self._log is not None:
            self._log.write(message.link.stamp.sec + 1e-9 * message.link.stamp.nanosec, message)
        if self._live is not None:
            self._live.show(message)


def _take_words(robot: Any, watched: _Watched) -> None:
    """Send what is typed while the command runs, and print the answers."""
    from telerobot_nodes.cli.program.typed_words import HELP, TypedLines, text_of

    typed = TypedLines()
    print(HELP, file=sys.stderr)

    def send() -> None:
        for text in filter(None, (text_of(line, watched.command) for line in typed.read())):
            robot.say(text)

    robot.idle = send
    robot.beside = lambda report: print(f"  {report.text}", file=sys.stderr) if report.text else None


def _show_progress(report: Any) -> None:
    print(f"  {report.elapsed:7.2f} s  {report.step:<22} {report.reason}", file=sys.stderr)


def _ending(report: Any) -> str:
    if not report.outcome:  # an answer, not a report
        return str(report.text)
    trims = f"; corrected: {', '.join(report.trims)}" if report.trims else ""
    at = f" at {report.step}" if report.step and not report.ok else ""
    return f"{report.outcome}{at}: {report.reason} ({report.steps_done} steps, {report.elapsed:.1f} s{trims})"


def _plain(report: Any) -> dict[str, Any]:
    """The report's fields as values for JSON."""
    names = [name for name in report.get_fields_and_field_types() if name not in ("link", "trial")]
    plain = {name: _value(getattr(report, name)) for name in names}
    trial = [{name: _value(getattr(step, name)) for name in step.get_fields_and_field_types()} for step in report.trial]
    return {**plain, "trial": trial}


def _value(value: Any) -> Any:
    return value if isinstance(value, (str, bool, int, float)) else list(value)
