"""Outputs of the decision unit as messages."""

from __future__ import annotations

from typing import Any

from telerobot.msg import CommandReport as CommandReportMessage
from telerobot.msg import OperatorTask
from telerobot.msg import ScriptState as ScriptStateMessage
from telerobot.msg import ScriptStep as ScriptStepMessage
from telerobot.msg import TrialStep as TrialStepMessage
from telerobot_nodes.nodes.messages import doubles
from telerobot_nodes.rtc.decision import CommandReport, Progress, Reply, ScriptState, ShowTask, TracedStep, TrialReport


def reply_message(link: Any, reply: Reply, number: int = 0) -> Any:
    """CommandReport.msg of the answer to the text of a number (0: none)."""
    kind = CommandReportMessage.REPLY
    return CommandReportMessage(
        link=link,
        kind=kind,
        command=reply.command,
        sender=reply.sender,
        text=reply.text,
        ok=reply.ok,
        text_number=number,
    )


def progress_message(link: Any, progress: Progress, sender: str, elapsed: float, number: int = 0) -> Any:
    """CommandReport.msg of something on the way; `number` of the text."""
    return CommandReportMessage(
        link=link,
        kind=CommandReportMessage.PROGRESS,
        command=progress.command,
        sender=sender,
        step=progress.step,
        reason=progress.text,
        ok=True,
        elapsed=elapsed,
        text_number=number,
    )


def ended_message(link: Any, report: CommandReport, number: int = 0) -> Any:
    """CommandReport.msg of the one report a command ends with; `number` of the text."""
    outcome: str = report.outcome
    if report.trial is not None:
        outcome = "works" if report.trial.works else "fails"
    return CommandReportMessage(
        link=link,
        kind=CommandReportMessage.ENDED,
        command=report.command,
        sender=report.sender,
        text=report.text,
        ok=report.outcome == "succeeded",
        outcome=outcome,
        reason=report.reason,
        step=report.step,
        steps_done=report.steps_done,
        trims=list(report.trims),
        notes=list(report.notes),
        trial=[] if report.trial is None else _trial(report.trial),
        elapsed=report.elapsed,
        origin=report.origin or report.command,
        more=report.more,
        text_number=number,
    )


def _trial(trial: TrialReport) -> list[Any]:
    return [
        TrialStepMessage(
            step=step.step,
            kind=step.kind,
            subsystem=step.subsystem,
            ok=step.ok,
            note=step.note,
            duration=step.duration,
            target=doubles(step.target),
        )
        for step in trial.steps
    ]


def task_message(link: Any, task: ShowTask, command: int) -> Any:
    """OperatorTask.msg of a task shown or taken away."""
    return OperatorTask(link=link, task=task.task, command=command, text=task.text, shown=task.shown)


def script_message(link: Any, script: ScriptState, number: int = 0) -> Any:
    """ScriptState.msg of a live script; `number` of the text."""
    return ScriptStateMessage(
        link=link,
        command=script.command,
        origin=script.origin,
        text_number=number,
        sender=script.sender,
        text=script.text,
        state=script.state,
        paused=script.paused,
        steps=[_script_step(step) for step in script.steps],
        outcome=script.outcome,
        reason=script.reason,
        elapsed=script.elapsed,
    )


def _script_step(step: TracedStep) -> Any:
    return ScriptStepMessage(
        name=step.name,
        state=int(step.state),
        kind=step.kind,
        subsystem=step.subsystem,
        recovery=step.recovery,
        note=step.note,
        began=step.began,
        ended=step.ended,
    )
