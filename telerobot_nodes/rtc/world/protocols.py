"""What the workers ask of the planner side; the decision unit's host brings an implementation [JPL-RTC section 5]."""

from __future__ import annotations

from typing import Any, Protocol

from telerobot_nodes.core.values import FloatArray


class Kinematics(Protocol):
    """Forward and inverse kinematics of every arm, in WORLD."""

    def forward(self, arm: str, joints: FloatArray) -> FloatArray:
        """Pose (7,) of the tool."""

    def solve(self, arm: str, pose: FloatArray, seed: FloatArray) -> FloatArray:
        """Joints (dof,) [rad] that bring the tool to a pose; raises OutOfReachError."""

    def limits(self, arm: str) -> tuple[FloatArray, FloatArray]:
        """Lower and upper joint positions [rad]."""

    def slides(self, arm: str) -> tuple[bool, ...]:
        """Whether each joint slides, [m], instead of turning."""


class LoadCheck(Protocol):
    """Whether an arm can carry."""

    def check_load(self, arm: str, joints: FloatArray, mass: float) -> str:
        """An empty text, or why the mass [kg] cannot be carried there."""


class CollisionCheck(Protocol):
    """Whether a path is free."""

    def check_path(self, arm: str, path: FloatArray, clearance: float, ignore: frozenset[str]) -> str:
        """An empty text, or what the joint path (n, dof) [rad] comes closer to than `clearance` [m]."""


class ExecutiveCheck(Protocol):
    """Whether an arm's executive takes a primitive: the check that the robot itself makes."""

    def check_primitive(self, arm: str, primitive: Any) -> None:
        """Raise InvalidValueError with the field that the executive of `arm` refuses in a `skills.Primitive`."""


class Checks(Protocol):
    """All four."""

    @property
    def kinematics(self) -> Kinematics:
        """Kinematics of every arm."""

    @property
    def load(self) -> LoadCheck:
        """Load limits of every arm."""

    @property
    def collision(self) -> CollisionCheck:
        """Collisions of every arm."""

    @property
    def executive(self) -> ExecutiveCheck:
        """The executive of every arm."""
