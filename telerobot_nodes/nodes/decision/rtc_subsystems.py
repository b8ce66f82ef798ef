"""The subsystems of the decision unit: arms, grippers and the camera, and the planner's check of paths [JPL-RTC].

Calls of the decision thread and of the workers are queued by `post` and run on the executor's thread; only halts are
published on the caller's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from telerobot.srv import CheckPath
from telerobot_nodes.core.protocol import HaltId
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.decision.arm_names import ArmNames
from telerobot_nodes.nodes.decision.arm_proxy import ArmProxy
from telerobot_nodes.nodes.decision.outside_devices import CameraProxy, SensorProxy
from telerobot_nodes.nodes.messages import doubles
from telerobot_nodes.rtc.decision import Measured
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.skills import HALTED, Arm, Primitive, Report, Workcell

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode

CHECK_LIMIT = 15.0  # [s] for the planner to answer a worker

Post = Callable[[Callable[[], None]], None]


class RtcSubsystems:
    """`rtc.host.Subsystems` on the graph. `report` is set by the node once there is a host."""

    def __init__(
        self,
        node: GraphNode,
        workcell: Workcell,
        namespaces: str,
        robot: str,
        post: Post,
        measured: Callable[[str, Measured, bool], None],
    ) -> None:
        self.report: Callable[[Report], None] = lambda report: None
        self._post = post
        arms = placed(workcell, namespaces)
        refuse_shared(arms, node.get_namespace())
        self.arms = {
            name: ArmProxy(node, arm, robot_of(arm, robot), self._on_report, measured) for name, arm in arms.items()
        }
        self.names = ArmNames(node, [link.arm for link in self.arms.values()])
        self._of = dict(self.arms)
        self._of |= {link.arm.gripper: link for link in self.arms.values() if link.arm.gripper}
        self.collision = PathService(node, {name: link.arm for name, link in self.arms.items()}, post)
        self._cameras = {name: CameraProxy(node, it, self._on_report) for name, it in workcell.cameras.items()}
        self._sensors = {name: SensorProxy(node, it, self._on_report) for name, it in workcell.sensors.items()}

    # rtc.host.Subsystems ---------------------------------------------------------------------------------------

    def send(self, primitive: Primitive, request: Request) -> None:
        """Begin a primitive."""
        self._post(lambda: self._begin(primitive, request))

    def halt(self, subsystem: str, reason: str, primitive: int, named: HaltId | None = None) -> None:
        """Stop a subsystem and latch its arm: a halt on the arm's own topic now, the goal cancelled after it."""
        if subsystem in self._of:
            self._of[subsystem].stops.halt(reason, named)
        self.end(subsystem, primitive, HALTED)

    def stop(self, subsystem: str, reason: str, primitive: int, outcome: str = HALTED) -> None:
        """Stop this motion of a subsystem: a stop on the arm's own topic now, the goal cancelled after it."""
        if subsystem in self._of:
            self._of[subsystem].stops.stop_motion(reason)
        self.end(subsystem, primitive, outcome)

    def end(self, subsystem: str, primitive: int, outcome: str = HALTED) -> None:
        """Cancel the goal of a motion that is stopped already."""
        link = self._of.get(subsystem)
        if link is None and subsystem == "authority":
            for other in self.arms.values():
                self._post(lambda link=other: link.stop(primitive, outcome))  # type: ignore[misc]
        if link is None:
            self._post(lambda: self._stop_device(subsystem, primitive))
            return
        self._post(lambda: link.stop(primitive, outcome))

    def halt_all(self, reason: str, named: HaltId | None = None) -> None:
        """Stop every arm."""
        for link in self.arms.values():
            link.stops.halt(reason, named)

    def stop_all(self, reason: str) -> None:
        """Stop the motion of every arm; the next may begin at once."""
        for link in self.arms.values():
            link.stops.stop_motion(reason)

    def resume_all(self, reason: str) -> None:
        """End the halts of all arms."""
        for link in self.arms.values():
            link.stops.end_halt(reason)

    def hold(self, primitive: int, subsystem: str, hold: bool) -> None:
        """Stop on the path and keep the rest, or go on."""
        link = self._of.get(subsystem)
        if link is not None:
            self._post(lambda: link.hold(primitive, hold))

    def slow(self, primitive: Primitive, speed: float) -> None:
        """A reflex slows a primitive down."""
        link = self._of.get(primitive.subsystem)
        if link is not None:
            self._post(lambda: link.slow(primitive.number, speed))

    # executor's thread -----------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Check the time."""
        for link in self.arms.values():
            link.tick()

    def _stop_device(self, subsystem: str, primitive: int) -> None:
        if subsystem == "sensor":
            for sensor in self._sensors.values():
                sensor.forget(primitive)
        self.report(Report(primitive, HALTED))

    def _on_report(self, report: Report) -> None:
        self.report(report)

    def _begin(self, primitive: Primitive, request: Request) -> None:
        link = self._of.get(primitive.subsystem)
        if primitive.subsystem == "authority":
            link = self.arms.get(str(primitive.parameters.get("arm", "")))
        if link is not None:
            link.begin(primitive, request)
        elif primitive.subsystem in self._cameras:
            self._cameras[primitive.subsystem].begin(primitive, request)
        elif primitive.subsystem == "sensor" and primitive.parameters.get("sensor") in self._sensors:
            self._sensors[str(primitive.parameters["sensor"])].begin(primitive)
        else:
            self.report(Report(primitive.number, "refused", note=f"there is no {primitive.subsystem} here"))


