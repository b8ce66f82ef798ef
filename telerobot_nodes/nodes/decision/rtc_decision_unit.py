"""`rtc_decision_unit`: run-time control on topics, services and an action [JPL-RTC section 5].

This thread receives messages and passes them to the host; a halt is forwarded before anything else.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from telerobot.action import RunCommand
from telerobot_nodes.core.config import NodeOptions, parameter, share_path, state_file
from telerobot_nodes.core.memory import AGENT_LENGTH
from telerobot_nodes.core.protocol import ESTOP_SENDER, HaltId, begins_with_halt, identity, trial_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.decision.executive_check import ExecutiveChecks
from telerobot_nodes.nodes.decision.reply_cache import ReplyCache
from telerobot_nodes.nodes.decision.rtc_messages import (
    ended_message,
    progress_message,
    reply_message,
    script_message,
    task_message,
)
from telerobot_nodes.nodes.decision.rtc_subsystems import RtcSubsystems, robot_of
from telerobot_nodes.nodes.framework import (
    Goal,
    GraphNode,
    Health,
    found_quickly,
    node_parameters,
    run_node,
)
from telerobot_nodes.nodes.framework import Send as Answer
from telerobot_nodes.nodes.messages import LinkCounter
from telerobot_nodes.rtc.decision import (
    CommandReport,
    DecisionUnit,
    Measured,
    Output,
    Progress,
    Reply,
    ScriptState,
    ShowTask,
)
from telerobot_nodes.rtc.server import Admission, Host, InterfaceServer, RateLimiter, Workers, facts
from telerobot_nodes.rtc.skills import load_library
from telerobot_nodes.rtc.world import RobotChecks, SnapshotStore

OUTBOX_PERIOD = 0.01  # [s] between two drains of the outbox
TICK_PERIOD = 0.05  # [s]
SAVE_PERIOD = 1.0  # [s]
NAME = 200  # characters of a sender that are kept
SLOW_PERIOD = 0.1  # [s] between measurements forwarded while no condition is watched
FOLDER = "config/rtc"


@dataclass(frozen=True)
class RtcParameters:
    """Parameters of `rtc_decision_unit`."""

    folder: str = parameter("", doc="skills, primitives, tables and workcell; empty: those of the package")
    database: str = parameter("", doc="file of the database, kept across restarts; empty: in the run's state folder")
    arms: str = parameter(
        "", doc="namespaces of arms, for example left_arm=left,right_arm=right; empty: from the workcell file"
    )


class RtcDecisionUnitNode(GraphNode):
    """Receives texts, halts and measurements; publishes primitives, tasks and reports."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, RtcParameters)
        folder = Path(parameters.folder) if parameters.folder else share_path(FOLDER)
        library = load_library(folder)
        self._outbox: deque[Callable[[], None]] = deque()
        self._identity = identity(options.name)
        self._link = LinkCounter(self._identity)
        self._store = SnapshotStore(_file(parameters.database, self.get_fully_qualified_name()), library.workcell.items)
        database = self._store.database
        if self._store.notice:
            self.get_logger().error(self._store.notice)
        self._subsystems = RtcSubsystems(
            self, library.workcell, parameters.arms, options.robot, self._outbox.append, self._on_measured
        )
        arms = {name: link.arm for name, link in self._subsystems.arms.items()}

        def workers() -> Workers:  # kinematics of its own for every worker's thread
            models = {name: robot_of(arm, options.robot, T_world_base=_se3(arm.base)) for name, arm in arms.items()}
            checks = RobotChecks(models, self._subsystems.collision, ExecutiveChecks(models))
            return Workers(database, checks, folder)

        interface = InterfaceServer(DecisionUnit(library), database)
        self.host = Host(interface, workers, self._subsystems, self._out, self.now, self.note_error)
        self._subsystems.report = self.host.report
        self._news_at: dict[str, float] = {}
        self._replies = ReplyCache()
        self._limiter = RateLimiter()
        self._reports = self.publisher("rtc_decision_unit/reports")
        self._tasks = self.publisher("rtc_decision_unit/tasks")
        self._scripts = self.publisher("rtc_decision_unit/script")
        self.subscribe("rtc_decision_unit/commands", self._on_command)
        self.subscribe("rtc_decision_unit/signals", self._on_signal)
        self.subscribe("halt", self._on_halt)
        self.subscribe("estop", lambda message: self._on_halt(message, ESTOP_SENDER))
        self.serve_deferred("rtc_decision_unit/submit", self._on_submit)
        self.serve_deferred("rtc_decision_unit/try", self._on_try)
        self.act("rtc_decision_unit/run", self._on_goal, self._on_cancel)
        self._goals: dict[int, Goal] = {}
        self.every(OUTBOX_PERIOD, self._drain)
        self.every(TICK_PERIOD, self._tick)
        self.every(SAVE_PERIOD, self._save)

    def start(self) -> None:
        """Start the decision thread."""
        gc.collect()
        gc.freeze()  # skills, models and kinematics stay: the collector need not walk them while a halt waits
        self.host.start()

    def stop(self) -> None:
        """Halt what moves, write the database, end the threads."""
        if self.host.interface.unit.commands:
            self._subsystems.stop_all("the decision unit ends")
        self.host.stop()
        self._store.save()

    def _tick(self) -> None:
        self._subsystems.tick()
        self._subsystems.names.update(self.host.interface.labels())

    # in: this thread ------------------------------------------------------------------------------------------

    def _on_command(self, message: Any) -> None:
        """Halts first: whatever is known of the text, its sender and its number."""
        sender, key = message.sender[:NAME] or "unknown", (message.link.sender[:NAME], message.link.number)
        halts = begins_with_halt(message.text)
        if not halts and not self._admits(sender, key[1]):
            return
        another = bool(message.unit) and message.unit != self._identity
        if another or (key[1] and not self._replies.add(key)):
            if halts:
                self.host.halt_by_text(sender, message.text, HaltId.of_text(*key))
            if another:
                text = "the decision unit was started again; what became of this text is not known"
                self._publish_reply(Reply(sender, text, ok=False), key[1])
            for reply in self._replies.replies(key):
                self._reports.publish(reply)  # our reply was lost
            return
        self.host.submit(sender, message.text, lambda reply: self._answer(key, reply), named=HaltId.of_text(*key))

    def _admits(self, sender: str, number: int) -> bool:
        admission = self._limiter.admit(sender, self.now())
        if admission is Admission.REFUSED:
            text = "too many messages from this sender; send it again later"
            self._publish_reply(Reply(sender, text, ok=False), number)
        return admission is Admission.ACCEPTED

    def _answer(self, key: tuple[str, int], reply: Reply) -> None:
        message = reply_message(self._link.next(self.stamp()), reply, key[1])
        self._replies.append(key, message, reply.command)
        self._reports.publish(message)

    def _on_halt(self, message: Any, word: str = "") -> None:
        """Forward a halt under the name that its copies have on the arms' own topics."""
        named = HaltId((word + message.agent)[:AGENT_LENGTH], message.number)
        self.host.halt(f"halt by {message.agent[:AGENT_LENGTH]}: {message.reason[:200]}", named)

    def _on_signal(self, message: Any) -> None:
        self.host.signal(message.name, bool(message.on))

    def _on_submit(self, request: Any, response: Any, send: Answer) -> None:
        def answer(reply: Reply) -> None:
            response.success, response.message, response.command = reply.ok, reply.text, reply.command
            send(response)
            self._publish_reply(reply)

        self.host.submit(request.sender or "service", request.text, answer)

    def _on_try(self, request: Any, response: Any, send: Answer) -> None:
        """Answers when the trial is over: every step and number as text."""
        try:
            text = trial_of(request.text)
        except InvalidValueError as error:
            response.success, response.message = False, str(error)
            send(response)
            return

        def answer(reply: Reply) -> None:
            self._publish_reply(reply)
            if not reply.command:  # refused at the door
                response.success, response.message = reply.ok, reply.text
                send(response)

        def ended(report: CommandReport) -> None:
            response.success = report.trial is not None and report.trial.works
            response.message, response.command = _trial_text(report), report.command
            send(response)

        self.host.submit(request.sender or "service", text, answer, ended)

    def _on_goal(self, goal: Goal) -> None:
        sender = goal.request.sender or "action"

        def answer(reply: Reply) -> None:
            self._publish_reply(reply)
            self._outbox.append(lambda: self._begun(goal, reply))

        def ended(report: CommandReport) -> None:
            message = ended_message(self._link.next(self.stamp()), report)
            result = RunCommand.Result(success=report.outcome == "succeeded", report=message)
            self._outbox.append(lambda: self._over(goal, report, result))

        self.host.submit(sender, goal.request.text, answer, ended)

    def _begun(self, goal: Goal, reply: Reply) -> None:
        if reply.command:
            goal.begin()
            self._goals[reply.command] = goal
            if goal.cancel_requested:
                self._on_cancel(goal)
            return
        message = reply_message(self._link.next(self.stamp()), reply)
        result = RunCommand.Result(success=reply.ok, report=message)
        (goal.succeed if reply.ok else goal.abort)(result)  # a question's answer, or a refusal

    def _over(self, goal: Goal, report: CommandReport, result: Any) -> None:
        self._goals.pop(report.origin or report.command, None)
        if result.success:
            goal.succeed(result)
        elif report.outcome in ("cancelled", "halted"):
            goal.cancel(result)
        else:
            goal.abort(result)

    def _on_cancel(self, goal: Goal) -> None:
        numbers = [number for number, other in self._goals.items() if other is goal]

        def cancel(now: float) -> list[Output]:
            commands = self.host.interface.unit.commands.values()
            chosen = [record for record in commands if (record.origin or record.number) in numbers]
            return self.host.interface.unit.cancel(chosen, now, reason="cancelled by the action's client")

        self.host.ask(cancel)

    def _on_measured(self, arm: str, measured: Measured, quick: bool) -> None:
        now = self.now()
        if quick or self.host.reflexes.of(arm) or now - self._news_at.get(arm, -1.0) >= SLOW_PERIOD:
            self._news_at[arm] = now
            self.host.measured(arm, measured)

    # out: the decision thread ---------------------------------------------------------------------------------

    def _publish_reply(self, reply: Reply, number: int = 0) -> None:
        self._reports.publish(reply_message(self._link.next(self.stamp()), reply, number))

    def _out(self, output: Output) -> None:
        link = self._link.next(self.stamp())
        if isinstance(output, CommandReport):
            message = ended_message(link, output, self._replies.number_of(output.origin))
            self._replies.append_report(message)
            self._reports.publish(message)
        elif isinstance(output, Progress):
            record = self.host.interface.unit.commands.get(output.command)
            sender, started = (record.sender, record.started) if record else ("", self.now())
            number = self._replies.number_of(record.origin or record.number) if record else 0
            message = progress_message(link, output, sender, self.now() - started, number)
            if output.shown:
                self._reports.publish(message)
            goal = self._goals.get(output.origin or (record.origin if record else 0) or output.command)
            if goal is not None:
                self._outbox.append(lambda: goal.feedback(RunCommand.Feedback(report=message)))
        elif isinstance(output, ScriptState):
            self._scripts.publish(script_message(link, output, self._replies.number_of(output.origin)))
        elif isinstance(output, ShowTask):
            task = self.host.interface.unit.tasks.shown.get(output.task)
            self._tasks.publish(task_message(link, output, task.command if task else 0))

    # housekeeping ---------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        while self._outbox:
            self.guarded(self._outbox.popleft())()

    def _save(self) -> None:
        if self._store.is_new:
            self.host.background(self._store.save)

    def health(self) -> Health:
        """Commands, messages, what is held."""
        unit = self.host.interface.unit
        values: dict[str, object] = {
            "commands": len(unit.commands),
            "waiting": self.host.waiting,
            "arms": ",".join(name for name, link in self._subsystems.arms.items() if link.known) or "none",
            "ignored_reports": unit.ignored_reports,
            "unchecked_paths": self._subsystems.collision.unchecked,
            "flooded": self._limiter.refused,
            **facts(self.host),
        }
        return Health(message=unit.global_error or self._store.notice or "ok", values=values)


def _file(asked: str, node: str) -> Path | None:
    """Where the database is kept; None: nowhere."""
    return Path(asked) if asked else state_file(node, "sqlite")


def _se3(pose: tuple[float, ...]) -> Any:
    from telerobot_nodes.core.values import se3_from_pose

    return se3_from_pose(np.array(pose))


def _trial_text(report: CommandReport) -> str:
    """A trial as lines: whether it works, then every step."""
    trial = report.trial
    if trial is None:
        return f"{report.outcome}: {report.reason}"
    lines = [f"{'works' if trial.works else 'does not work'}: {trial.reason} ({trial.duration:.1f} s of motion)"]
    for step in trial.steps:
        numbers = " ".join(f"{value:.4f}" for value in step.target)
        mark = "+" if step.ok else "-"
        lines.append(
            f"{mark} {step.step}: {step.kind} {step.subsystem} {step.duration:.2f} s {numbers} {step.note}".rstrip()
        )
    return "\n".join(lines)


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    found_quickly()
    return run_node(RtcDecisionUnitNode, options)
