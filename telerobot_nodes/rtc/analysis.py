"""Analysis Unit: a report against its table gives a recommendation; the only database writer [JPL-RTC section 5].

Memoryless: the context of the command and the report go in, the recommendation comes out. Knows nothing of other
commands or of global trouble; the decision unit may follow it or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.database import Database, DatabaseError, Validity, View, Write
from telerobot_nodes.rtc.elaborator import PlannedStep
from telerobot_nodes.rtc.environment import Environment, Results
from telerobot_nodes.rtc.expressions import ExpressionError, NotYetKnownError
from telerobot_nodes.rtc.interfaces import Checks
from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.skills import Library, Row, Verdict, WriteRule

OPERATOR_TASK = "operator_task"


@dataclass(frozen=True)
class Context:
    """The evaluation context set up before a primitive is sent."""

    planned: PlannedStep
    primitive: Primitive
    request: Request
    results: Results
    before: Mapping[str, Validity] = field(default_factory=dict)  # disturbed items and how they were trusted

    @property
    def writer(self) -> str:
        """Name under which the database is written."""
        return f"command {self.primitive.command}"


@dataclass(frozen=True)
class Recommendation:
    """What the analysis unit found; `result` is what later steps may use."""

    verdict: Verdict
    note: str
    result: Mapping[str, object] = field(default_factory=dict)


class AnalysisUnit:
    """Evaluates reports. Holds nothing but what it reads and the database it writes."""

    def __init__(self, library: Library, database: Database, checks: Checks) -> None:
        self._library = library
        self._database = database
        self._checks = checks

    def open(self, context: Context, now: float) -> Context:
        """Mark what the primitive is about to disturb; raises DatabaseError or ExpressionError."""
        env = self._environment(context, self._database.view)
        keys = [env.text(key) for key in context.planned.step.disturbs]
        if context.planned.kind.role == "arm" and context.planned.kind.executive not in ("sense", "tare"):
            keys += [f"{env.lookup('arm')}.{name}" for name in ("joints", "pose")]
        known = {key: self._database.view.item(key).validity for key in keys if self._database.view.has(key)}
        self._write(context.writer, [Write(key, validity=Validity.BUSY) for key in known], now)
        return replace(context, before=known)

    def abandon(self, context: Context, sent: bool, now: float) -> None:
        """The primitive never answers: what it disturbed is suspect, or as before when it was never sent."""
        writes = [
            Write(key, validity=min(was, Validity.SUSPECT) if sent else was) for key, was in context.before.items()
        ]
        self._write(context.writer, writes, now)

    def evaluate(self, context: Context, report: Report, now: float) -> Recommendation:
        """The recommendation, with the database brought up to date."""
        measured = _measured(report)
        base = self._base_writes(context, report)
        quiet = [Write(key, validity=was) for key, was in context.before.items() if key not in {w.key for w in base}]
        scratch = self._database.copy()
        _apply(scratch, context.writer, [*quiet, *base], now)
        env = self._environment(context, scratch.view, self._expected(context, report, scratch.view))
        row, note = self._judge(context, report, env)
        try:
            trusted = row.verdict is Verdict.CONTINUE
            changes = self._changes(context, row, env)
        except (ExpressionError, NotYetKnownError, DatabaseError) as error:
            row, note, changes, trusted = replace(row, verdict=Verdict.ABORT), str(error), [], False
        settled = [w if trusted else replace(w, validity=min(w.validity, Validity.SUSPECT)) for w in quiet]
        try:
            self._write(context.writer, _last_wins([*settled, *base, *changes]), now)
        except (DatabaseError, InvalidValueError) as error:
            return Recommendation(Verdict.ABORT, f"the database refused the result: {error}", measured)
        return Recommendation(row.verdict, note, measured)

    def observe(self, arm: str, joints: Iterable[float], pose: Iterable[float], now: float) -> None:
        """Enter a measured arm outside any command: at the start, or when the operator has had it."""
        writes = [Write(f"{arm}.joints", tuple(joints)), Write(f"{arm}.pose", tuple(pose))]
        self._write(f"observation of {arm}", writes, now)

    def _environment(self, context: Context, view: View, extra: Mapping[str, object] | None = None) -> Environment:
        results = context.results
        return Environment(context.planned.frame, context.request, self._library, view, self._checks, results, extra)

    def _base_writes(self, context: Context, report: Report) -> list[Write]:
        """What a report says of the arm itself."""
        slots = context.planned.frame.slots
        if context.planned.kind.role != "arm" or "arm" not in slots:
            return []
        arm = str(slots["arm"])
        trusted = Validity.SUSPECT if report.outcome in ("sensor_loss", "link_loss") else Validity.VALID
        writes = []
        if report.joints:
            writes.append(Write(f"{arm}.joints", tuple(report.joints), trusted))
        if report.pose:
            writes.append(Write(f"{arm}.pose", tuple(report.pose), trusted))
        missing = {f"{arm}.joints", f"{arm}.pose"} - {write.key for write in writes}
        return writes + [Write(key, validity=Validity.SUSPECT) for key in missing & set(context.before)]

    def _expected(self, context: Context, report: Report, view: View) -> dict[str, object]:
        """The target, and for an operator's task the readings a done means when none are entered."""
        target = context.primitive.parameters.get("tr_tn_dest")
        extra: dict[str, object] = {} if target is None else {"target": np.asarray(target)}
        env = self._environment(context, view)
        measured = dict(_measured(report))
        if context.primitive.executive == OPERATOR_TASK:
            for name, expression in context.planned.kind.predicts.items():
                if name not in measured:
                    measured[name] = env.evaluate(expression)
        return extra | {"measured": measured}

    def _judge(self, context: Context, report: Report, env: Environment) -> tuple[Row, str]:
        primitive, kind = context.primitive, context.planned.kind
        outcome = report.outcome
        if outcome not in primitive.outcomes:
            known = ", ".join(primitive.outcomes)
            return Row(Verdict.ABORT), f"{primitive.subsystem} reports {outcome!r}, which is none of: {known}"
        by_person = primitive.executive == OPERATOR_TASK and kind.role != "operator"
        if by_person and outcome == "done":
            if kind.role == "arm":
                return Row(Verdict.CONTINUE), "done by the operator"
            outcome = kind.success
        if outcome in context.request.accept or outcome == "until":
            return Row(Verdict.CONTINUE), f"{outcome} is accepted"
        if outcome.startswith("reflex_"):
            rule = context.request.reflexes[int(outcome.removeprefix("reflex_")) - 1]
            return Row(Verdict.ABORT), f"reflex: {rule.text}, {rule.does}"
        return self._row(context, outcome, report, env)

    def _row(self, context: Context, outcome: str, report: Report, env: Environment) -> tuple[Row, str]:
        rows = self._library.tables[context.planned.step.table].rows.get(outcome)
        if rows is None:
            return Row(Verdict.ABORT), report.note or f"no row for {outcome}"
        for row in rows:
            try:
                if row.when is None or env.evaluate(row.when):
                    return row, report.note or row.note or outcome
            except (ExpressionError, NotYetKnownError) as error:
                return Row(Verdict.ABORT), f"the report cannot be judged: {error}"
        return Row(Verdict.ABORT), f"no row for {outcome}"

    def _changes(self, context: Context, row: Row, env: Environment) -> list[Write]:
        """Writes of the row, and of the step where it goes on."""
        rules_of_step = context.planned.step.writes if row.verdict is Verdict.CONTINUE else ()
        own = {env.text(rule.key): rule for rule in rules_of_step}
        rules = [rule for rule in row.writes if env.text(rule.key) not in own]
        return [_write_of(rule, env) for rule in (*rules, *own.values())]

    def _write(self, writer: str, writes: list[Write], now: float) -> None:
        if writes:
            self._database.claim(writer, {write.key.partition(".")[0] for write in writes})
            try:
                self._database.write(writer, writes, now)
            finally:
                self._database.release(writer)


