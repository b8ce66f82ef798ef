"""`rtc_decision_unit`: run-time control on topics, services and an action [JPL-RTC section 5].

This thread only takes messages and gives them to the host; halts are sent on before anything else is done.
"""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from telerobot.action import RunCommand
from telerobot_nodes.core.options import STATE_VARIABLE, NodeOptions
from telerobot_nodes.core.parameters import parameter
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.share import share_path
from telerobot_nodes.nodes.actions import Goal
from telerobot_nodes.nodes.base import GraphNode, Health
from telerobot_nodes.nodes.convert import LinkCounter
from telerobot_nodes.nodes.later import Send as Answer
from telerobot_nodes.nodes.later import serve_later
from telerobot_nodes.nodes.parameters import node_parameters
from telerobot_nodes.nodes.process import found_quickly, run_node
from telerobot_nodes.nodes.rtc_memory import Memory
from telerobot_nodes.nodes.rtc_messages import ended_message, progress_message, reply_message, task_message
from telerobot_nodes.nodes.rtc_subsystems import RtcSubsystems
from telerobot_nodes.rtc.conditions import Measured
from telerobot_nodes.rtc.decision import DecisionUnit
from telerobot_nodes.rtc.door import Admission, Door
from telerobot_nodes.rtc.host import Host, facts
from telerobot_nodes.rtc.interface import InterfaceServer, is_urgent
from telerobot_nodes.rtc.messages import CommandReport, Output, Progress, Reply, ShowTask
from telerobot_nodes.rtc.robot_checks import RobotChecks
from telerobot_nodes.rtc.skill_files import load_library
from telerobot_nodes.rtc.snapshot import Keeper
from telerobot_nodes.rtc.workers import Workers

OUTBOX_PERIOD = 0.01  # [s] between looks at what the decision thread wants sent
TICK_PERIOD = 0.05  # [s]
SAVE_PERIOD = 1.0  # [s]
SLOW_NEWS = 0.1  # [s] between measurements given on while nobody watches a condition
FOLDER = "config/rtc"


@dataclass(frozen=True)
class RtcParameters:
    """Parameters of `rtc_decision_unit`."""

    folder: str = parameter("", doc="skills, primitives, tables and workcell; empty: those of the package")
    database: str = parameter("", doc="file of the database, kept over restarts; empty: in the run's state folder")
    arms: str = parameter(
        "", doc="namespaces of arms, as in left_arm=left,right_arm=right; empty: as the workcell says"
    )


