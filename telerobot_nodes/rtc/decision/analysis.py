"""Analysis unit: evaluates a report by its table; the only writer of the database [JPL-RTC section 5].

Memoryless: context and report in, recommendation out. It knows no other command and no global error; the decision
unit may follow the recommendation or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.decision.reactions import REACTING
from telerobot_nodes.rtc.elaboration import Environment, PlannedStep, Request, Results, Rule
from telerobot_nodes.rtc.skills import (
    ExpressionError,
    Library,
    NotYetKnownError,
    Primitive,
    Report,
    Row,
    Verdict,
    WriteRule,
)
from telerobot_nodes.rtc.world import Checks, Database, DatabaseError, Item, Validity, View, Write

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
    """Result of an evaluation; later steps may use `result`."""

    verdict: Verdict
    note: str
    result: Mapping[str, object] = field(default_factory=dict)
    rule: Rule | None = None  # the reflex to act out


class AnalysisUnit:
    """Evaluates reports."""

    def __init__(self, library: Library, database: Database, checks: Checks) -> None:
        self._library = library
        self._database = database
        self._checks = checks

    def open(self, context: Context, now: float) -> Context:
        """Mark the items that the primitive will disturb; raises DatabaseError or ExpressionError."""
        env = self._environment(context, self._database.view)
        keys = [env.text(key) for key in context.planned.step.disturbs]
        if context.planned.kind.role == "arm" and context.planned.kind.executive not in ("sense", "tare"):
            keys += [f"{env.lookup('arm')}.{name}" for name in ("joints", "pose")]
        known = {key: self._database.view.item(key).validity for key in keys if self._database.view.has(key)}
        self._write(context.writer, [Write(key, validity=Validity.BUSY) for key in known], now)
        return replace(context, before=known)

    def abandon(self, context: Context, sent: bool, now: float) -> None:
        """Settle a primitive without a report: its disturbed items are suspect, or as before if it was never sent."""
        writes = [
            Write(key, validity=min(was, Validity.SUSPECT) if sent else was) for key, was in context.before.items()
        ]
        self._write(context.writer, writes, now)

    def evaluate(self, context: Context, report: Report, now: float) -> Recommendation:
        """Evaluate a final report and update the database."""
        measured = _measured(report)
        base = self._base_writes(context, report)
        quiet = [Write(key, validity=was) for key, was in context.before.items() if key not in {w.key for w in base}]
        scratch = self._database.copy()
        _apply(scratch, context.writer, [*quiet, *base], now)
        added, unmeasured = self._added(context, report, scratch.view)
        _apply(scratch, context.writer, added, now)
        env = self._environment(context, scratch.view, self._expected(context, report, scratch.view))
        row, note = self._judge(context, report, env)
        row, note = _confirmed(context, report, row, note, env)
        changes, trouble = self._changes(context, report, row, env)
        try:
            if row.verdict is Verdict.CONTINUE and not trouble:
                measured |= {name: env.evaluate(e) for name, e in context.planned.step.keeps.items()}
        except (ExpressionError, NotYetKnownError, DatabaseError) as error:
            trouble = str(error)
        if trouble:
            row, note = replace(row, verdict=Verdict.ABORT), trouble
        trusted = row.verdict is Verdict.CONTINUE and not _is_wished(context, report)
        settled = [w if trusted and w.key not in unmeasured else _doubted(w) for w in quiet]
        try:
            self._write(context.writer, _last_wins([*settled, *base, *added, *changes]), now)
        except (DatabaseError, InvalidValueError) as error:
            return Recommendation(Verdict.ABORT, f"the database refused the result: {error}", measured)
        number = int(report.outcome.removeprefix("reflex_")) if row.verdict is Verdict.REACT else 0
        return Recommendation(row.verdict, note, measured, context.request.reflexes[number - 1] if number else None)

    def observe(self, arm: str, joints: Iterable[float], pose: Iterable[float], now: float) -> None:
        """Enter a measured arm outside any command: at the start, or after the operator has moved it."""
        writes = [Write(f"{arm}.joints", tuple(joints)), Write(f"{arm}.pose", tuple(pose))]
        self._write(f"observation of {arm}", writes, now)

    def _environment(self, context: Context, view: View, extra: Mapping[str, object] | None = None) -> Environment:
        results = context.results
        return Environment(context.planned.frame, context.request, self._library, view, self._checks, results, extra)

    def _base_writes(self, context: Context, report: Report) -> list[Write]:
        """Writes of the arm itself."""
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

    def _added(self, context: Context, report: Report, view: View) -> tuple[list[Write], set[str]]:
        """Changes of items as measured on the way, and the keys for which nothing was measured."""
        env = self._environment(context, view, self._expected(context, report, view))
        added, unmeasured = [], set()
        for key, expression in context.planned.step.adds.items():
            name = env.text(key)
            before = view.item(name) if view.has(name) else Item(name, 0.0)
            try:
                change = float(env.evaluate(expression))
            except (ExpressionError, NotYetKnownError):
                unmeasured.add(name)
                continue
            value = before.value if isinstance(before.value, float) else 0.0
            added.append(Write(name, value + change, before.validity))
        return added, unmeasured

    def _expected(self, context: Context, report: Report, view: View) -> dict[str, object]:
        """The target, and for an operator's task the readings a done means when none are entered."""
        target = context.primitive.parameters.get("tr_tn_dest")
        extra: dict[str, object] = {} if target is None else {"target": np.asarray(target)}
        env = self._environment(context, view)
        measured = dict(_measured(report))
        if context.primitive.executive == OPERATOR_TASK:
            for name, expression in context.planned.kind.predicts.items():
                if name not in measured:
                    known = context.primitive.parameters.get(name)
                    measured[name] = env.evaluate(expression) if known is None else known
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
        if _is_wished(context, report):  # what it measured is entered all the same
            row, _ = self._row(context, outcome, report, env)
            return replace(row, verdict=Verdict.CONTINUE), f"{outcome} is accepted"
        if outcome.startswith("reflex_"):
            rule = context.request.reflexes[int(outcome.removeprefix("reflex_")) - 1]
            verdict = Verdict.REACT if rule.action.kind in REACTING else Verdict.ABORT
            return Row(verdict), f"reflex: {rule.text}, {rule.does if verdict is Verdict.REACT else 'stopped'}"
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

    def _changes(self, context: Context, report: Report, row: Row, env: Environment) -> tuple[list[Write], str]:
        """Writes of the row, and of the step where it has done what it was sent for; why one has no value.

        What has no value is not to be trusted; the others are true all the same.
        """
        done = row.verdict is Verdict.CONTINUE and not _is_wished(context, report)
        rules_of_step = context.planned.step.writes if done else ()
        changes: list[Write] = []
        try:
            rules = {env.text(rule.key): rule for rule in (*row.writes, *rules_of_step)}
        except ExpressionError as error:
            return changes, str(error)
        trouble = ""
        for key, rule in rules.items():
            try:
                changes.append(_write_of(rule, env))
            except (ExpressionError, NotYetKnownError, DatabaseError) as error:
                trouble = trouble or str(error)
                changes += [Write(key, validity=Validity.SUSPECT)] if env.view.has(key) else []
        return changes, trouble

    def _write(self, writer: str, writes: list[Write], now: float) -> None:
        if writes:
            self._database.claim(writer, {write.key.partition(".")[0] for write in writes})
            try:
                self._database.write(writer, writes, now)
            finally:
                self._database.release(writer)


