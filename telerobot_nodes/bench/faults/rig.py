"""The graph on two hosts, as its users start it, an observer on each, and a known state between two faults."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench.faults.judge import (
    STILL,
    Loop,
    Measured,
    Once,
    PlanChange,
    Setpoint,
    Trace,
    between_plans,
    executed_once,
    jumps,
    renumbered,
)
from telerobot_nodes.bench.faults.two_graphs import LEFT_OUT, START_LIMIT, TwoGraphs
from telerobot_nodes.core.protocol import ControlState, DeviceState, ExecutorMode, HardwareState, LinkState
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.link import LinkSettings
from telerobot_nodes.operator.client import Outcome as Answer
from telerobot_nodes.operator.client import commands
from telerobot_nodes.runtime import join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import OperatorWatch, RobotWatch

LIMIT = 45.0  # [s] for the graph to come back to a known state
SCALE = 0.15  # [-] of the hand, so that many, one after the other, stay within reach
FAR = 0.15  # [m] of the tool from where it began: the next row begins with a fresh graph
PERIOD = 0.004  # [s] of the setpoints
BEHIND = 3.0  # [s] that an observer on a busy machine may be behind
TERMINATED = 143  # exit code


class Rig(TwoGraphs):
    """Both graphs, the network between them, and what was recorded since the row began."""

    def __init__(
        self, folder: Path, domains: tuple[int, int], left_out: Mapping[str, Sequence[str]] = LEFT_OUT
    ) -> None:
        """`domains` of robot and operator; `left_out`: nodes that are not started, by role."""
        super().__init__(folder, domains, left_out)
        self.robot_model = load_robot("arm")
        self.trace = Trace()
        self.last: dict[str, dict[str, Any]] = {}  # latest values of each topic
        self._made_at = self.now()
        self._ending = False
        self._begun_at = np.empty(0)  # tool position when the graph began
        self.first = 1  # the first point of the row
        os.environ["ROS_DOMAIN_ID"] = str(domains[1])
        join_graph()
        from telerobot_nodes.nodes.probes import RobotWatch

        self.robot: RobotWatch = RobotWatch(domains[0], self._receive)
        self._operator: OperatorWatch | None = None

    @property
    def operator(self) -> OperatorWatch:
        """The operator's client. Raises TelerobotError."""
        if self._operator is None:
            raise TelerobotError("the operator has no client")
        return self._operator

    def start(self, environment: Mapping[str, str] | None = None) -> None:
        """Start both graphs; what was received of earlier ones is forgotten. Raises TelerobotError."""
        from telerobot_nodes.nodes.probes import OperatorWatch

        for seen in (self.last, self.robot.link, self.robot.health):
            seen.clear()
        if self._operator is not None:
            self._operator.link.clear()
            self._operator.plan.clear()
        super().start(environment)
        if self._operator is None:
            self._operator = OperatorWatch()
        self._begun_at = np.empty(0)

    def restart(self, environment: Mapping[str, str] | None = None) -> None:
        """Stop what runs and start anew."""
        self.stop()
        self.start(environment)
        self.ready()

    def start_side(self, role: str) -> None:
        """Start one graph again, and receive meanwhile: a plan that grows for seconds is longer than any queue.

        Raises TelerobotError when it is not ready in time.
        """
        side = self.begin_side(role)
        self.happens(side.ready.is_set, START_LIMIT)
        side.wait_ready(0.0)

    def close(self) -> None:
        """Stop everything."""
        self.stop()
        if self._operator is not None:
            self._operator.close()
        self.robot.close()

    # time ----------------------------------------------------------------------------------------------------

    @staticmethod
    def now() -> float:
        """Host monotonic time [s]."""
        return time.monotonic()

    def spin(self, seconds: float) -> None:
        """Receive for `seconds`."""
        self.happens(lambda: False, seconds)

    def happens(self, ready: Callable[[], object], limit: float) -> float:
        """Receive until `ready`; how long it took [s], infinite after `limit`."""
        start = self.now()

        def over() -> object:
            self.operator.operator.tick(self.now())  # repeats halts that are not confirmed
            return self._ending or ready()

        happened = self.operator.wait(over, limit, 0.02)
        if self._ending:
            sys.exit(TERMINATED)
        return self.now() - start if happened else float("inf")

    def request_end(self) -> None:
        """End the run from the next wait on; the graph is stopped first. For a signal's handler."""
        self._ending = True

    def until(self, ready: Callable[[], object], what: str, limit: float = LIMIT) -> float:
        """As `happens`; raises TelerobotError after `limit` [s]."""
        took = self.happens(ready, limit)
        print(f"  {self.now() - self._made_at:6.1f} s: {what} after {took:.2f} s", file=sys.stderr, flush=True)
        if took == float("inf"):
            last = {name: values for name, values in self.last.items() if name == "plan_executor/state"}
            raise TelerobotError(f"{what}: not within {limit:g} s; {self.operator.operator.queue.notice!r}, {last}")
        return took

    # a known state -------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """Bring the graph to rest, with a clean network and nothing in the plan, and clear the record."""
        self.ready_again()
        tool = self.last["plan_executor/state"]["tool_pose"][:3]
        if not self._begun_at.size:
            self._begun_at = tool
        if float(np.linalg.norm(tool - self._begun_at)) > FAR:
            self.restart()
            return
        self.clear()

    def ready_again(self) -> None:
        """As `ready`, and the record goes on."""
        self.relay.set(LinkSettings())
        self.until(lambda: self.are(LinkState.FRESH), "both hosts fresh")
        client = self.operator.operator
        self.until(
            lambda: client.queue.has_authority and not client.queue.stale and client.queue.epoch > 0, "authority"
        )
        self.ask(commands.StopReplay())
        for _ in range(5):
            if self._stopped():
                self.ask(commands.Reset())
                self.ask(commands.Resume())
        self.until(self.at_rest, "the plan's end")
        self.spin(0.3)  # the last report of what was executed

    def _stopped(self) -> bool:
        state = self.last.get("plan_executor/state", {})
        return state.get("state") not in (ExecutorMode.IDLE, ExecutorMode.RUNNING) or bool(state.get("estop"))

    def at_rest(self) -> bool:
        """Whether everything is executed, on both sides, and the arm follows."""
        queue, state = self.operator.operator.queue, self.last.get("plan_executor/state", {})
        loop = self.last.get("gcmsf_control/state", {})
        return (
            queue.device is not DeviceState.TRACKING
            and queue.unacknowledged == 0
            and state.get("state") == ExecutorMode.IDLE
            and state.get("executed_seq") == queue.head_seq == state.get("tail_seq")
            and loop.get("state") in (ControlState.HOLDING, ControlState.STOPPED)  # a primitive may end in the latter
            and self.last.get("hardware_interface/state", {}).get("state") == HardwareState.READY
        )

    def are(self, state: LinkState) -> bool:
        """Whether both hosts report the link so."""
        return self.link("robot") is state and self.link("operator") is state

    def link(self, role: str) -> LinkState:
        """The link as one host reports it."""
        seen = self.robot.link if role == "robot" else self.operator.link
        return seen[-1][1] if seen else LinkState.WAITING

    def clear(self) -> None:
        """Begin a record."""
        self.trace = Trace()
        self.first = self.operator.operator.queue.head_seq + 1
        self.robot.operations.clear()
        self.operator.operations.clear()
        self.robot.teleop.clear()

    # motion --------------------------------------------------------------------------------------------------

    def ask(self, command: Any) -> Answer:
        """The answer to an operator's command."""
        return self.operator.ask(command)

    def drive(self, speed: float = 1.0) -> None:
        """A recorded hand begins to move the arm; returns in motion. Raises TelerobotError."""
        before = self.last["plan_executor/state"]["executed_seq"]
        answer = self.ask(commands.Replay("", speed, SCALE))
        if not answer.done:
            raise TelerobotError(f"replay: {answer.text}")
        self.until(lambda: self.last["plan_executor/state"]["executed_seq"] > before, "motion")
        self.until(self.moving, "motion")

    def moving(self) -> bool:
        """Whether the measured arm moves now."""
        rows = self.trace.measured[-1:]
        return bool(rows) and float(np.abs(rows[0].velocity).max()) > STILL

    def jumps(self) -> int:
        """Jumps of the setpoint so far."""
        return jumps(self.trace.setpoints, self.robot_model.limits, PERIOD, self.trace.measured)

    def finish(self, limit: float = 90.0) -> Once:
        """Wait until the hand has ended and everything is executed; what became of the row's points."""
        queue = self.operator.operator
        self.until(lambda: queue.queue.device is DeviceState.IDLE and self.at_rest(), "the plan's end", limit)
        self.spin(0.5)  # the last report of what was executed
        return self.once()

    def once(self) -> Once:
        """What became of the row's points so far; of an observer that is behind, what it receives soon."""
        self.happens(lambda: not self._once().lost, BEHIND)
        once = self._once()
        if any(once):
            head, executed = self.operator.operator.queue.head_seq, self.trace.executed
            print(f"  {once} of {self.first} to {head}: {executed}", file=sys.stderr, flush=True)
        return once

    def _once(self) -> Once:
        head, executed = self.operator.operator.queue.head_seq, list(self.trace.executed)
        changes = [PlanChange(*change) for change in self.operator.plan]
        none = between_plans(changes, executed, head)
        return executed_once(executed, self.first, head, self.renumbered()[0] | none)

    def renumbered(self) -> tuple[set[int], set[int]]:
        """Points of the row that the operator's plan has no more, not executed: all, and those not laid again."""
        changes = [PlanChange(*change) for change in self.operator.plan]
        gone, lost = renumbered(changes, self.trace.executed)
        return {seq for seq in gone if seq >= self.first}, {seq for seq in lost if seq >= self.first}

    def network(self, **settings: Any) -> float:
        """New conditions of the network; the time of it [s]."""
        rate = settings.pop("rate", 0.0)
        self.relay.set(LinkSettings(**settings), rate)
        return self.now()

    # what the observer receives, on its thread ---------------------------------------------------------------

    def _receive(self, topic: str, now: float, values: dict[str, Any]) -> None:
        self.last[topic] = values
        trace = self.trace
        if topic == "joint_states":
            trace.measured.append(Measured(now, values["position"], values["velocity"]))
        elif topic == "hardware_interface/setpoint":
            rows = values["position"], values["velocity"], values["acceleration"]
            trace.setpoints.append(Setpoint(now, values["number"], *rows))
        elif topic == "gcmsf_control/state":
            trace.loop.append(Loop(now, values["state"], values["steps"], values["missed"], values["halted"]))
        elif topic == "hardware_interface/state":
            trace.hardware.append((now, values["state"]))
        elif topic == "plan_executor/executed":
            trace.executed.append((values["first_seq"], values["last_seq"]))
        elif topic == "plan_executor/state":
            trace.tails.append((now, values["tail_seq"]))
            trace.holders.append((now, values["authority"], values["epoch"]))