class RtcDecisionUnitNode(GraphNode):
    """Texts, halts and measurements in; primitives, tasks and reports out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, RtcParameters)
        folder = Path(parameters.folder) if parameters.folder else share_path(FOLDER)
        library = load_library(folder)
        self._outbox: deque[Callable[[], None]] = deque()
        self._link = LinkCounter(options.name)
        self._keeper = Keeper(_file(parameters.database, self.get_fully_qualified_name()), library.workcell.items)
        database = self._keeper.database
        self._subsystems = RtcSubsystems(
            self, library.workcell, parameters.arms, options.robot, self._outbox.append, self._on_measured
        )
        robots = {name: link.arm.base for name, link in self._subsystems.arms.items()}

        def workers() -> Workers:  # kinematics of its own for every worker's thread
            models = {name: load_robot(options.robot, T_world_base=_se3(base)) for name, base in robots.items()}
            return Workers(database, RobotChecks(models, self._subsystems.collision), folder)

        interface = InterfaceServer(DecisionUnit(library), database)
        self.host = Host(interface, workers, self._subsystems, self._out, self.now, self.note_error)
        self._subsystems.report = self.host.report
        self._news_at: dict[str, float] = {}
        self._memory = Memory()
        self._door = Door()
        self._reports = self.publisher("rtc_decision_unit/reports")
        self._tasks = self.publisher("rtc_decision_unit/tasks")
        self.subscribe("rtc_decision_unit/commands", self._on_command)
        self.subscribe("halt", self._on_halt)
        serve_later(self, "rtc_decision_unit/submit", self._on_submit)
        serve_later(self, "rtc_decision_unit/try", self._on_try)
        self.act("rtc_decision_unit/run", self._on_goal, self._on_cancel)
        self._goals: dict[int, Goal] = {}
        self._halt_number: dict[str, int] = {}
        self.every(OUTBOX_PERIOD, self._drain)
        self.every(TICK_PERIOD, self._subsystems.tick)
        self.every(SAVE_PERIOD, self._save)

    def start(self) -> None:
        """Start the decision thread."""
        gc.collect()
        gc.freeze()  # skills, models and kinematics stay: the collector need not walk them while a halt waits
        self.host.start()

    def stop(self) -> None:
        """Halt what moves, write the database, end the threads."""
        if self.host.interface.unit.commands:
            self._subsystems.halt_all("the decision unit ends")
        self.host.stop()
        self._keeper.save()

    # in: this thread ------------------------------------------------------------------------------------------

    def _on_command(self, message: Any) -> None:
        sender, number = message.sender or "unknown", message.link.number
        if not is_urgent(message.text) and (admission := self._door.admit(sender, self.now())) is not Admission.TAKEN:
            if admission is Admission.REFUSED:
                self._say(Reply(sender, "too many messages come from you; say it again later", ok=False))
            return
        if number and not self._memory.is_new((message.link.sender, number)):
            for said in self._memory.said((message.link.sender, number)):
                self._reports.publish(said)  # our answer was lost
            return
        self.host.submit(sender, message.text, lambda reply: self._answer((message.link.sender, number), reply))

    def _answer(self, key: tuple[str, int], reply: Reply) -> None:
        message = reply_message(self._link.next(self.stamp()), reply)
        self._memory.keep(key, message, reply.command)
        self._reports.publish(message)

    def _on_halt(self, message: Any) -> None:
        if message.number > self._halt_number.get(message.agent, 0):
            self._halt_number[message.agent] = message.number
            self.host.halt(f"halt by {message.agent}: {message.reason}")

    def _on_submit(self, request: Any, response: Any, send: Answer) -> None:
        def answer(reply: Reply) -> None:
            response.success, response.message, response.command = reply.ok, reply.text, reply.command
            send(response)
            self._say(reply)

        self.host.submit(request.sender or "service", request.text, answer)

    def _on_try(self, request: Any, response: Any, send: Answer) -> None:
        """Answers when the trial is over: every step and number as text."""
        text = request.text if request.text.lstrip().lower().startswith("try") else f"try {request.text}"

        def answer(reply: Reply) -> None:
            self._say(reply)
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
            self._say(reply)
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
        if quick or self.host.reflexes.of(arm) or now - self._news_at.get(arm, -1.0) >= SLOW_NEWS:
            self._news_at[arm] = now
            self.host.measured(arm, measured)

    # out: the decision thread ---------------------------------------------------------------------------------

    def _say(self, reply: Reply) -> None:
        self._reports.publish(reply_message(self._link.next(self.stamp()), reply))

    def _out(self, output: Output) -> None:
        link = self._link.next(self.stamp())
        if isinstance(output, CommandReport):
            message = ended_message(link, output)
            self._memory.ended(message)
            self._reports.publish(message)
        elif isinstance(output, Progress):
            record = self.host.interface.unit.commands.get(output.command)
            sender, started = (record.sender, record.started) if record else ("", self.now())
            message = progress_message(link, output, sender, self.now() - started)
            self._reports.publish(message)
            goal = self._goals.get(output.command)
            if goal is not None:
                self._outbox.append(lambda: goal.feedback(RunCommand.Feedback(report=message)))
        elif isinstance(output, ShowTask):
            task = self.host.interface.unit.desk.tasks.get(output.task)
            self._tasks.publish(task_message(link, output, task.command if task else 0))

    # housekeeping ---------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        while self._outbox:
            self._guarded(self._outbox.popleft())()

    def _save(self) -> None:
        if self._keeper.is_new:
            self.host.background(self._keeper.save)

    def health(self) -> Health:
        """Commands, messages, what is held."""
        unit = self.host.interface.unit
        values: dict[str, object] = {
            "commands": len(unit.commands),
            "waiting": self.host.waiting,
            "arms": ",".join(name for name, link in self._subsystems.arms.items() if link.known) or "none",
            "ignored_reports": unit.ignored_reports,
            "unchecked_paths": self._subsystems.collision.unchecked,
            "flooded": self._door.refused,
            **facts(self.host.counts),
        }
        return Health(message=unit.global_error or "ok", values=values)


def _file(asked: str, node: str) -> Path | None:
    """Where the database is kept; None: nowhere."""
    folder = os.environ.get(STATE_VARIABLE, "")
    if asked:
        return Path(asked)
    return Path(folder) / f"{node.strip('/').replace('/', '.')}.database" if folder else None


def _se3(pose: tuple[float, ...]) -> Any:
    from telerobot_nodes.core.frames import se3_from_pose

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
