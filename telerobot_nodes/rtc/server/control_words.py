"""The statements for the decision unit itself: halt, pause, cancel, reset, queries, results, macros, authority.

All words of a text are checked before the first acts; a word that was checked cannot fail [JPL-RTC section 5].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from telerobot_nodes.core.protocol import role_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.decision import (
    MAX_MACROS,
    CommandRecord,
    DecisionUnit,
    HaltSubsystem,
    Output,
    ResumeSubsystems,
)
from telerobot_nodes.rtc.elaboration import place_pose
from telerobot_nodes.rtc.language import (
    CommandError,
    Control,
    Define,
    Place,
    Query,
    Run,
    Statement,
    Task,
    TaskResult,
    Trial,
    check,
    did_you_mean,
)
from telerobot_nodes.rtc.server.authority_words import transfer
from telerobot_nodes.rtc.server.breakpoint_words import known_steps, refuse_idle, refuse_unreachable
from telerobot_nodes.rtc.server.queries import answer
from telerobot_nodes.rtc.skills import ExpressionError, Library
from telerobot_nodes.rtc.world import Database, DatabaseError, View

Outputs: TypeAlias = list[Output]
Act: TypeAlias = Callable[[], tuple[str, Outputs]]  # answer and outputs
_BY_NO_ARM = ("operator", "program")
_IDLE = {  # answers where no command is meant: the plan is not paused by these words
    "halt": "halt",
    "pause": "pause: no command is under way there",
    "resume": "resume: no command is under way there; `reset` ends a halt",
    "cancel": "cancel: no command is under way there",
}
_OF_BREAKPOINTS = frozenset(("step", "continue", "break", "clear"))
ArmsNow: TypeAlias = dict[str, tuple[tuple[float, ...], tuple[float, ...]]]  # joints, pose


def is_task(statement: Statement) -> bool:
    """Whether a statement is a command, which takes its time, or stands for some."""
    if isinstance(statement, Control):
        return statement.verb in ("request", "grant")
    return isinstance(statement, (Task, Trial)) or (isinstance(statement, Run) and not statement.forget)


def divided(statements: Sequence[Statement]) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Control words, and the tasks after them; raises CommandError for an order that cannot be meant."""
    first = next((number for number, one in enumerate(statements) if is_task(one)), len(statements))
    words, tasks = tuple(statements[:first]), tuple(statements[first:])
    late = next((one for one in tasks if not is_task(one)), None)
    if late is not None:
        raise CommandError("a control word cannot follow a task", late.at)
    verbs = {word.verb: word for word in words if isinstance(word, Control)}
    if "reload" in verbs and len(statements) > 1:
        raise CommandError("'reload skills' stands alone in a text", verbs["reload"].at)
    if "halt" in verbs and tasks:
        raise CommandError("a task cannot follow a halt", tasks[0].at)
    return words, tasks


@dataclass
class _Text:
    """A text whose words are checked, and what those checked so far will have changed."""

    sender: str
    now: float  # [s]
    macros: set[str]
    entered: set[int]


@dataclass(frozen=True)
class _Places:
    """What the place in an answer of the operator is found with."""

    library: Library
    view: View
    arm: str

    def lookup(self, name: str) -> object:
        """The arm of the task; an answer has no other slots."""
        if name != "arm" or not self.arm:
            raise ExpressionError(f"the task has no {name}")
        return self.arm