def robot_of(arm: Arm, default: str, **placed: Any) -> RobotModel:
    """The model of an arm; raises InvalidValueError where a named model has not as many joints as its home."""
    robot = load_robot(arm.robot or default, **placed)
    if arm.robot and arm.home and len(arm.home) != robot.dof:  # the default may be another robot than the file is for
        raise InvalidValueError(f"arms.{arm.name}.home (length)", len(arm.home), f"allowed: {robot.dof} joints")
    return robot


def placed(workcell: Workcell, namespaces: str) -> dict[str, Arm]:
    """The arms of the workcell, in the namespaces of the text `arm=namespace,...` where it names them."""
    arms = dict(workcell.arms)
    for entry in filter(None, (part.strip() for part in namespaces.split(","))):
        name, equals, namespace = entry.partition("=")
        if not equals or name not in arms:
            raise InvalidValueError("arms", entry, f"allowed: ARM=NAMESPACE with an arm of {', '.join(arms)}")
        arms[name] = replace(arms[name], namespace=namespace.strip("/"))
    return arms


def refuse_shared(arms: Mapping[str, Arm], own: str) -> None:
    """Raise InvalidValueError where two arms are in one namespace: commands for either would move the same arm.

    `own`: namespace of the decision unit, for arms that have none.
    """
    taken: dict[str, str] = {}
    for name, arm in arms.items():
        where = arm.namespace.strip("/") or own.strip("/")
        other = taken.setdefault(where, name)
        if other != name:
            raise InvalidValueError(f"arms.{name}.namespace", where, f"allowed: another than that of {other}")


class PathService:
    """`CollisionCheck` by the planner's service; asked by workers, which wait for the answer.

    Without a planner every path passes; `unchecked` counts them.
    """

    def __init__(self, node: GraphNode, arms: dict[str, Arm], post: Post) -> None:
        self.unchecked = 0
        self._post = post
        self._clients = {
            name: node.client("cspace_planner/check_path", namespace=arm.namespace or None)
            for name, arm in arms.items()
        }

    def check_path(self, arm: str, path: FloatArray, clearance: float, ignore: frozenset[str]) -> str:
        """An empty text, or what the joint path (n, dof) [rad] comes too near to."""
        client = self._clients.get(arm)
        if client is None or not client.service_is_ready():
            self.unchecked += 1
            return ""
        request = CheckPath.Request(
            arm="", waypoints=doubles(path), dof=path.shape[1], margin=float(clearance), ignore=sorted(ignore - {""})
        )
        done, answers = threading.Event(), []

        def finished(future: Any) -> None:
            answers.append(future.result())
            done.set()

        self._post(lambda: client.call_async(request).add_done_callback(finished))
        if not done.wait(CHECK_LIMIT) or answers[0] is None:
            return f"the planner has not answered in {CHECK_LIMIT:g} s"
        answer = answers[0]
        if not answer.success:
            return f"the planner has no answer: {answer.message}"
        return "" if answer.free else str(answer.message)