def _is_wished(context: Context, report: Report) -> bool:
    """Whether a step ended as the command wishes, and not as it was sent for: its condition came true, or `accept`."""
    own = report.outcome == context.planned.kind.success
    return report.outcome == "until" or (report.outcome in context.request.accept and not own)


def _confirmed(context: Context, report: Report, row: Row, note: str, env: Environment) -> tuple[Row, str]:
    """The row and note, or a recovery when the measurements do not show what the step was sent for."""
    if row.verdict is not Verdict.CONTINUE or context.primitive.executive == OPERATOR_TASK:
        return row, note
    own = report.outcome == context.planned.kind.success
    for demand in (demand for demand in context.planned.step.confirms if own or demand.always):
        try:
            if not env.evaluate(demand.condition):
                return Row(Verdict.RECOVER), env.text(demand.message)
        except (ExpressionError, NotYetKnownError) as error:
            return Row(Verdict.ABORT), f"the motion cannot be confirmed: {error}"
    return row, note


def _doubted(entry: Write) -> Write:
    return replace(entry, validity=min(entry.validity, Validity.SUSPECT))


def _measured(report: Report) -> dict[str, object]:
    measured: dict[str, object] = {"outcome": report.outcome, "elapsed": report.elapsed}
    measured |= {name: np.asarray(v) if isinstance(v, tuple) else v for name, v in report.readings.items()}
    measured["readings"] = dict(report.readings)
    if report.joints:
        measured["joints"] = np.asarray(report.joints)
    if report.pose:
        measured["pose"] = np.asarray(report.pose)
    if report.track:
        measured["track"] = np.asarray(report.track)
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