class ControlWords:
    """Checks and executes control words. Decision thread, unless a method says otherwise."""

    def __init__(self, unit: DecisionUnit, database: Database, arms: ArmsNow) -> None:
        self._unit, self._database, self._arms = unit, database, arms
        self.halted_at = -math.inf  # [s] everything, the last time
        self.last_halt_at = -math.inf  # [s] of anything

    def check(self, sender: str, words: Sequence[Statement], now: float) -> list[Act]:
        """What each word will do; raises CommandError for the first that cannot be done."""
        text = _Text(sender, now, set(self._unit.macros), set())
        return [_CHECKS[type(word)](self, word, text) for word in words]

    def act(self, sender: str, words: Sequence[Statement], now: float) -> tuple[list[str], Outputs]:
        """Check all words, then execute them: their answers and outputs. Raises CommandError before the first acts."""
        answers: list[str] = []
        out: Outputs = []
        for act in self.check(sender, words, now):
            text, outputs = act()
            answers.append(text)
            out += outputs
        return answers, out

    def transfers(self, sender: str, tasks: Sequence[Statement]) -> tuple[Statement, ...]:
        """The tasks with `request` and `grant` replaced by what they mean for this sender; raises CommandError."""
        out: list[Statement] = []
        for task in tasks:
            workcell, view = self._unit.library.workcell, self._database.view
            out += transfer(sender, task, workcell, view) if isinstance(task, Control) else (task,)
        return tuple(out)

    # scopes: any thread ----------------------------------------------------------------------------------------

    def arm_of(self, control: Control) -> str:
        """The arm that a scope names, or an empty text. Any thread."""
        name = control.name.text if control.name else ""
        return self._unit.library.workcell.vocabulary.find(name, "arms") or ""

    def records(self, control: Control) -> list[CommandRecord] | None:
        """Commands meant by a scope; None for everything. Raises CommandError for an unknown one. Any thread."""
        if not control.command and control.name is None:
            return None
        records = list(self._unit.commands.values())
        if control.command:
            found = [record for record in records if record.number == control.command]
            if not found:
                raise CommandError(f"command {control.command} is not under way", control.at)
            return found
        name, arm = control.name.text if control.name else "", self.arm_of(control)
        if not arm and not any(record.label == name for record in records):
            known = [*self._unit.library.workcell.arms, *(record.label for record in records if record.label)]
            at = control.name.at if control.name else control.at
            raise CommandError(f"no arm or command is called {name!r}", at, hint=did_you_mean(name, known))
        holders = self._unit.resources.holders(arm) if arm else ()
        return [record for record in records if record.label == name or record.number in holders]

    @staticmethod
    def moving(records: Sequence[CommandRecord]) -> list[tuple[str, int]]:
        """Subsystem and number of the primitives of commands. Any thread."""
        primitives = [record.primitive for record in records]  # read once each: the decision thread changes them
        return [(one.subsystem, one.number) for one in primitives if one and one.subsystem not in _BY_NO_ARM]

    # words -----------------------------------------------------------------------------------------------------

    def halt(self, control: Control, reason: str, now: float, heard: float) -> Outputs:
        """Stop what a scope means, as heard at a time [s]; raises CommandError for an unknown one."""
        records, arm = self.records(control), self.arm_of(control)
        self.last_halt_at = max(self.last_halt_at, heard)
        if records is None:
            self.halted_at = heard
        out = self._unit.halt(reason, now, records)
        if arm and not any(isinstance(output, HaltSubsystem) and output.subsystem == arm for output in out):
            out = [HaltSubsystem(arm, reason), *out]  # no command moves it
        return out

    def _control(self, control: Control, text: _Text) -> Act:
        unit, now, found = self._unit, text.now, self.records(control)

        def chosen() -> list[CommandRecord]:
            return list(unit.commands.values()) if found is None else found

        def halt() -> Outputs:
            if found is None or self.arm_of(control):
                return self.halt(control, f"halt by {role_of(text.sender)}", now, now)
            return unit.halt(
                f"halt by {role_of(text.sender)}", now, [one for one in found if one.number in unit.commands]
            )

        if control.verb in _OF_BREAKPOINTS:
            return self._breakpoint_word(control, chosen, now)
        acts: dict[str, Callable[[], Outputs]] = {
            "halt": halt,
            "pause": lambda: unit.pause(chosen(), True, now),
            "resume": lambda: unit.pause(chosen(), False, now),
            "cancel": lambda: unit.cancel(chosen(), now, reason=f"cancelled by {role_of(text.sender)}"),
        }
        if control.verb == "reset":
            return lambda: self._reset(text.sender)
        return lambda: (control.verb if chosen() else _IDLE[control.verb], acts[control.verb]())

    def _breakpoint_word(self, control: Control, chosen: Callable[[], list[CommandRecord]], now: float) -> Act:
        unit, records = self._unit, chosen()
        refuse_idle(control, records)
        names = known_steps(control.steps, unit.library)
        refuse_unreachable(control.steps, records)

        def act() -> tuple[str, Outputs]:
            left = [record for record in chosen() if record.number in unit.commands]
            if control.verb in ("break", "clear"):
                unit.set_breakpoints(left, names)
                return control.verb, []
            return control.verb, unit.step(left, control.verb == "step", now)

        return act

    def _reset(self, sender: str) -> tuple[str, Outputs]:
        was = self._unit.reset()
        text = f"reset: {was}" if was else "there was no global error"
        return f"{text}; the arms end their halts", [ResumeSubsystems(f"reset by {role_of(sender)}")]

    def _query(self, query: Query, _text: _Text) -> Act:
        return lambda: (answer(query, self._unit, self._database.view), [])

    def _entered(self, entered: TaskResult, text: _Text) -> Act:
        if entered.number in text.entered:
            raise CommandError(f"task {entered.number} is entered twice", entered.at)
        text.entered.add(entered.number)
        primitive = self._unit.tasks.shown.get(entered.number)
        record = self._unit.commands.get(primitive.command) if primitive else None
        arm = str(record.planned.frame.slots.get("arm", "")) if record and record.planned else ""
        joints, pose = self._arms.get(arm, ((), ()))
        check(entered, self._unit.library.workcell.vocabulary)
        if entered.place is not None:
            pose = self._pose_at(entered.place, arm)
        report = self._unit.tasks.report_of(entered, joints, pose, text.now - record.sent_at if record else 0.0)
        return lambda: (f"task {entered.number} is entered", self._unit.report(report, text.now))

    def _pose_at(self, place: Place, arm: str) -> tuple[float, ...]:
        """Pose (7,) of the tool at a place that a person names. Raises CommandError."""
        try:
            return tuple(place_pose(place, _Places(self._unit.library, self._database.view, arm)).tolist())
        except (ExpressionError, DatabaseError, InvalidValueError) as error:
            raise CommandError(str(error), place.at) from error

    def _define(self, macro: Define, text: _Text) -> Act:
        odd = next((one for one in macro.body if not is_task(one) or isinstance(one, Control)), None)
        if odd is not None:
            raise CommandError("a macro holds tasks only", odd.at)
        name = macro.name.text
        text.macros.add(name)
        if len(text.macros) > MAX_MACROS:
            raise CommandError(f"{MAX_MACROS} macros are defined; forget some", macro.at)

        def act() -> tuple[str, Outputs]:
            self._unit.macros[name] = macro
            return f"macro {name} is defined", []

        return act

    def _forget(self, run: Run, text: _Text) -> Act:
        name = run.name.text
        if name not in text.macros:
            raise CommandError(f"no such macro: {name!r}", run.name.at, hint=did_you_mean(name, text.macros))
        text.macros.remove(name)

        def act() -> tuple[str, Outputs]:
            self._unit.macros.pop(name, None)
            return "forgotten", []

        return act


_CHECKS: dict[type, Callable[..., Act]] = {
    Control: ControlWords._control,
    Query: ControlWords._query,
    TaskResult: ControlWords._entered,
    Define: ControlWords._define,
    Run: ControlWords._forget,
}
