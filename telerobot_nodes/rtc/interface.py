"""Interface server, its core: every text that comes in, routed; halts first [JPL-RTC section 5, Interface Server].

No distinction is made between a person, a script and a planner. The ROS face of it is a node; this knows no ROS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from telerobot_nodes.rtc.command_loop import MAX_MACROS
from telerobot_nodes.rtc.command_record import CommandRecord
from telerobot_nodes.rtc.database import Database, Validity
from telerobot_nodes.rtc.decision import DecisionUnit
from telerobot_nodes.rtc.messages import Dispatch, Job, JobDone, Output, Parsed, Reply, Work
from telerobot_nodes.rtc.parser import decode, parse, refuse_too_long
from telerobot_nodes.rtc.primitives import Report
from telerobot_nodes.rtc.problems import CommandError, did_you_mean
from telerobot_nodes.rtc.queries import answer
from telerobot_nodes.rtc.skills import Library
from telerobot_nodes.rtc.syntax import Control, Define, Query, Run, Statement, Task, TaskResult, Trial

Outputs = list[Output]

SHORT = 500  # characters that are parsed here; longer messages go to a worker, so that no halt waits for them
OBSERVE_EVERY = 0.5  # [s] between entries of an arm that somebody else moves
MOVED = 0.005  # [rad] from where the database has it


@dataclass
class InterfaceServer:
    """Text, reports, measurements and time in; outputs out. Owns the decision unit, reads the database."""

    unit: DecisionUnit
    database: Database
    arms: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)  # joints, pose now
    _own_jobs: dict[int, tuple[str, str | bytes]] = field(default_factory=dict)  # of the interface: sender, text
    _job: int = 0

    def submit(self, sender: str, text: str | bytes, now: float) -> Outputs:
        """Take a message; a Reply with the command's number or the error, and what follows from it."""
        try:
            if len(text) > SHORT:
                refuse_too_long(text)
                return [self._own(Work.PARSE, sender, text=text, macros=dict(self.unit.macros))]
            if not is_urgent(text):
                return self._sort(sender, text, parse(text), now)
            return self._words(sender, parse(text), now)
        except CommandError as error:
            return [Reply(sender, str(error), ok=False)]

    def job_done(self, done: JobDone, now: float) -> Outputs:
        """A worker's answer."""
        sender, text = self._own_jobs.pop(done.job, (None, ""))
        if sender is None:
            return self.unit.job_done(done, now)
        if done.error:
            return [Reply(sender, done.error, ok=False)]
        if isinstance(done.result, Library):
            self.unit.adopt(done.result)
            return [Reply(sender, f"{len(done.result.skills)} skills are in use")]
        if isinstance(done.result, Parsed):
            try:
                return self._sort(sender, text, done.result.statements, now)
            except CommandError as error:
                return [Reply(sender, str(error), ok=False)]
        return []

    def report(self, report: Report, now: float) -> Outputs:
        """A subsystem's report."""
        return self.unit.report(report, now)

    def tick(self, now: float) -> Outputs:
        """Time has passed."""
        return self.unit.tick(now)

    def measured(self, arm: str, joints: tuple[float, ...], pose: tuple[float, ...], now: float) -> Outputs:
        """The arm as measured; entered when no command holds the arm and the database does not know better."""
        self.arms[arm] = (joints, pose)
        if arm not in self.unit.library.workcell.arms or not self._is_news(arm, joints, now):
            return []
        return [self._own(Work.OBSERVE, "", arm=arm, joints=joints, pose=pose)]

    def _is_news(self, arm: str, joints: tuple[float, ...], now: float) -> bool:
        """At the start, after a restart, after a halt nobody confirmed; now and then when somebody else moved it."""
        view = self.database.view
        if self.unit.resources.holders(arm):
            return False
        if not view.has(f"{arm}.joints") or view.item(f"{arm}.joints").validity < Validity.VALID:
            return True
        known = view.item(f"{arm}.joints")
        if now - known.stamp < OBSERVE_EVERY:
            return False
        by_hand = view.has(f"{arm}.owner") and view.read(f"{arm}.owner", Validity.SUSPECT) == "operator"
        return by_hand or not isinstance(known.value, tuple) or _apart(known.value, joints) > MOVED

    def signal(self, name: str, on: bool, now: float) -> Outputs:
        """A signal of the workcell has changed."""
        self.unit.watches.signals[name] = on
        return self.unit.tick(now)

    def _sort(self, sender: str, text: str | bytes, statements: tuple[Statement, ...], now: float) -> Outputs:
        first = statements[0]
        if isinstance(first, (Task, Trial)) or (isinstance(first, Run) and not first.forget):
            odd = next((s for s in statements[1:] if not isinstance(s, (Task, Trial, Run))), None)
            if odd is not None:
                raise CommandError("words to the decision unit do not follow a task", odd.at, decode(text))
            number, outputs = self.unit.start(sender, text, now)
            return [Reply(sender, f"command {number}", command=number), *outputs]
        return self._words(sender, statements, now)

    def _words(self, sender: str, statements: tuple[Statement, ...], now: float) -> Outputs:
        out: Outputs = []
        for statement in statements:
            out += self._word(sender, statement, now)
        return out

    def _word(self, sender: str, statement: Statement, now: float) -> Outputs:
        if isinstance(statement, Control):
            return _CONTROLS[statement.verb](self, sender, statement, now)
        if isinstance(statement, Query):
            return [Reply(sender, answer(statement, self.unit, self.database.view))]
        if isinstance(statement, TaskResult):
            return self._entered(sender, statement, now)
        if isinstance(statement, Define):
            return [self._define(sender, statement)]
        if isinstance(statement, Run) and statement.forget:
            known = self.unit.macros.pop(statement.name.text, None)
            hint = did_you_mean(statement.name.text, self.unit.macros)
            return [Reply(sender, "forgotten" if known else f"no such macro; {hint}".strip("; "), ok=known is not None)]
        raise CommandError("a task does not follow a word to the decision unit", statement.at)

    def _define(self, sender: str, statement: Define) -> Reply:
        if len(self.unit.macros) >= MAX_MACROS:
            return Reply(sender, f"{MAX_MACROS} macros are defined; forget some", ok=False)
        self.unit.macros[statement.name.text] = statement
        return Reply(sender, f"macro {statement.name.text} is defined")

    def _entered(self, sender: str, entered: TaskResult, now: float) -> Outputs:
        primitive = self.unit.desk.tasks.get(entered.number)
        record = self.unit.commands.get(primitive.command) if primitive else None
        arm = str(record.request.slots.get("arm", "")) if record and record.request else ""
        joints, pose = self.arms.get(arm, ((), ()))
        if entered.place is not None and entered.place.kind == "pose" and len(entered.place.numbers) == 7:
            pose = tuple(number.si for number in entered.place.numbers)
        report = self.unit.desk.result(entered, joints, pose, now - record.sent_at if record else 0.0)
        return [Reply(sender, f"task {entered.number} is entered"), *self.unit.report(report, now)]

    def _scope(self, control: Control) -> list[CommandRecord] | None:
        """Commands meant by a scope; None for everything. Raises CommandError for none."""
        if control.command:
            if control.command not in self.unit.commands:
                raise CommandError(f"command {control.command} is not under way", control.at)
            return [self.unit.commands[control.command]]
        if control.name is None:
            return None
        name = control.name.text
        labelled = [record for record in self.unit.commands.values() if record.label == name]
        arm = self.unit.library.workcell.vocabulary.find(name, "arms")
        if not labelled and arm is None:
            known = [*self.unit.library.workcell.arms, *(r.label for r in self.unit.commands.values() if r.label)]
            raise CommandError(f"no arm or command is called {name!r}", control.name.at, hint=did_you_mean(name, known))
        held = [self.unit.commands[n] for n in self.unit.resources.holders(arm)] if arm else []
        return labelled or held

    def _halt(self, sender: str, control: Control, now: float) -> Outputs:
        records = self._scope(control)
        out = self.unit.halt(f"halt by {sender}", now, records)
        arm = control.name and self.unit.library.workcell.vocabulary.find(control.name.text, "arms")
        if arm and not any(getattr(o, "subsystem", "") == arm for o in out):
            out = [*self.unit.halt_subsystem(arm, f"halt by {sender}"), *out]
        return [*out, Reply(sender, "halt")]

    def _pause(self, sender: str, control: Control, now: float) -> Outputs:
        records = self._scope(control)
        chosen = list(self.unit.commands.values()) if records is None else records
        return [*self.unit.pause(chosen, control.verb == "pause", now), Reply(sender, control.verb)]

    def _cancel(self, sender: str, control: Control, now: float) -> Outputs:
        records = self._scope(control)
        chosen = list(self.unit.commands.values()) if records is None else records
        return [*self.unit.cancel(chosen, now, reason=f"cancelled by {sender}"), Reply(sender, "cancel")]

    def _reset(self, sender: str, _control: Control, _now: float) -> Outputs:
        was, self.unit.global_error = self.unit.global_error, ""
        return [Reply(sender, f"reset: {was}" if was else "there was no global error")]

    def _reload(self, sender: str, _control: Control, _now: float) -> Outputs:
        return [self._own(Work.RELOAD, sender)]

    def _authority(self, sender: str, control: Control, now: float) -> Outputs:
        """`request` and `grant` are the skills `return` and `trade` under another name."""
        name = control.name.text if control.name else ""
        arm = self.unit.library.workcell.vocabulary.find(name, "arms")
        if arm is None:
            hint = did_you_mean(name, self.unit.library.workcell.arms)
            raise CommandError(f"no arm is called {name!r}", control.at, hint=hint)
        to = control.agent.text if control.agent else "program"
        text = f"return {arm} to program" if to == "program" else f"trade {arm} to operator"
        number, outputs = self.unit.start(sender, text, now)
        return [Reply(sender, f"command {number}", command=number), *outputs]

    def _own(self, work: Work, sender: str, text: str | bytes = "", **values: object) -> Dispatch:
        self._job -= 1  # the decision unit's own jobs count upwards
        self._own_jobs[self._job] = (sender, text)
        return Dispatch(Job(self._job, 0, work, library=self.unit.library, text=text, **values))  # type: ignore[arg-type]


def _apart(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Largest difference [rad]; infinite for different arms."""
    return max((abs(x - y) for x, y in zip(a, b, strict=True)), default=0.0) if len(a) == len(b) else float("inf")


_CONTROLS: dict[str, Callable[[InterfaceServer, str, Control, float], Outputs]] = {
    "halt": InterfaceServer._halt,
    "pause": InterfaceServer._pause,
    "resume": InterfaceServer._pause,
    "cancel": InterfaceServer._cancel,
    "reset": InterfaceServer._reset,
    "reload": InterfaceServer._reload,
    "request": InterfaceServer._authority,
    "grant": InterfaceServer._authority,
}


def is_urgent(text: str | bytes) -> bool:
    """True for a text that begins with `halt`, which never waits behind other work."""
    start = text[:64].lstrip()[:4].lower()
    return start in ("halt", b"halt")
