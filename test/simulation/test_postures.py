"""The elbow of a seven-joint arm: executor, forward simulation and the queue's reach find the same joints."""

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.protocol import ControlState, OperationKind
from telerobot_nodes.core.robot import Reach, load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints
from telerobot_nodes.simulation import ForwardSimulator

ROBOT = load_robot("panda")
BEGIN = np.array(ROBOT.home) + np.array([0.3, 0.0, -0.3, 0.0, 0.1, 0.0, 0.0])  # not home: the plan begins elsewhere
N = 240
TIMES = 1.0 + 0.02 * np.arange(N)  # the first point comes late: that is no time to move the elbow in


def circles():
    """Tool poses (N, 7) of two horizontal circles from where the plan begins."""
    T = ROBOT.forward(BEGIN)
    angle = 4.0 * np.pi * np.arange(N) / N
    offsets = 0.08 * np.column_stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros(N)])
    return np.array([pose_from_se3(pin.SE3(T.rotation, T.translation + offset)) for offset in offsets])


POSES = circles()
HINTS = np.tile(BEGIN + np.array([0.5, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0]), (N, 1))


class Executor:
    """The executor with the arm at rest where the plan begins, and what the operator's side sends."""

    def __init__(self):
        self.executor = PlanExecutor(ROBOT)
        self.executor.on_control(
            1.0, ControlReport(ControlState.HOLDING, 0, 0, 0.0, BEGIN.copy(), np.zeros(ROBOT.dof), 0, 0.0)
        )
        self.number = 0
        self.send(OperationKind.AUTHORITY)

    def send(self, kind, **values):
        self.number += 1
        self.executor.receive(1.0, [Operation(1, self.number, kind, "ann", **values)])
        assert self.executor.report(1.0).refusal == ""

    def lay(self, first, last, hints=None):
        posture = np.empty(0) if hints is None else hints[first:last]
        timing = np.zeros(last - first)
        points = PlanPoints(first + 1, TIMES[first:last], POSES[first:last], timing, "ann", posture=posture)
        self.send(OperationKind.APPEND, points=points, after_seq=first)

    @property
    def joints(self):
        return self.executor.motion.path.joints[-N:]


def executed(hints=None, ends=(1, 7, 100, N)):
    robot = Executor()
    for first, last in zip((0, *ends[:-1]), ends, strict=True):
        robot.lay(first, last, hints)
    return robot.joints


def simulated(hints=None, ends=(3, 90, 91, N)):
    forward = ForwardSimulator(ROBOT)
    forward.start(BEGIN, 0.5)
    for first, last in zip((0, *ends[:-1]), ends, strict=True):
        posture = {} if hints is None else {"posture": hints[first:last]}
        forward.append(first + 1, TIMES[first:last], POSES[first:last], **posture)
    return np.array(forward._plan.q[1:])


@pytest.mark.parametrize("hints", [None, HINTS], ids=["no hints", "hints"])
def test_executor_and_simulator_find_the_same_joints_whatever_the_batches(hints):
    assert executed(hints) == pytest.approx(simulated(hints), abs=1e-7)
    assert executed(hints, ends=(60, N)) == pytest.approx(simulated(hints), abs=1e-7)


def test_hints_move_the_elbow_and_without_any_it_comes_back_to_where_the_plan_began():
    free, hinted = executed(), executed(HINTS)
    assert np.abs(free[::120] - BEGIN).max() < 0.01
    assert np.abs(free - hinted).max() > 0.3
    assert (
        max(np.linalg.norm(pose_from_se3(ROBOT.forward(q))[:3] - p[:3]) for q, p in zip(hinted, POSES, strict=True))
        < 1e-7
    )


def test_the_reach_of_the_queue_follows_the_same_joints():
    reach = Reach(ROBOT)
    reach.arm_at(BEGIN)
    reach.begin()
    reach(POSES[0])
    found = [reach.joints]
    for before, pose in pairwise(POSES):
        reach.step(before, pose)
        found.append(reach.joints)
        ahead = pose.copy()
        ahead[2] += 0.03
        reach(ahead)  # where the tool could stop: it is no point
    assert np.array(found) == pytest.approx(executed(), abs=1e-6)


def test_a_trial_path_is_pulled_to_where_the_plan_began():
    forward, half = ForwardSimulator(ROBOT), N // 2
    forward.start(BEGIN)
    forward.append(1, TIMES[:half], POSES[:half])
    forward.append(1, TIMES[half:], POSES[half:], trial=True)
    assert np.array(forward._trial.q[1:]) == pytest.approx(simulated()[half:], abs=1e-7)


def test_a_plan_replaced_by_another_keeps_its_hints():
    forward = ForwardSimulator(ROBOT)
    forward.start(BEGIN)
    forward.append(1, TIMES[:10], POSES[:10])
    forward.reset(1, TIMES, POSES, BEGIN, posture=HINTS)
    assert np.array(forward._plan.q[1:]) == pytest.approx(simulated(HINTS), abs=1e-7)


def test_points_that_are_known_already_are_left_out_with_their_hints():
    forward = ForwardSimulator(ROBOT)
    forward.start(BEGIN)
    falling = np.linspace(HINTS, BEGIN, N)[np.arange(N), np.arange(N)]  # another hint at each point
    forward.append(1, TIMES[:50], POSES[:50], posture=falling[:50])
    forward.append(1, TIMES, POSES, posture=falling)
    assert np.array(forward._plan.q[1:]) == pytest.approx(simulated(falling), abs=1e-7)


def test_hints_of_another_number_of_joints_are_refused():
    forward = ForwardSimulator(ROBOT)
    with pytest.raises(InvalidValueError, match=r"points.posture \(shape\).*\(2, 7\)"):
        forward.append(1, TIMES[:2], POSES[:2], posture=np.zeros((2, 6)))
