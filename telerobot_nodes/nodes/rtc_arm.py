"""One arm (and its gripper) of the decision unit on topics and actions; in whichever namespace its graph is.

Everything but `halt` belongs to the executor's thread. A primitive becomes one goal after the other; its one report
comes when the last is over, or one of them fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot.action import ExecutePrimitive
from telerobot.msg import Halt, PrimitiveParameters, PrimitiveReport
from telerobot_nodes.core.frames import pose_from_se3, se3_from_pose
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.rtc_authority import AuthorityAgent, HandOver
from telerobot_nodes.nodes.rtc_primitives import Ask, asks_of, begun_in_contact, outcome_of, report_of
from telerobot_nodes.rtc.conditions import Measured
from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.skills import Arm

if TYPE_CHECKING:
    from telerobot_nodes.nodes.base import GraphNode

FRESH = 0.5  # [s] older joints are no news
SAME_HALT = 0.05  # [s] halts asked for within it are one
LOST = 2.0  # [s] of silence of an arm that moves: its link is lost
SLIP = 0.005  # [m] the fingers close, although something is held
HALT_STATES, FAULT = (2, 3), 4  # ControlState STOPPING, STOPPED; FAULT


@dataclass
class _Running:
    primitive: Primitive
    request: Request
    asks: list[Ask]
    ends: float  # [s]
    handle: Any = None
    stop_as: str = ""  # outcome of a stop that the decision unit asked for
    held: bool = False
    waits: bool = False  # stopped by a hold
    reason: str = field(default="", compare=False)


class ArmLink:
    """The face of one arm for the decision unit."""

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
        self._halt_number = self._robot_halt = 0
        self._halt_at = self._heard = -FRESH
        self._wrench: tuple[float, ...] = ()
        self._opening = math.inf  # [m] of the gripper
        self._last: tuple[float, np.ndarray[Any, Any]] | None = None
        self.latest = Measured()
        self.estop = False
        where = arm.namespace or None
        self._client = node.action_client("gcmsf_control/execute", namespace=where)
        self._tare = node.client("gcmsf_control/tare", namespace=where)
        self._change = node.client("gcmsf_control/change", namespace=where)
        self._halt = node.publisher("rtc_decision_unit/halt", namespace=where)
        self._say = node.publisher("authority", namespace=where)
        self._claim = node.publisher("plan_executor/operations", namespace=where)
        self._link = convert.LinkCounter(f"rtc/{arm.name}")
        node.subscribe("gcmsf_control/state", self._on_state, namespace=where)
        node.subscribe("hardware_interface/wrench", self._on_wrench, namespace=where)
        node.subscribe("hardware_interface/state", self._on_hardware, namespace=where)
        node.subscribe("plan_executor/state", self._on_executor, namespace=where)

    # any thread ------------------------------------------------------------------------------------------------

    def halt(self, reason: str) -> None:
        """Publish a halt at once; asked again within `SAME_HALT` it is the same one."""
        now = self._node.now()
        if now - self._halt_at > SAME_HALT:
            self._halt_number = max(self._halt_number, self._robot_halt) + 1
        self._halt_at = now
        link = self._link.next(self._node.stamp())
        self._halt.publish(Halt(link=link, number=self._halt_number, agent="program", reason=reason[:200]))

    @property
    def known(self) -> bool:
        """True while the arm's graph is heard."""
        return self._node.now() - self._heard < FRESH

    # executor's thread -----------------------------------------------------------------------------------------

    def begin(self, primitive: Primitive, request: Request) -> None:
        """Begin a primitive; a report follows in any case."""
        if not self.known:
            self._answer(primitive, "link_loss", f"nothing is heard of {self.arm.name}")
        elif primitive.executive == "sense":
            self._answer(primitive, "done")
        elif primitive.executive == "tare":
            self._call_tare(primitive)
        elif primitive.executive == "hand_over":
            self._hand_over(primitive)
        else:
            asks = asks_of(primitive, self.robot, self.T_world_arm)
            if not (request.reflexes or "force" in request.constraints):  # a person's own limits stay
                asks[0] = begun_in_contact(asks[0], self._wrench)
            self._running = _Running(primitive, request, asks, self._node.now() + primitive.limit)
            self._next()

    def stop(self, number: int, outcome: str) -> None:
        """Cancel the goal of a primitive (0: whichever runs); its report will give `outcome`."""
        running = self._running
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
        """Stop on the path and keep the rest, or go on with it."""
        running = self._running
        if running is None or running.primitive.number != number or running.held == hold:
            return
        running.held = hold
        if hold and running.handle is not None:
            running.handle.cancel_goal_async()
        elif not hold and running.waits:
            running.waits = False
            running.ends = self._node.now() + running.primitive.limit
            self._next()

    def slow(self, number: int, speed: float) -> None:
        """Slow the primitive down to a tool speed [m/s]."""
        running = self._running
        if running is None or running.primitive.number != number or not self._change.service_is_ready():
            return
        request = self._change.srv_type.Request(
            keys=["time_vel_sel", "time_vel_val"], values=["velocity", repr(float(speed))]
        )
        self._change.call_async(request)

    def tick(self) -> None:
        """Time has passed: primitives that outlast their end, the talk about authority."""
        now = self._node.now()
        running = self._running
        if running is not None and now - self._heard > LOST:
            self.halt(f"nothing is heard of {self.arm.name}")  # it may hear, though it is not heard
            self._finish(running, "link_loss", None, f"nothing is heard of {self.arm.name} for {LOST:g} s")
        elif running is not None and now > running.ends and not running.held and not running.stop_as:
            self.stop(running.primitive.number, "timeout")
        message, claim = self.authority.due(now)
        stamp = self._node.stamp() if message or claim else None
        if message is not None:
            self._say.publish(convert.authority_to_message(self._link.next(stamp), message))
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
        keys, values = running.asks[0].texts
        goal = ExecutePrimitive.Goal(
            parameters=PrimitiveParameters(
                name=running.asks[0].name, agent=f"command {running.primitive.command}", keys=keys, values=values
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
        if running.stop_as or running.held:
            handle.cancel_goal_async()

    def _ended(self, running: _Running, future: Any) -> None:
        report = future.result().result.report
        running.handle = None
        if self._running is not running:
            return
        if running.held and not running.stop_as and report.state != PrimitiveReport.SUCCEEDED:
            running.waits = True
            return
        if report.state == PrimitiveReport.SUCCEEDED and len(running.asks) > 1 and not running.stop_as:
            del running.asks[0]
            self._next()
            return
        outcome = outcome_of(running.primitive, running.request, report.reason, report.detail)
        if report.state == PrimitiveReport.REFUSED:
            outcome = "refused"
        elif self.estop:
            outcome = "estop"
        elif report.state == PrimitiveReport.SUCCEEDED and self._slips(running.primitive):
            outcome = "slip"
        if running.stop_as and report.state != PrimitiveReport.SUCCEEDED:
            outcome = running.stop_as
        self._finish(running, outcome or "refused", report)

    def _finish(self, running: _Running, outcome: str, message: Any, note: str = "") -> None:
        if self._running is running:
            self._running = None
        if message is None:
            self._answer(running.primitive, outcome, note)
            return
        self._report(report_of(running.primitive, outcome, message, self.robot, self.T_world_arm))

    def _answer(self, primitive: Primitive, outcome: str, note: str = "") -> None:
        """A report from what is measured now."""
        latest = self.latest
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

    # what is heard ---------------------------------------------------------------------------------------------

    def _on_wrench(self, message: Any) -> None:
        self._wrench = tuple(convert.wrench_to_array(message.wrench).tolist())

    def _on_hardware(self, message: Any) -> None:
        self._opening = float(message.gripper)
        running = self._running
        if running is not None and not running.stop_as and self._slips(running.primitive):
            self.stop(running.primitive.number, "slip")

    def _slips(self, primitive: Primitive) -> bool:
        """True when the fingers are nearer to each other than around what they hold."""
        return bool(self._opening < primitive.grip - SLIP)

    def _on_executor(self, message: Any) -> None:
        over = self.authority.on_report(self._node.now(), convert.report_from_message(message))
        if over is not None:
            self._report(Report(over[0], over[1]))

    def _on_state(self, message: Any) -> None:
        now = self._node.now()
        self._robot_halt, self.estop = message.halt_number, message.estop
        joints = np.array(message.measured_position)
        if message.state == FAULT and not joints.any():  # it has not heard of its joints yet
            return
        if len(joints) != self.robot.dof or not np.isfinite(joints).all():
            return
        self._heard = now
        pose = pose_from_se3(self.T_world_arm * self.robot.forward(joints))
        speed = None
        if self._last is not None and now > self._last[0]:
            speed = float(np.linalg.norm(pose[:3] - self._last[1])) / (now - self._last[0])
        self._last = (now, pose[:3])
        self.latest = Measured(tuple(joints.tolist()), tuple(pose.tolist()), self._wrench, speed=speed)
        self._measured(self.arm.name, self.latest, message.state in HALT_STATES)
