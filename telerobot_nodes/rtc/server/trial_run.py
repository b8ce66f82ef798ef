"""Hypothesis testing: the same elaborator, binder and analysis on a copy of the database [JPL-RTC section 5].

Each primitive is answered with the report of its success; nothing is commanded and the original does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from telerobot_nodes.errors import OutOfReachError, TelerobotError
from telerobot_nodes.rtc.decision import AnalysisUnit, Context, Recommendation, TrialReport, TrialStep
from telerobot_nodes.rtc.elaboration import Environment, PlannedStep, Request, bind, elaborate, make_request
from telerobot_nodes.rtc.language import CommandError, Task
from telerobot_nodes.rtc.skills import Library, Primitive, Report, Space, Verdict
from telerobot_nodes.rtc.world import Checks, Database, Validity


def try_tasks(
    request: Request, rest: tuple[Task, ...], library: Library, database: Database, checks: Checks
) -> TrialReport:
    """Whether a request, and then each other task, would work after those before it; steps have their task's number."""
    copy = database.copy()
    report = _try(request, library, copy, checks)
    if not rest:
        return report
    steps = _numbered(1, report)
    for number, task in enumerate(rest, 2):
        if not report.works:
            return replace(report, reason=f"task {number - 1}: {report.reason}", steps=steps, duration=_total(steps))
        try:
            follows = replace(make_request(task, library, copy.view), agent=request.agent)
        except CommandError as error:
            return TrialReport(False, f"task {number}: {error}", steps, _total(steps))
        report = _try(follows, library, copy, checks)
        steps += _numbered(number, report)
    reason = report.reason if report.works else f"task {len(rest) + 1}: {report.reason}"
    return replace(report, reason=reason, steps=steps, duration=_total(steps))


def _numbered(number: int, report: TrialReport) -> tuple[TrialStep, ...]:
    return tuple(replace(step, step=f"{number}: {step.step}") for step in report.steps)


def _try(request: Request, library: Library, copy: Database, checks: Checks) -> TrialReport:
    """Whether a request would work, as far as planning can decide, and the numbers of every step; changes the copy."""
    analysis = AnalysisUnit(library, copy, checks)
    done: list[TrialStep] = []
    results: dict[str, dict[str, object]] = {}
    name = "plan"
    try:
        script = elaborate(request, library, copy.view, checks)
        for number, planned in enumerate(script.steps, 1):
            name = planned.name
            primitive = bind(planned, number, 0, request, library, copy.view, checks, results)
            if primitive is None:
                continue
            advice = _step(analysis, Context(planned, primitive, request, dict(results)), copy, library, checks)
            results[planned.name] = dict(advice.result) | {"outcome": planned.kind.success}
            done.append(_line(planned, primitive, advice))
            if advice.verdict is not Verdict.CONTINUE:
                return TrialReport(False, f"step {name}: {advice.note}", tuple(done), _total(done))
    except TelerobotError as error:
        done.append(TrialStep(name, "", "", False, str(error)))
        return TrialReport(False, str(error), tuple(done), _total(done))
    return TrialReport(True, "every step can be planned", tuple(done), _total(done))


def _step(analysis: AnalysisUnit, context: Context, copy: Database, library: Library, checks: Checks) -> Recommendation:
    report = predicted_report(context, copy, library, checks)
    return analysis.evaluate(analysis.open(context, 0.0), report, 0.0)


def predicted_report(context: Context, database: Database, library: Library, checks: Checks) -> Report:
    """The report of a primitive's success: at its target, with the readings its kind predicts."""
    planned, primitive = context.planned, context.primitive
    doubtful = Validity.BUSY  # where a step before has put it, and the camera of this one is to find it
    env = Environment(planned.frame, context.request, library, database.view, checks, context.results, least=doubtful)
    joints, pose = _arm_state(planned, primitive, env)
    readings: dict[str, float | str | tuple[float, ...]] = {}
    for name, expression in planned.kind.predicts.items():
        known = primitive.parameters.get(name)
        value = known if known is not None else env.evaluate(expression)
        readings[name] = float(value) if np.isscalar(value) else tuple(np.asarray(value).tolist())  # type: ignore[arg-type]
    outcome = "done" if primitive.executive == "operator_task" else planned.kind.success
    points = primitive.trajectory.points if primitive.trajectory.space is Space.TASK else ()
    track = tuple(tuple(point) for point in np.asarray(points).tolist())
    elapsed = primitive.trajectory.duration
    return Report(primitive.number, outcome, joints, pose, readings=readings, elapsed=elapsed, track=track)


def _arm_state(
    planned: PlannedStep, primitive: Primitive, env: Environment
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if planned.kind.role != "arm":
        return (), ()
    arm = str(env.lookup("arm"))
    start = np.asarray(env.view.read(f"{arm}.joints", Validity.BUSY), dtype=np.float64)
    target = primitive.parameters.get("tr_tn_dest")
    if target is None or (not planned.kind.moves and primitive.trajectory.space is not Space.TASK):
        return tuple(start.tolist()), tuple(env.checks.kinematics.forward(arm, start).tolist())
    try:
        joints = env.checks.kinematics.solve(arm, np.asarray(target), start)
    except OutOfReachError:
        joints = start
    return tuple(joints.tolist()), tuple(np.asarray(target).tolist())


def _line(planned: PlannedStep, primitive: Primitive, advice: Recommendation) -> TrialStep:
    target = primitive.parameters.get("tr_tn_dest", ())
    numbers = target if isinstance(target, tuple) else ()
    good = advice.verdict is Verdict.CONTINUE
    duration = primitive.trajectory.duration
    return TrialStep(planned.name, primitive.kind, primitive.subsystem, good, advice.note, duration, numbers)


def _total(steps: Sequence[TrialStep]) -> float:
    return sum(step.duration for step in steps)
