"""The workers behind the decision unit: a job has all it needs, its result is the only effect [JPL-RTC section 5].

Workers keep no state between jobs; the host may run them in any thread, `DATABASE_WORK` one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.decision import (
    AbandonPrimitive,
    AnalyseReport,
    AnalysisUnit,
    BindPrimitive,
    ElaborateScript,
    Job,
    JobDone,
    JobResult,
    ObserveArm,
    OpenContext,
    Parsed,
    ParseText,
    TryRequest,
    Work,
)
from telerobot_nodes.rtc.elaboration import bind, elaborate, make_request
from telerobot_nodes.rtc.language import (
    CommandError,
    Define,
    Run,
    Statement,
    Task,
    Trial,
    check,
    decode,
    expand_macro,
    parse,
    print_statement,
)
from telerobot_nodes.rtc.server.trial_run import try_tasks
from telerobot_nodes.rtc.skills import Library, reload_library
from telerobot_nodes.rtc.world import Checks, Database


class JobError(TelerobotError):
    """A job cannot be done here."""


@dataclass(frozen=True)
class Workers:
    """What workers can reach: the database, kinematics and collision checks, the folder of the skill files."""

    database: Database
    checks: Checks
    folder: Path | None = None

    def run(self, job: Job, now: float) -> JobDone:
        """Do a job; an expected error comes back as `error`."""
        try:
            return JobDone(job.number, self._result(job, now))
        except TelerobotError as error:
            return JobDone(job.number, error=str(error))

    def _result(self, job: Job, now: float) -> JobResult:
        work, library, view = job.work, job.library, self.database.view
        if isinstance(work, ParseText):
            return self._parse(work, library)
        if isinstance(work, ElaborateScript):
            return elaborate(work.request, library, view, self.checks, work.results, work.chosen)
        if isinstance(work, BindPrimitive):
            numbers = (work.primitive, job.command)
            return bind(work.planned, *numbers, work.request, library, view, self.checks, work.results, work.began)
        if isinstance(work, TryRequest):
            return try_tasks(work.request, work.rest, library, self.database, self.checks)
        if isinstance(work, (OpenContext, AnalyseReport, AbandonPrimitive, ObserveArm)):
            return _analyse(AnalysisUnit(library, self.database, self.checks), work, now)
        if self.folder is None:
            raise JobError("no folder of skill files is set")
        library = reload_library(self.folder)
        self.database.declare(library.workcell.items)
        return library

    def _parse(self, work: ParseText, library: Library) -> Parsed:
        """The statements with macros expanded and all checked; of `checked` ones the first again."""
        source = decode(work.text)
        try:
            vocabulary = replace(library.workcell.vocabulary, macros=frozenset(work.macros))
            statements = _expanded(work.statements or parse(source, vocabulary.verbs), work.macros)
            new = statements[:1] if work.checked else statements
            statements = [*(check(one, vocabulary) for one in new), *statements[len(new) :]]
            first = statements[0]
            tasks = first.tasks if isinstance(first, Trial) else (first,)
            request = make_request(tasks[0], library, self.database.view) if isinstance(tasks[0], Task) else None
            if request is not None and len(tasks) > 1:
                request = replace(request, text="; ".join(map(print_statement, tasks)))
        except CommandError as error:
            raise error.with_source(source) from None
        return Parsed(tuple(statements), replace(request, agent=work.agent) if request else None)


def _analyse(unit: AnalysisUnit, work: Work, now: float) -> JobResult:
    if isinstance(work, OpenContext):
        return unit.open(work.context, now)
    if isinstance(work, AnalyseReport):
        return unit.evaluate(work.context, work.report, now)
    if isinstance(work, AbandonPrimitive):
        unit.abandon(work.context, work.sent, now)
    elif isinstance(work, ObserveArm):
        unit.observe(work.arm, work.joints, work.pose, now)
    return None


def _expanded(statements: tuple[Statement, ...], known: Mapping[str, Define]) -> list[Statement]:
    """The statements with macros expanded, those too that the same text defines."""
    macros = dict(known)
    out: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Define):
            macros[statement.name.text] = statement
        if isinstance(statement, Run) and not statement.forget:
            out += expand_macro(statement, macros)
            continue
        if isinstance(statement, Trial):
            tasks = tuple(one for one in _expanded(statement.tasks, macros) if isinstance(one, Task))
            out.append(replace(statement, tasks=tasks))
            continue
        if isinstance(statement, Run):
            macros.pop(statement.name.text, None)
        out.append(statement)
    return out
