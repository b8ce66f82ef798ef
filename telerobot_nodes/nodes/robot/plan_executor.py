"""`plan_executor`: the robot's plan buffer on topics [US5046022 claims 7, 13, 20]."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from std_srvs.srv import Trigger

from telerobot.msg import ExecutedPoints, Resume
from telerobot_nodes.core.config import Journal, NodeOptions, state_file
from telerobot_nodes.core.protocol import AuthorityKind, ExecutorMode, OperationKind, StopCause
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError, JournalError, TelerobotError
from telerobot_nodes.link import keys_of, load_hosts, roles_of
from telerobot_nodes.link.roles import Roles, StopPermits
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.plan.authority import Decision
from telerobot_nodes.plan.executor import ExecutorConfig, ExecutorMemory, PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, UnreadableOperation

TICK_PERIOD = 0.04  # [s] between motion windows
STATE_PERIOD = 0.05  # [s] between acknowledgements over the link
MOVING = 0.01  # [rad/s] measured joint speed that counts as motion


class PlanExecutorNode(GraphNode):
    """Operations in, motion windows and acknowledgements out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._robot = load_robot(options.robot)
        parameters = node_parameters(self, ExecutorConfig)
        self._journal = _journal(parameters.journal, self.get_fully_qualified_name())
        self._roles = _roles(options)
        self._permits = StopPermits(self._roles)
        parameters = replace(parameters, supervisors=(*parameters.supervisors, *sorted(self._roles.supervisors)))
        self._core = PlanExecutor(self._robot, parameters, memory=self._remembered(), may_end=self._may_end)
        self._link = convert.LinkCounter(f"robot/{options.name}")
        self._position = np.empty(0)  # (dof,) [rad] as measured; empty until the control loop has seen the arm
        self._velocity = np.zeros(self._robot.dof)
        self._wrench = np.zeros(6)
        self._control: Any = None  # latest state of the control loop
        self._mode = ExecutorMode.STARTING  # as published
        self._window = self.publisher("plan_executor/window")
        self._state = self.publisher("plan_executor/state")
        self._executed = self.publisher("plan_executor/executed")
        self._resume = self.publisher("gcmsf_control/resume")
        self._servers = {
            OperationKind.RESET: self.client("hardware_interface/reset"),
            OperationKind.TARE: self.client("gcmsf_control/tare"),
        }
        if self._roles:
            self.subscribe("link/permits", lambda message: self._permits.permit(message.agent, message.halt_count))
            self.subscribe("link/refused", self._on_refused)
        self.subscribe("plan_executor/operations", self._on_operations)
        self.subscribe("authority", self._on_authority)
        self.subscribe("gcmsf_control/state", self._on_control)
        self.subscribe("hardware_interface/wrench", self._on_wrench, raw=True)
        self.every(TICK_PERIOD, self._tick)
        self.every(STATE_PERIOD, self._publish_state)

    def _on_operations(self, message: Any) -> None:
        operations = convert.operations_from_message(message)
        for operation in operations:
            if isinstance(operation, UnreadableOperation):
                self.note_refusal(TelerobotError(operation.reason))
        self._core.receive(self.now(), operations)
        for operation in self._core.drain_requests():
            self._request(operation)
        self._end_halt()
        self._publish_change()

    def _on_authority(self, message: Any) -> None:
        self._core.on_authority(self.now(), convert.authority_from_message(message))

    def _on_refused(self, message: Any) -> None:
        """Answer a request that the link has refused, for its key does not allow it."""
        request, host = convert.authority_from_message(message), message.link.sender
        check = self._roles.of_take if request.kind is AuthorityKind.TAKE else self._roles.of_name
        refusal = self._roles.of_observer(host) or check(host, request.agent)
        if refusal is not None:
            self._core.arbiter.denial = Decision(request.agent, request.number, refusal.reason)

    def _may_end(self, operation: Operation, control: ControlReport) -> str:
        stop = f"halt {control.halt_count} by {control.halt_reason}" if control.halted else control.reason
        refusal = self._permits.refusal(operation.agent, operation.kind.name, control.halt_count, stop)
        if refusal is None:
            return ""
        self.get_logger().warning(refusal.reason, throttle_duration_sec=1.0)
        return refusal.reason

    def _on_control(self, message: Any) -> None:
        if self._position.size or message.cause != StopCause.STALE_JOINTS:
            self._position = convert.floats(message.measured_position)
        self._velocity = convert.floats(message.measured_velocity)
        self._control = message
        self._core.measured = self._position if self._position.size == self._robot.dof else None
        self._core.on_control(self.now(), convert.control_from_message(message))
        self._publish_change()

    def _end_halt(self) -> None:
        """Pass a RESUME on to the control loop, until its report shows the end of the halt."""
        count = self._core.resuming
        if count is not None:
            self._resume.publish(Resume(halt_count=count, agent=self._core.receiver.position.authority))

    def _request(self, operation: Operation) -> None:
        """Ask the node that serves a RESET or TARE; its refusal is the operation's."""
        name, server = operation.kind.name, self._servers[operation.kind]
        self.get_logger().warning(f"{name} by {operation.agent}")
        if not server.service_is_ready():
            self._core.answer_request(operation, f"{name}: no node serves {server.srv_name}")
            return

        def answered(future: Any) -> None:
            answer = future.result()
            self.get_logger().warning(f"{name} by {operation.agent}: {answer.message}")
            self._core.answer_request(operation, "" if answer.success else f"{name}: {answer.message}")

        server.call_async(Trigger.Request()).add_done_callback(answered)

    def _on_wrench(self, message: bytes) -> None:
        self._wrench = convert.wrench_from_bytes(message)

    def _tick(self) -> None:
        self._end_halt()
        window = self._core.tick(self.now())
        if self._remember() and window is not None:
            self._window.publish(convert.window_to_message(window))

    def _remembered(self) -> ExecutorMemory | None:
        if self._journal is None or not self._journal.last:
            return None
        try:
            return ExecutorMemory.from_text(self._journal.last)
        except InvalidValueError as error:  # a number with no room for the next must not outlive the process
            self.get_logger().error(f"starts anew, without a journal: {error}")
            return None

    def _remember(self) -> bool:
        """Report executed points, and write the journal for a successor at once: it reports those not in there.

        When the journal fails no motion is sent, and the arm comes to rest.
        """
        text = self._core.memory().text() if self._journal is not None else ""  # first: this takes its time
        for executed in self._core.drain_executed():
            self._executed.publish(
                ExecutedPoints(
                    stamp=self.stamp(),
                    first_seq=executed.first_seq,
                    last_seq=executed.last_seq,
                    epoch=executed.epoch,
                    plan_time=executed.plan_time,
                )
            )
        if self._journal is not None:
            try:
                self._journal.write(text)
            except JournalError as error:
                self._core.motion.trouble = str(error)
                return False
        return True

    def _publish_change(self) -> None:
        """Publish another mode at once: a person may have pressed for it."""
        if self._core.mode(self.now())[0] is not self._mode:
            self._publish_state()

    def _publish_state(self) -> None:
        self._remember()
        report = self._core.report(self.now())
        self._mode = report.mode
        message = convert.report_to_message(self._link.next(self.stamp()), report)
        if self._position.size:
            message.joint_position = convert.doubles(self._position)
            message.tool_pose = convert.doubles(pose_from_se3(self._robot.forward(self._position)))
        if np.isfinite(self._wrench).all():  # else none: no reader takes a report with a number that is none
            message.wrench = convert.doubles(self._wrench)
        message.moving = bool(np.abs(self._velocity).max() > MOVING)
        if self._control is not None:
            message.estop, message.halts_received = self._control.estop, self._control.halts_received
        self._state.publish(message)

    def health(self) -> Health:
        """Mode, counts and times of the buffer."""
        report = self._core.report(self.now())
        return Health(
            message=report.mode.name.lower(),
            values={
                "executed_seq": report.executed_seq,
                "tail_seq": report.tail_seq,
                "queue_length": report.queue_length,
                "rate": report.rate,
                "refusal": report.refusal,
            },
        )


def _roles(options: NodeOptions) -> Roles:
    """The roles of the operators' keys; none without a hosts file. Raises ParameterFileError."""
    if options.hosts is None:
        return Roles({})
    hosts = load_hosts(options.hosts)
    return roles_of(options.hosts, hosts, keys_of(options.hosts, hosts, hosts.own("robot", options.host)))


def _journal(file: str, node: str) -> Journal | None:
    """The journal of the parameters, else one in the state folder; None: a restarted executor starts anew."""
    kept = Path(file) if file else state_file(node, "journal")
    return Journal(kept) if kept is not None else None


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(PlanExecutorNode, options)
