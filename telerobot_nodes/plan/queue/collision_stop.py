"""Where the robot shall wait because the plan collides after that point: the last point that is free [US5046022].

What belongs here: which point that is, from the forward simulation's check. What must never enter: the check itself
(`simulation`), how the robot waits (`plan.executor.execution_limit`).

The robot goes on when the collision is gone: the points are deleted, or were examined again and found free, because
the world has changed; or when the operator turns the stop off.
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.plan.log import PlanStore

FIRST = 1  # of a plan: there the arm stands


@dataclass(frozen=True)
class CollisionCheck:
    """What the forward simulation knows of the plan. Numbers of points; 0: none."""

    collision_seq: int = 0  # first point in collision
    free_seq: int = 0  # the point before it
    examined_seq: int = 0  # every point up to this one was examined
    text: str = ""  # for people


class CollisionStop:
    """Remembers the first collision until it is gone. `enabled`: whether the robot waits before it."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._latest = CollisionCheck()
        self._found: CollisionCheck | None = None

    def on_check(self, check: CollisionCheck) -> None:
        """Take the latest result. After a change of the world the points are examined anew, nearest first."""
        self._latest = check
        if check.collision_seq:
            self._found = check
        elif self._found is not None and check.examined_seq >= self._found.collision_seq:
            self._found = None

    def limit(self, plan: PlanStore, present: int) -> int:
        """Last point that the robot may execute, 0: any; `present`: the limit in force there.

        A limit of somebody else is kept until the points after it were examined.
        """
        if not self.enabled:
            return 0
        found = self._colliding(plan)
        if found is not None:
            return max(found.free_seq, FIRST)
        return present if self._latest.examined_seq <= present < plan.last_seq else 0

    def reason(self, plan: PlanStore) -> str:
        """What the robot waits for, or will; empty if nothing."""
        found = self._colliding(plan) if self.enabled else None
        return f"the robot stops before point {found.collision_seq}: {found.text}" if found is not None else ""

    def _colliding(self, plan: PlanStore) -> CollisionCheck | None:
        """The collision found, unless its points have left the plan."""
        return self._found if self._found is not None and plan.contains(self._found.collision_seq) else None
