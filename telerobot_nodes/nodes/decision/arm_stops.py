"""What the decision unit says to stop one arm, and to end its halt. Used on any thread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from telerobot.msg import Halt, Resume
from telerobot_nodes.core.protocol import HaltId, identity
from telerobot_nodes.nodes.messages import convert

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode
    from telerobot_nodes.rtc.skills import Arm

SAME_HALT = 0.05  # [s] halts of this node within it are one
RESUME_REPEATED = 0.5  # [s] one count is ended once only, so that repetitions harm no later halt


class ArmStops:
    """Publishers of halts, stops of the present primitive and ends of halts, in the arm's namespace."""

    def __init__(self, node: GraphNode, arm: Arm, link: convert.LinkCounter) -> None:
        where = arm.namespace or None
        self._node, self._link = node, link
        self._agent = identity("program")
        self._number = 0  # of this node's halts
        self._halt_at = self._resumed_at = -math.inf
        self._resumed = Resume()
        self.count = 0  # of the robot's halts, as reported
        self._halt = node.publisher("rtc_decision_unit/halt", namespace=where)
        self._stop = node.publisher("rtc_decision_unit/stop", namespace=where)
        self._resume = node.publisher("gcmsf_control/resume", namespace=where)

    def halt(self, reason: str, named: HaltId | None = None) -> None:
        """Publish a halt at once. One that was heard keeps its name, so that the robot counts its copies once."""
        self._halt.publish(self._message(reason, self._own() if named is None else named))

    def stop_motion(self, reason: str) -> None:
        """Publish a stop of the present primitive at once; the next may begin."""
        self._stop.publish(self._message(reason, HaltId(self._agent, self._number)))

    def end_halt(self, reason: str) -> None:
        """Publish the end of the arm's present halt; repeated by `tick` while a reset e-stop is still reported."""
        self._resumed = Resume(halt_count=self.count, agent=f"{self._agent}: {reason[:200]}")
        self._resumed_at = self._node.now()
        self._resume.publish(self._resumed)

    def tick(self, now: float) -> None:
        """Repeat the end of a halt for a while."""
        if now - self._resumed_at < RESUME_REPEATED:
            self._resume.publish(self._resumed)

    def _own(self) -> HaltId:
        now = self._node.now()
        self._number += now - self._halt_at > SAME_HALT
        self._halt_at = now
        return HaltId(self._agent, self._number)

    def _message(self, reason: str, named: HaltId) -> Any:
        link = self._link.next(self._node.stamp())
        return Halt(link=link, number=named.number, agent=named.agent, reason=reason[:200])
