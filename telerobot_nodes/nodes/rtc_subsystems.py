"""The subsystems of the decision unit: arms, grippers and the camera, and the planner's word on paths [JPL-RTC].

What belongs here: which subsystem a primitive goes to. Calls of the decision thread and of the workers are put into
`post` and done on the executor's thread; only halts are published from whichever thread asks.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot.srv import CheckPath
from telerobot_nodes.core.frames import pose_from_se3, se3_from_pose
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.convert import doubles
from telerobot_nodes.nodes.rtc_arm import ArmLink
from telerobot_nodes.rtc.conditions import Measured
from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.skills import Arm, Workcell

if TYPE_CHECKING:
    from telerobot_nodes.nodes.base import GraphNode

CHECK_LIMIT = 15.0  # [s] for the planner to answer a worker
OBJECTS_FRESH = 2.0  # [s] what the camera saw earlier is not seen

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
        self.arms = {
            name: ArmLink(node, arm, load_robot(robot), self._say, measured)
            for name, arm in placed(workcell, namespaces).items()
        }
        self._of = dict(self.arms)
        self._of |= {link.arm.gripper: link for link in self.arms.values()}
        self.collision = PathService(node, {name: link.arm for name, link in self.arms.items()}, post)
        self._camera = Camera(node, self._say)
        self._cameras = frozenset(workcell.cameras)

    # rtc.host.Subsystems ---------------------------------------------------------------------------------------

    def send(self, primitive: Primitive, request: Request) -> None:
        """Begin a primitive."""
        self._post(lambda: self._begin(primitive, request))

    def halt(self, subsystem: str, reason: str, primitive: int) -> None:
        """Stop a subsystem: a halt on the arm's own topic now, the goal cancelled after it."""
        link = self._of.get(subsystem)
        if link is None and subsystem == "authority":
            for other in self.arms.values():
                self._post(lambda link=other: link.stop(primitive, "halted"))  # type: ignore[misc]
        if link is None:
            self._post(lambda: self._camera.stop(primitive))
            return
        outcome = reason if reason == "until" or reason.startswith("reflex_") else "halted"
        link.halt(reason)
        self._post(lambda: link.stop(primitive, outcome))

    def halt_all(self, reason: str) -> None:
        """Stop every arm."""
        for link in self.arms.values():
            link.halt(reason)

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
        """Time has passed."""
        for link in self.arms.values():
            link.tick()

    def _say(self, report: Report) -> None:
        self.report(report)

    def _begin(self, primitive: Primitive, request: Request) -> None:
        link = self._of.get(primitive.subsystem)
        if primitive.subsystem == "authority":
            link = self.arms.get(str(primitive.parameters.get("arm", "")))
        if link is not None:
            link.begin(primitive, request)
        elif primitive.subsystem in self._cameras:
            self._camera.begin(primitive, request)
        else:
            self.report(Report(primitive.number, "refused", note=f"there is no {primitive.subsystem} here"))


def placed(workcell: Workcell, namespaces: str) -> dict[str, Arm]:
    """The arms of the workcell, in the namespaces of the text `arm=namespace,...` where it names them."""
    arms = dict(workcell.arms)
    for entry in filter(None, (part.strip() for part in namespaces.split(","))):
        name, equals, namespace = entry.partition("=")
        if not equals or name not in arms:
            raise InvalidValueError("arms", entry, f"allowed: ARM=NAMESPACE with an arm of {', '.join(arms)}")
        arms[name] = replace(arms[name], namespace=namespace.strip("/"))
    return arms


class PathService:
    """`CollisionCheck` by the planner's service; asked by workers, which wait for the answer.

    Where no planner runs nothing is known, and the count `unchecked` tells how many paths went unchecked.
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
            return f"the planner cannot say: {answer.message}"
        return "" if answer.free else str(answer.message)


class Camera:
    """The camera of the simulated cell: it sees what `hardware_interface/objects` shows, and pans at once."""

    def __init__(self, node: GraphNode, report: Callable[[Report], None]) -> None:
        self._node, self._report = node, report
        self._seen: dict[str, tuple[float, tuple[float, ...]]] = {}
        node.subscribe("hardware_interface/objects", self._on_objects)

    def begin(self, primitive: Primitive, request: Request) -> None:
        """Answer at once."""
        if primitive.executive != "locate":
            self._report(Report(primitive.number, "reached", note="the simulated camera has no drive"))
            return
        name = str(request.slots.get("object", ""))
        at, pose = self._seen.get(name, (-math.inf, ()))
        if self._node.now() - at > OBJECTS_FRESH:
            self._report(Report(primitive.number, "not_found", note=f"{name or 'the object'} is not in sight"))
            return
        self._report(Report(primitive.number, "found", readings={"pose": pose}))

    def stop(self, primitive: int) -> None:
        """A halt: nothing of the camera moves."""
        self._report(Report(primitive, "halted"))

    def _on_objects(self, message: Any) -> None:
        now = self._node.now()
        for entry in message.obstacles:
            pose = pose_from_se3(se3_from_pose(np.array(entry.pose)))
            self._seen[entry.name] = (now, tuple(pose.tolist()))
