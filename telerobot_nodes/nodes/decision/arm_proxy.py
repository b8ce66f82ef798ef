"""Proxy of one arm and its gripper: topics and actions of the arm's graph, in its namespace.

All methods run on the executor's thread; those of `stops` on any. A primitive becomes one goal or
several in sequence; its one report follows when the last goal ends or one fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters, PrimitiveReport
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.nodes.decision.arm_stops import ArmStops
from telerobot_nodes.nodes.decision.authority_agent import AuthorityAgent, HandOver
from telerobot_nodes.nodes.decision.contact_limits import ContactLimits
from telerobot_nodes.nodes.decision.early_primitive import EarlyPrimitive
from telerobot_nodes.nodes.decision.executive_goals import ExecutiveGoal, Slowing, goals_of, report_of, slowing
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.rtc.decision import Measured
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.execution import HALTED_STATES, ArmState, ended_outcome, outcome_of
from telerobot_nodes.rtc.skills import HALTED, Arm, Primitive, Report

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode


@dataclass
class _Running:
    primitive: Primitive
    request: Request
    goals: list[ExecutiveGoal]
    ends: float  # [s]
    handle: Any = None
    stop_as: str = ""  # outcome of a stop that the decision unit asked for
    slower: Slowing | None = None  # by a reflex
    held: bool = False
    stops: bool = False  # by a hold, though it may have been taken back since
    waits: bool = False  # stopped by a hold


class ArmProxy:
    """One arm as a subsystem of the decision unit."""

    def __init__(
        self,
        node: GraphNode,
        arm: Arm,
        robot: RobotModel,
        report: Callable[[Report], None],
        measured: Callable[[str, Measured, bool], None],
    ) -> None:
        """`measured(arm, what, quick)` gets every state; `robot` is used on the executor's thread only."""
        self.arm, self.robot = arm, robot
        self.T_world_arm = se3_from_pose(arm.base)
        self.authority = AuthorityAgent()
        self._node, self._report, self._measured = node, report, measured
        self._running: _Running | None = None
        self._early = EarlyPrimitive(partial(self._answer, note=f"{arm.name} does not report"))
        self._limits = ContactLimits()
        self.state = ArmState(robot, self.T_world_arm)
        where = arm.namespace or None
        self._client = node.action_client("gcmsf_control/execute", namespace=where)
        self._tare = node.client("gcmsf_control/tare", namespace=where)
        self._change = node.client("gcmsf_control/change", namespace=where)
        self._authority_publisher = node.publisher("authority", namespace=where)
        self._claim = node.publisher("plan_executor/operations", namespace=where)
        self._link = convert.LinkCounter(f"rtc/{arm.name}")
        self.stops = ArmStops(node, arm, self._link)
        node.subscribe("gcmsf_control/state", self._on_state, namespace=where)
        node.subscribe("hardware_interface/wrench", self._on_wrench, namespace=where, raw=True)
        node.subscribe("hardware_interface/state", self._on_hardware, namespace=where)
        node.subscribe("plan_executor/state", self._on_executor, namespace=where)

    @property
    def known(self) -> bool:
        """True while the arm's graph reports."""
        return self.state.is_fresh(self._node.now())

    def begin(self, primitive: Primitive, request: Request) -> None:
        """Begin a primitive; a report always follows."""
        if self.known:
            self._begin(primitive, request)
        else:
            self._early.wait(primitive, request, self._node.now())

    def _begin(self, primitive: Primitive, request: Request) -> None:
        if primitive.executive == "sense":
            self._answer(primitive, "done")
        elif primitive.executive == "tare":
            self._call_tare(primitive)
        elif primitive.executive == "hand_over":
            self._hand_over(primitive)
        else:
            goals = goals_of(primitive, self.robot, self.T_world_arm)
            goals[0] = self._limits.of(goals[0], primitive, request, self.state.wrench)
            self._running = _Running(primitive, request, goals, self._node.now() + primitive.limit)
            self.state.begin_track()
            self.state.primitive = primitive
            self._next()

    def stop(self, number: int, outcome: str) -> None:
        """Cancel the goal of a primitive (0: whichever runs); its report will give `outcome`."""
        running = self._running
        self._early.stop(number, outcome or "halted")
        wish = self.authority.wish
        if wish is not None and number in (0, wish.primitive):
            self.authority.give_up(self._node.now())
            self._report(Report(wish.primitive, outcome or "halted"))
        if running is None or number not in (0, running.primitive.number):
            return
        running.stop_as = running.stop_as or outcome
        if running.handle is not None:
            running.handle.cancel_goal_async()
        elif running.waits:
            self._finish(running, outcome, None)

    def hold(self, number: int, hold: bool) -> None:
        """Stop on the path and keep the rest, or continue."""
        self._early.hold(number, hold)
        running = self._running
        if running is None or running.primitive.number != number or running.held == hold:
            return
        running.held = hold
        if hold and running.handle is not None:
            self._cancel_to_hold(running)
        elif not hold and running.waits:
            running.waits = False
            running.ends = self._node.now() + running.primitive.limit
            self._next()

    @staticmethod
    def _cancel_to_hold(running: _Running) -> None:
        running.stops = True
        running.handle.cancel_goal_async()

    def slow(self, number: int, speed: float) -> None:
        """Slow the primitive down to a tool speed [m/s], all of it that is still to come; it is never made faster."""
        self._early.stop(number, "refused")
        running = self._running
        if running is None or running.primitive.number != number:
            return
        slower = slowing(running.primitive, self.robot, speed)
        if slower is None or (running.slower is not None and slower.ratio <= running.slower.ratio):
            return
        running.slower = slower
        change = slower.change(len(running.goals))
        if running.waits or change is None:  # the goal that goes on is a new one, or slower already
            return
        if not self._change.service_is_ready():
            self._slowed(number, None)
            return
        keys, values = change
        request = self._change.srv_type.Request(keys=keys, values=values)
        self._change.call_async(request).add_done_callback(lambda done: self._slowed(number, done.result()))

    def _slowed(self, number: int, answer: Any) -> None:
        """A motion that cannot be slowed down is stopped."""
        if answer is None or not answer.success:
            self.stop(number, "refused")

    def tick(self) -> None:
        """Check the time: lost links, primitives that outlast their limit, messages of authority."""
        now = self._node.now()
        early = self._early.due(now, self.known)
        if early is not None:
            self._begin(*early)
        running = self._running
        if running is not None and self.state.is_lost(now):
            self._measured(self.arm.name, self.state.lost(), True)
            self.stops.stop_motion(f"{self.arm.name} does not report")  # it may receive, though it does not report
            self._finish(running, "link_loss", None, f"{self.arm.name} does not report")
        elif running is not None and now > running.ends and not running.held and not running.stop_as:
            self.stop(running.primitive.number, "timeout")
        self.stops.tick(now)
        message, claim = self.authority.due(now)
        stamp = self._node.stamp() if message or claim else None
        if message is not None:
            self._authority_publisher.publish(convert.authority_to_message(self._link.next(stamp), message))
        if claim is not None:
            self._claim.publish(convert.operations_to_message(self._link.next(stamp), [claim]))

    # goals -----------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        """Send the first goal that is left."""
        running = self._running
        if running is None:
            return
        if not self._client.server_is_ready():
            self._finish(running, "link_loss", None, f"{self.arm.name}: gcmsf_control does not serve primitives")
            return
        first = running.goals[0]
        if running.slower is not None:
            first = running.slower.goal(first, len(running.goals))
        keys, values = first.texts
        goal = ExecutePrimitive.Goal(
            parameters=PrimitiveParameters(
                name=first.name, agent=f"command {running.primitive.command}", keys=keys, values=values
            )
        )
        running.handle = None
        future = self._client.send_goal_async(goal)
        future.add_done_callback(lambda done: self._accepted(running, done))

    def _accepted(self, running: _Running, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._finish(running, "refused", None, "gcmsf_control takes no goal now")
            return
        running.handle = handle
        handle.get_result_async().add_done_callback(lambda done: self._ended(running, done))
        if running.stop_as or self._running is not running:  # it was given up meanwhile
            handle.cancel_goal_async()
        elif running.held:
            self._cancel_to_hold(running)

    def _ended(self, running: _Running, future: Any) -> None:
        report = future.result().result.report
        running.handle = None
        if self._running is not running:
            return
        outcome = outcome_of(running.primitive, running.request, report.reason, report.cause)
        stopped_to_hold, running.stops = running.stops, False
        if stopped_to_hold and not running.stop_as and outcome == HALTED:
            running.waits = running.held
            if not running.held:  # the hold was taken back before the arm was at rest
                self._next()
            return
        if report.state == PrimitiveReport.SUCCEEDED and len(running.goals) > 1 and not running.stop_as:
            del running.goals[0]
            self._next()
            return
        slips = self.state.slips(running.primitive)
        outcome = ended_outcome(outcome, report.state, running.stop_as, self.state.estop, slips)
        self._finish(running, outcome, report)

    def _finish(self, running: _Running, outcome: str, message: Any, note: str = "") -> None:
        if self._running is running:
            self._running = self.state.primitive = None
        if message is None:
            self._answer(running.primitive, outcome, note)
            return
        report = report_of(running.primitive, outcome, message, self.robot, self.T_world_arm)
        self._report(replace(report, track=self.state.track if report.pose else ()))

    def _answer(self, primitive: Primitive, outcome: str, note: str = "") -> None:
        """A report from what is measured now."""
        latest = self.state.latest
        outcome = outcome if outcome != "done" or self.known else "sensor_loss"
        on_arm = primitive.executive not in ("free_grasp", "compliant_grasp", "hand_over")
        joints, pose = (latest.joints, latest.pose) if on_arm and self.known else ((), ())
        self._report(Report(primitive.number, outcome, joints, pose, latest.wrench, note=note))

    def _call_tare(self, primitive: Primitive) -> None:
        if not self._tare.service_is_ready():
            self._answer(primitive, "failed", "gcmsf_control does not serve tare")
            return
        future = self._tare.call_async(self._tare.srv_type.Request())
        future.add_done_callback(
            lambda done: self._answer(primitive, "done" if done.result().success else "failed", done.result().message)
        )

    def _hand_over(self, primitive: Primitive) -> None:
        wish = HandOver(primitive.number, primitive.parameters.get("holder") == "program")
        trouble = self.authority.begin(self._node.now(), wish)
        if trouble:
            self._answer(primitive, "denied", trouble)

    # subscriptions ----------------------------------------------------------------------------------------------

    def _on_wrench(self, message: bytes) -> None:
        self.state.take_wrench(self._node.now(), tuple(convert.wrench_from_bytes(message).tolist()))

    def _on_hardware(self, message: Any) -> None:
        self.state.opening = float(message.gripper)
        running = self._running
        if running is not None and not running.stop_as and self.state.slips(running.primitive):
            self.stop(running.primitive.number, "slip")

    def _on_executor(self, message: Any) -> None:
        over = self.authority.on_report(self._node.now(), convert.report_from_message(message))
        if over is not None:
            self._report(Report(over[0], over[1]))

    def _on_state(self, message: Any) -> None:
        self.stops.count = message.halt_count
        if self.state.update(self._node.now(), message.state, np.array(message.measured_position), message.estop):
            self._measured(self.arm.name, self.state.latest, message.state in HALTED_STATES)