def _measured(report: Report) -> dict[str, object]:
    measured: dict[str, object] = {"outcome": report.outcome, "elapsed": report.elapsed}
    measured |= {name: np.asarray(v) if isinstance(v, tuple) else v for name, v in report.readings.items()}
    measured["readings"] = dict(report.readings)
    if report.joints:
        measured["joints"] = np.asarray(report.joints)
    if report.pose:
        measured["pose"] = np.asarray(report.pose)
    if report.wrench:
        measured["wrench"] = np.asarray(report.wrench)
    return measured


def _write_of(rule: WriteRule, env: Environment) -> Write:
    value = None if rule.value is None else env.evaluate(rule.value)
    if isinstance(value, str):
        value = str(value)
    elif value is not None and not isinstance(value, (bool, int, float)):
        value = tuple(float(v) for v in np.asarray(value, dtype=np.float64).reshape(-1))
    return Write(env.text(rule.key), value, rule.validity, env.text(rule.frame) if rule.frame else "")


def _apply(scratch: Database, writer: str, writes: list[Write], now: float) -> None:
    scratch.claim(writer, {write.key.partition(".")[0] for write in writes})
    scratch.write(writer, writes, now)


def _last_wins(writes: list[Write]) -> list[Write]:
    return list({write.key: write for write in writes}.values())
