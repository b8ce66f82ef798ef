"""The workers behind the decision unit: each job has all it needs, the answer is the only effect [JPL-RTC section 5].

Created as needed and without memory; the host may run jobs in any thread, one analysis job at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.analysis import AnalysisUnit
from telerobot_nodes.rtc.binder import bind
from telerobot_nodes.rtc.check import check
from telerobot_nodes.rtc.database import Database
from telerobot_nodes.rtc.elaborator import elaborate
from telerobot_nodes.rtc.interfaces import Checks
from telerobot_nodes.rtc.messages import Job, JobDone, JobResult, Parsed, Work
from telerobot_nodes.rtc.parser import decode, parse
from telerobot_nodes.rtc.problems import CommandError
from telerobot_nodes.rtc.request import Request, make_request
from telerobot_nodes.rtc.skill_files import reload_library
from telerobot_nodes.rtc.skills import Library
from telerobot_nodes.rtc.substitution import expand_macro
from telerobot_nodes.rtc.syntax import Run, Statement, Task
from telerobot_nodes.rtc.trial_run import try_request


class JobError(TelerobotError):
    """A job lacks something it needs."""


@dataclass(frozen=True)
class Workers:
    """What workers can reach: the database, the planner side, the folder of the skill files."""

    database: Database
    checks: Checks
    folder: Path | None = None

    def run(self, job: Job, now: float) -> JobDone:
        """Do a job; trouble that can be expected comes back as `error`."""
        try:
            result = _RUN[job.work](self, job, now)
        except CommandError as error:
            return JobDone(job.number, error=str(error))
        except TelerobotError as error:
            return JobDone(job.number, error=str(error))
        return JobDone(job.number, result, nothing=job.work is Work.BIND and result is None)

    def _parse(self, job: Job, _now: float) -> JobResult:
        library = _library(job)
        vocabulary = replace(library.workcell.vocabulary, macros=frozenset(job.macros))
        source = decode(job.text)
        try:
            statements = (job.statement,) if job.statement is not None else parse(source)
            statements = _expanded(statements, job)
            checked = tuple(check(s, vocabulary) if n == 0 else s for n, s in enumerate(statements))
            request = self._request(checked[0], library)
        except CommandError as error:
            raise error.with_source(source) from None
        return Parsed(checked, request)

    def _request(self, statement: Statement, library: Library) -> Request | None:
        return make_request(statement, library, self.database.view) if isinstance(statement, Task) else None

    def _elaborate(self, job: Job, _now: float) -> JobResult:
        return elaborate(_request(job), _library(job), self.database.view, self.checks, job.results, job.chosen)

    def _bind(self, job: Job, _now: float) -> JobResult:
        if job.planned is None:
            raise JobError("no step to bind")
        return bind(
            job.planned,
            job.primitive,
            job.command,
            _request(job),
            _library(job),
            self.database.view,
            self.checks,
            job.results,
        )

    def _analysis(self, job: Job) -> AnalysisUnit:
        return AnalysisUnit(_library(job), self.database, self.checks)

    def _open(self, job: Job, now: float) -> JobResult:
        if job.context is None:
            raise JobError("no context to open")
        return self._analysis(job).open(job.context, now)

    def _analyse(self, job: Job, now: float) -> JobResult:
        if job.context is None or job.report is None:
            raise JobError("no report to analyse")
        return self._analysis(job).evaluate(job.context, job.report, now)

    def _abandon(self, job: Job, now: float) -> JobResult:
        if job.context is not None:
            self._analysis(job).abandon(job.context, job.sent, now)
        return None

    def _observe(self, job: Job, now: float) -> JobResult:
        self._analysis(job).observe(job.arm, job.joints, job.pose, now)
        return None

    def _try(self, job: Job, _now: float) -> JobResult:
        return try_request(_request(job), _library(job), self.database, self.checks)

    def _reload(self, _job: Job, _now: float) -> JobResult:
        if self.folder is None:
            raise JobError("no folder of skill files is set")
        return reload_library(self.folder)


_RUN = {
    Work.PARSE: Workers._parse,
    Work.ELABORATE: Workers._elaborate,
    Work.BIND: Workers._bind,
    Work.OPEN: Workers._open,
    Work.ANALYSE: Workers._analyse,
    Work.ABANDON: Workers._abandon,
    Work.OBSERVE: Workers._observe,
    Work.TRY: Workers._try,
    Work.RELOAD: Workers._reload,
}


def _library(job: Job) -> Library:
    if job.library is None:
        raise JobError("no library")
    return job.library


def _request(job: Job) -> Request:
    if job.request is None:
        raise JobError("no request")
    return job.request


def _expanded(statements: tuple[Statement, ...], job: Job) -> tuple[Statement, ...]:
    out: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Run) and not statement.forget:
            out += expand_macro(statement, job.macros)
        else:
            out.append(statement)
    return tuple(out)
