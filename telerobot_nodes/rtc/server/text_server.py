"""Interface server: routes every text that arrives [JPL-RTC section 5, Interface Server].

A text that begins with a halt word stops first and is read afterwards. Any other text is checked as a whole, then acted
on. Every text has one reply, now or when a worker has read it. Persons, scripts and planners are treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from telerobot_nodes.core.protocol import begins_with_halt, halt_scope, is_only_halt, role_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.decision import (
    Breakpoints,
    DecisionUnit,
    Dispatch,
    Job,
    JobDone,
    ObserveArm,
    Parsed,
    ParseText,
    ReloadSkills,
    Reply,
    Work,
)
from telerobot_nodes.rtc.language import (
    CommandError,
    Control,
    Name,
    Statement,
    TaskResult,
    parse,
    refuse_too_long,
)
from telerobot_nodes.rtc.server.authority_words import agent_of
from telerobot_nodes.rtc.server.breakpoint_words import breakpoints_of, is_for_tasks, known_steps
from telerobot_nodes.rtc.server.control_words import ControlWords, Outputs, divided
from telerobot_nodes.rtc.skills import Library, Report
from telerobot_nodes.rtc.world import Database, Validity

SHORT = 160  # characters parsed here, in a millisecond at most; a worker parses longer messages
OBSERVE_EVERY = 0.5  # [s] between entries of an arm that no command moves
MOVED = 0.005  # [rad] from where the database has it
EVERYTHING = Control("halt")
_LETS_MOVE = frozenset(("reset", "resume", "step", "continue"))


@dataclass(frozen=True)
class _OwnJob:
    """A job of the interface: for a text, or for the database when `sender` is empty."""

    sender: str = ""
    text: str | bytes = ""
    arrived: float = 0.0  # [s]


@dataclass
class InterfaceServer:
    """Takes texts, reports, measurements and time; returns outputs. Owns the decision unit, reads the database."""

    unit: DecisionUnit
    database: Database
    arms: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)  # joints, pose now
    _own_jobs: dict[int, _OwnJob] = field(default_factory=dict)
    _job: int = 0

    def __post_init__(self) -> None:
        self._words = ControlWords(self.unit, self.database, self.arms)

    def submit(self, sender: str, text: str | bytes, now: float, arrived: float | None = None) -> Outputs:
        """Take a message: one Reply with the command's number or the error, and what follows from it.

        `arrived`: when it came [s], if that is not now; what came before a halt begins nothing after it.
        """
        if begins_with_halt(text):
            meant = self.halt_meant(text)
            return [*self.halt(meant, f"halt by {role_of(sender)}", now), *self.after_halt(sender, text, meant, now)]
        arrived = now if arrived is None else arrived
        try:
            if len(text) > SHORT:
                refuse_too_long(text)
                return [self._own(ParseText(text, dict(self.unit.macros)), sender, text, arrived)]
            verbs = self.unit.library.workcell.vocabulary.verbs
            return self._take(sender, text, parse(text, verbs), now, arrived)
        except CommandError as error:
            return [Reply(sender, str(error), ok=False)]

    # halts -----------------------------------------------------------------------------------------------------

    def halt_meant(self, text: str | bytes) -> Control:
        """What a text that begins with a halt word stops: a known arm or command that is all it names, else everything.

        Any thread.
        """
        scope = halt_scope(text)
        if not scope:
            return EVERYTHING
        control = Control("halt", command=scope) if isinstance(scope, int) else Control("halt", name=Name(scope))
        try:
            self._words.records(control)
        except CommandError:
            return EVERYTHING
        return control

    def labels(self) -> list[str]:
        """Labels of the commands under way. Any thread."""
        return [record.label for record in list(self.unit.commands.values()) if record.label]

    def moved_by(self, meant: Control) -> list[tuple[str, int]]:
        """Subsystem and primitive (0: any) that a halt of this scope stops now; none of a command that has ended.

        Any thread.
        """
        if arm := self._words.arm_of(meant):
            return [(arm, 0)]
        try:
            return self._words.moving(self._words.records(meant) or [])
        except CommandError:  # it has ended since the text was looked at
            return []

    def halt(self, meant: Control, reason: str, now: float, heard: float | None = None) -> Outputs:
        """End what a halt stops: the subsystems first, then the bookkeeping. `heard`: when it came [s], if not now."""
        try:
            return self._words.halt(meant, reason, now, now if heard is None else heard)
        except CommandError:  # the command has ended meanwhile
            return []

    @staticmethod
    def needs_no_reading(text: str | bytes, meant: Control) -> bool:
        """Whether nothing of a halting text is left to be read."""
        return meant != EVERYTHING or is_only_halt(text)

    def after_halt(self, sender: str, text: str | bytes, meant: Control, now: float) -> Outputs:
        """Read what is left of a text whose halt is done: other control words are obeyed, complaints answered."""
        if self.needs_no_reading(text, meant):
            return [Reply(sender, "halt")]
        try:
            return self._rest_of_halt(sender, text, now)
        except CommandError as error:
            several = any(mark in (text if isinstance(text, str) else text.decode("latin-1")) for mark in ";\n")
            return [Reply(sender, f"halt: everything is stopped; not understood: {error}", ok=not several)]

    def _rest_of_halt(self, sender: str, text: str | bytes, now: float) -> Outputs:
        if len(text) > SHORT:
            raise CommandError(f"the {len(text)} characters were not read")
        statements = parse(text)
        words, _ = divided(statements)
        halts = [word for word in words if isinstance(word, Control) and word.verb == "halt"]
        if statements[0] not in halts:
            raise CommandError("what follows was not executed", statements[0].at)
        for word in words:  # read late: what others have halted or begun meanwhile must not move by it
            if isinstance(word, TaskResult) or (isinstance(word, Control) and word.verb in _LETS_MOVE):
                verb = word.verb if isinstance(word, Control) else "done" if word.done else "failed"
                raise CommandError(f"{verb!r} stands in a text of its own, after the halt", word.at)
        for word in halts:
            if word.name is not None:
                self._words.records(word)  # a wrong name is complained of
        answers, out = self._words.act(sender, [word for word in words if word not in halts], now)
        return [*out, Reply(sender, "\n".join(["halt", *answers]))]

    # texts -----------------------------------------------------------------------------------------------------

    def _take(
        self, sender: str, text: str | bytes, statements: tuple[Statement, ...], now: float, arrived: float
    ) -> Outputs:
        """Act on short texts of one kind at once; a worker checks tasks that follow control words."""
        words, tasks = divided(statements)
        if words and tasks:
            self._words.check(sender, self._for_commands(words, tasks)[0], now)
            return [self._own(ParseText(text, dict(self.unit.macros), statements), sender, text, arrived)]
        return self._act(sender, text, statements, now, arrived)

    def _act(
        self, sender: str, text: str | bytes, statements: tuple[Statement, ...], now: float, arrived: float
    ) -> Outputs:
        """Act on statements whose names are known; raises CommandError before the first acts."""
        words, tasks = divided(statements)
        if words and isinstance(words[0], Control) and words[0].verb == "reload":
            return [self._own(ReloadSkills(), sender)]
        words, breakpoints = self._for_commands(words, tasks)
        tasks = self._words.transfers(sender, tasks)
        resets = any(isinstance(word, Control) and word.verb == "reset" for word in words)
        if (tasks and arrived < self._words.halted_at) or (resets and arrived < self._words.last_halt_at):
            raise CommandError("a halt came after this text; nothing of it was begun")
        answers, out = self._words.act(sender, words, now)
        if not tasks:
            return [*out, Reply(sender, "\n".join(answers))]
        agent = agent_of(sender, self.unit.library.workcell)
        number, outputs = self.unit.start(sender, text, now, tasks, agent, breakpoints)
        said = "\n".join([*answers, f"command {number}"])
        return [*out, Reply(sender, said, command=number), *outputs]

    def _for_commands(
        self, words: tuple[Statement, ...], tasks: tuple[Statement, ...]
    ) -> tuple[tuple[Statement, ...], Breakpoints]:
        """The words for commands under way, and the breakpoints of the tasks; raises CommandError."""
        breakpoints = breakpoints_of(words, tasks)
        if not tasks:
            return words, breakpoints
        own = [word for word in words if isinstance(word, Control) and is_for_tasks(word)]
        known_steps((step for word in own for step in word.steps), self.unit.library)
        return tuple(word for word in words if word not in own), breakpoints

    def job_done(self, done: JobDone, now: float) -> Outputs:
        """A worker's answer."""
        own = self._own_jobs.pop(done.job, None)
        if own is None:
            return self.unit.job_done(done, now)
        if done.error:
            return [Reply(own.sender, done.error, ok=False)]
        if isinstance(done.result, Library):
            self.unit.adopt(done.result)
            return [Reply(own.sender, f"{len(done.result.skills)} skills are in use")]
        if isinstance(done.result, Parsed):
            try:
                return self._act(own.sender, own.text, done.result.statements, now, own.arrived)
            except CommandError as error:
                return [Reply(own.sender, str(error), ok=False)]
        return []

    def _own(self, work: Work, sender: str = "", text: str | bytes = "", arrived: float = 0.0) -> Dispatch:
        self._job -= 1  # the decision unit's own jobs count upwards
        self._own_jobs[self._job] = _OwnJob(sender, text, arrived)
        return Dispatch(Job(self._job, 0, self.unit.library, work))

    # what else arrives -----------------------------------------------------------------------------------------

    def report(self, report: Report, now: float) -> Outputs:
        """A subsystem's report."""
        return self.unit.report(report, now)

    def tick(self, now: float) -> Outputs:
        """Check the time."""
        return self.unit.tick(now)

    def measured(self, arm: str, joints: tuple[float, ...], pose: tuple[float, ...], now: float) -> Outputs:
        """Take a measured arm; it is entered when no command holds the arm and the database is out of date."""
        self.arms[arm] = (joints, pose)
        if arm not in self.unit.library.workcell.arms or not self._is_news(arm, joints, now):
            return []
        return [self._own(ObserveArm(arm, joints, pose))]

    def _is_news(self, arm: str, joints: tuple[float, ...], now: float) -> bool:
        """Whether to enter an arm: its joints are not trusted, or it was moved without a command."""
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
        """A signal of the workcell has changed; one that the workcell file does not name is refused."""
        known = self.unit.library.workcell.vocabulary.signals
        if name not in known:
            raise InvalidValueError("signal", name[:100], f"allowed: {', '.join(sorted(known)) or 'none'}")
        self.unit.waits.signals[name] = on
        return self.unit.tick(now)


def _apart(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Largest difference [rad]; infinite for different arms."""
    return max((abs(x - y) for x, y in zip(a, b, strict=True)), default=0.0) if len(a) == len(b) else float("inf")
