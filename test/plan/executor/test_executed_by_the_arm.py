"""Executed means done by the arm: executor, control step and hardware with MuJoCo, with every fault at every phase.

A point may be reported as executed only after the measured arm was at it, in order, and the fingers with it. After each
fault the plan goes on by itself, or after what a person does, and nothing is left over.
"""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.bench.plan import executed
from telerobot_nodes.bench.plan.executed_rig import FAULTS, FINGERS_NEAR, PERIOD, Content, Cut, ExecutedRig, report_of
from telerobot_nodes.core.protocol import ControlState, ExecutorMode, OperationKind
from telerobot_nodes.core.robot import load_robot

pytestmark = pytest.mark.lengthy  # physics

ROBOT = load_robot("arm")
POINTS = 100


def rig_with(content, points=POINTS):
    rig = ExecutedRig(ROBOT)
    rig.append(content, points)
    return rig


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("content", Content)
@pytest.mark.brief(5)
def test_nothing_counts_as_executed_that_the_arm_did_not_do(content, fault):
    random = np.random.default_rng([len(content.value), len(fault)])
    points = 5 if content is Content.GRASP else POINTS
    for _ in range(1):  # `telerobot bench executed` tries thousands
        rig = rig_with(content, points)
        rig.run(random.uniform(0.0, 2.5))
        FAULTS[fault](rig, random.uniform(0.02, 0.8))
        assert rig.wrong() == 0
        assert rig.help() == ""
        assert rig.wrong() == 0
        assert rig.finished
        assert [done.seq for done in rig.done] == list(range(1, points + 1))


@pytest.mark.parametrize("step", [0.02, pytest.param(0.005, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("content", [Content.FINGERS, Content.PATH])
@pytest.mark.brief(1)
def test_a_stall_of_the_loop_at_any_moment_near_the_end_leaves_nothing_undone(content, step):
    """The setpoint may be at the end, or too near to plan to it, and the loop forgets what the arm has not done."""
    rig = ExecutedRig(ROBOT)
    for phase in np.arange(1.10, 1.35, step):
        rig.append(content, 50)
        rig.run(phase)
        FAULTS["loop stalled"](rig, 0.18)
        assert (rig.help(), rig.wrong(), rig.finished) == ("", 0, True), phase


@pytest.mark.parametrize(
    ("fault", "phase", "duration"),
    [("setpoints lost", 0.606, 0.492), ("all cut", 1.186, 0.383)],
    ids=["too far away to be followed again", "arrival and interruption in one report"],
)
@pytest.mark.brief(1)
def test_a_plan_goes_on_after_connections_were_cut(fault, phase, duration):
    """Found among a thousand random cases: hardware and loop waited for each other; points passed were not reported."""
    rig = rig_with(Content.PATH, 50)
    rig.run(phase)
    FAULTS[fault](rig, duration)
    assert (rig.help(), rig.wrong(), rig.finished) == ("", 0, True)


@pytest.mark.parametrize("fault", ["halted", "joints missing", "e-stop"])
@pytest.mark.brief(1)
def test_a_stop_of_an_arm_whose_plan_is_done_does_not_count_against_the_next_plan(fault):
    """After RESUME the loop still reports why it stopped, until it has the next plan's first window."""
    rig = rig_with(Content.PATH, 20)
    assert rig.finish()
    FAULTS[fault](rig, 0.5)
    assert rig.help() == ""
    rig.send(OperationKind.RESUME)
    rig.append(Content.PATH, 20)
    rig.run(0.06, [Cut.WINDOWS])  # it is on its way
    assert rig.finish(), rig.executor.report(rig.now).reason
    assert rig.wrong() == 0


@pytest.mark.parametrize("fault", ["all cut", "halted", "joints missing"])
@pytest.mark.brief(1)
def test_fingers_stopped_after_the_path_has_ended_finish_their_way(fault):
    """The setpoint is at the end of a plan shorter than the fingers' way; then the loop stops, and these with it."""
    rig = ExecutedRig(ROBOT)
    for phase in np.arange(0.2, 0.7, 0.1):
        rig.append(Content.GRASP, 5)
        rig.run(phase)
        FAULTS[fault](rig, 0.2)
        assert (rig.help(), rig.wrong(), rig.finished) == ("", 0, True), phase


def test_fingers_that_a_stop_holds_on_their_way_are_reported_so():
    rig = ExecutedRig(ROBOT)
    rig.append(Content.GRASP, 5)
    rig.run(0.4)
    FAULTS["halted"](rig, 0.2)
    assert report_of(rig.loop.output).waiting == "the fingers were stopped on their way"


@pytest.mark.nightly
def test_the_bench_counts_cases_windows_and_points():
    result = executed.run({"windows": 30, "faults": "halted,loop stalled", "plans": "path,fingers"})
    counts = result["figures"]["counts"]
    assert list(counts) == ["halted, path", "halted, fingers", "loop stalled, path", "loop stalled, fingers"]
    for found in counts.values():
        assert found["windows_in_the_fault"] >= 30
        assert found["points"] == 50 * found["cases"]
    assert [goal["met"] for goal in result["goals"]] == [True, True], result["figures"]["first_failures"]


def test_a_false_report_of_the_loop_is_seen():
    """What this file relies on: points that the arm did not do are counted as wrong, of a path and of the fingers."""
    for content, points, before in ((Content.PATH, POINTS, 0.6), (Content.FINGERS, 10, 0.05)):
        rig = rig_with(content, points)
        rig.run(before)
        rig.run(1.0, [Cut.SETPOINTS, Cut.REPORTS])  # the arm stands
        false = replace(report_of(rig.loop.output), state=ControlState.HOLDING, arrived_time=float(rig.plan.time[-1]))
        rig.executor.on_control(rig.now, replace(false, arrived_window=false.window_number))
        rig.run(0.1, [Cut.SETPOINTS, Cut.REPORTS])
        assert len(rig.done) > 0
        assert rig.wrong() > 0


def test_the_first_plan_after_joints_came_late_moves_the_fingers():
    """As seen on a slower machine: the loop stopped for joints 0.101 s old, and the fingers never moved."""
    rig = rig_with(Content.FINGERS)
    rig.run(0.02)
    rig.run(0.11, [Cut.JOINTS])
    assert rig.help() == ""
    assert rig.arm[-1][1] < FINGERS_NEAR


def test_the_operator_sees_why_a_plan_at_rest_is_not_executed():
    rig = rig_with(Content.DWELL)
    rig.run(6.0, [Cut.SETPOINTS])
    report = rig.executor.report(rig.now)
    assert report.executed_seq == 0
    assert report.mode in (ExecutorMode.RUNNING, ExecutorMode.FAULT)
    assert "setpoint" in report.reason


@pytest.mark.parametrize("fault", ["halted", "e-stop"])
def test_fingers_on_their_way_stop_with_the_arm_and_finish_after_it(fault):
    rig = rig_with(Content.FINGERS)
    rig.run(0.6)
    closing = rig.arm[-1][1]
    FAULTS[fault](rig, 2.0)
    stood = [width for _, width in rig.arm[-round(1.0 / PERIOD) :]]
    assert FINGERS_NEAR < closing - 0.01 < min(stood), "they went on"
    assert np.ptp(stood) < 1e-3
    assert (rig.help(), rig.wrong(), rig.finished) == ("", 0, True)
    assert rig.arm[-1][1] < FINGERS_NEAR
