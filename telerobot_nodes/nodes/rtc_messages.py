"""What the decision unit says, as messages."""

from __future__ import annotations

from typing import Any

from telerobot.msg import CommandReport as CommandReportMessage
from telerobot.msg import OperatorTask
from telerobot.msg import TrialStep as TrialStepMessage
from telerobot_nodes.nodes.convert import doubles
from telerobot_nodes.rtc.messages import CommandReport, Progress, Reply, ShowTask, TrialReport


def reply_message(link: Any, reply: Reply) -> Any:
    """CommandReport.msg of an answer."""
    kind = CommandReportMessage.REPLY
    return CommandReportMessage(
        link=link, kind=kind, command=reply.command, sender=reply.sender, text=reply.text, ok=reply.ok
    )


def progress_message(link: Any, progress: Progress, sender: str, elapsed: float) -> Any:
    """CommandReport.msg of something on the way."""
    return CommandReportMessage(
        link=link,
        kind=CommandReportMessage.PROGRESS,
        command=progress.command,
        sender=sender,
        step=progress.step,
        reason=progress.text,
        ok=True,
        elapsed=elapsed,
    )


def ended_message(link: Any, report: CommandReport) -> Any:
    """CommandReport.msg of the one report a command ends with."""
    outcome = report.outcome
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
