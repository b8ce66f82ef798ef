"""What to draw of an arm and its plan."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import OperatorClient, PlanLines, Solid
from telerobot_nodes.operator.view.rows import STALE_AFTER, fresh


@dataclass(frozen=True)
class SceneView:
    """What to draw; None or empty: hidden. Joints [rad], poses x y z [m], qx qy qz qw in WORLD."""

    robot: FloatArray | None
    robot_stale: bool
    estimate: FloatArray | None
    head: FloatArray | None
    trial: FloatArray | None
    tool_pose: FloatArray | None
    head_pose: FloatArray | None
    target_pose: FloatArray | None
    wrench: FloatArray | None
    lead: float
    plan_version: int
    executed_seq: int
    conflicts: FloatArray = field(default_factory=lambda: np.empty((0, 2, 3)))  # [m] stretches of the plan in conflict
    motion: FloatArray | None = None  # of a simulated or practised motion
    motion_path: FloatArray = field(default_factory=lambda: np.empty((0, 3)))  # [m] of its tool
    solids: tuple[Solid, ...] = ()  # what stands around the arm, and what its tool holds


def scene(client: OperatorClient, now: float) -> SceneView:
    """What to draw now."""
    simulated = fresh(client.received.simulation, now, STALE_AFTER)
    robot, simulation = client.robot, client.simulation
    return SceneView(
        robot=_some(robot.joint_position),
        robot_stale=not fresh(client.received.robot, now, STALE_AFTER),
        estimate=_some(simulation.estimate_position) if simulated else None,
        head=_some(simulation.head_position) if simulated else None,
        trial=_some(simulation.trial_position) if simulated else None,
        tool_pose=_some(robot.tool_pose),
        head_pose=_some(simulation.head_pose) if simulated else None,
        target_pose=_some(client.queue.target_pose),
        wrench=_some(robot.wrench),
        lead=client.queue.lead,
        plan_version=client.trace.version + client.other.version,
        conflicts=client.conflicts,
        motion=_some(client.motion_joints) if fresh(client.received.motion, now, STALE_AFTER) else None,
        motion_path=client.motion_path,
        solids=client.solids,
        executed_seq=robot.executed_seq,
    )


def plan_lines(client: OperatorClient) -> PlanLines:
    """The plan as lines; expensive, so call it only when `plan_version` has changed."""
    return client.trace.lines()


def other_plan(client: OperatorClient) -> FloatArray:
    """Vertices (n, 3) [m] ahead in the plan of another operator with authority; empty: there is none."""
    lines = client.other.lines()
    return np.concatenate((lines.committed[:-1], lines.ahead))  # they share a joint


def _some(array: FloatArray) -> FloatArray | None:
    return array if array.size else None
