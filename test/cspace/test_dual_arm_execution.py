"""Two arms under way: a deadlock is told in bounded time, planned again with what is seen now, or given up with why."""

import numpy as np
import pytest

from telerobot_nodes.bench.two_arms.crossing_tasks import PARKS, workcell_geometries, workcell_obstacles
from telerobot_nodes.cspace.geometry import FieldSettings, clearance, link_poses_of, sphere, world_of
from telerobot_nodes.cspace.multi_arm import DualArmExecution, DualArmPlanner, Phase
from telerobot_nodes.cspace.multi_arm.dual_arm_execution import Event
from telerobot_nodes.errors import TransitionError

PERIOD = 0.01
STRONG = FieldSettings(influence=0.2, gain=0.1, max_speed=3.0, velocity_part=1.0)  # one that stops an arm at full speed
OUT = np.array([0.0, 0.3, -1.2, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def geometries():
    """Both arms of the cell."""
    return workcell_geometries()


@pytest.fixture
def planner(geometries):
    """Free space but for the cell's own things."""
    return DualArmPlanner(geometries, workcell_obstacles(), parks=PARKS)


def turned(angle):
    return OUT + np.array([angle, 0.0, 0.0, 0.0, 0.0, 0.0])


def under_way(planner, seen, field=None):
    """The left arm swings across; with a field of its own `seen` is seen before the start, without one after it.

    The execution once it ended, both arms' positions, the least clearance from `seen`.
    """
    starts = [turned(1.0), PARKS[1].copy()]
    running = DualArmExecution(planner, starts, PERIOD, field, settle=0.1)
    plan = planner.plan(starts, [turned(-1.0), PARKS[1].copy()])
    assert plan.schedule is not None, plan.reason
    if field is not None:
        running.set_obstacles([*workcell_obstacles(), seen])
    running.start(plan)
    if field is None:
        running.set_obstacles([*workcell_obstacles(), seen])
    world, arm = world_of([seen]), planner.geometries[0].arm
    poses, least = link_poses_of(arm), np.inf
    q, v = starts, [np.zeros(6), np.zeros(6)]
    for step in range(4000):
        setpoints = running.step(step * PERIOD, q, v)
        v = [(new - old) / PERIOD for new, old in zip(setpoints, q, strict=True)]
        q = [row.copy() for row in setpoints]
        least = min(least, clearance(arm, world, poses, q[0]))
        if running.phase in (Phase.ARRIVED, Phase.GIVEN_UP):
            break
    return running, q, least


@pytest.mark.parametrize(("field", "deadlocked"), [(STRONG, (0,)), (None, ())])
@pytest.mark.lengthy
def test_what_comes_to_stand_in_the_way_is_gone_round(planner, field, deadlocked):
    tool = planner.geometries[0].robot.forward(turned(0.0)).translation
    running, q, least = under_way(planner, sphere("new", 0.04, tool), field)
    assert running.deadlocks[0].arms == deadlocked
    assert running.replans == 1
    assert running.phase is Phase.ARRIVED
    assert np.abs(q[0] - turned(-1.0)).max() < 0.02
    assert least > 0.0


@pytest.mark.parametrize("field", [STRONG, None])
def test_a_goal_that_is_taken_is_given_up_with_the_reason_and_the_arms_hold(planner, field):
    tool = planner.geometries[0].robot.forward(turned(-1.0)).translation
    running, q, least = under_way(planner, sphere("new", 0.04, tool), field)
    assert running.phase is Phase.GIVEN_UP
    assert "new" in running.reason
    assert least > 0.0
    held = running.step(99.0, q, [np.zeros(6), np.zeros(6)])
    assert np.abs(held[0] - q[0]).max() < 0.01


def test_what_stands_beside_the_way_stops_nobody(planner):
    running, _, least = under_way(planner, sphere("new", 0.04, (0.0, 0.0, 1.4)))
    assert (running.phase, running.deadlocks) == (Phase.ARRIVED, [])
    assert least > 0.0


def test_an_event_that_does_not_fit_changes_nothing(planner):
    running = DualArmExecution(planner, [turned(1.0), PARKS[1]], PERIOD)
    with pytest.raises(TransitionError):
        running._handle(Event.PLANNED)
    assert running.phase is Phase.MOVING
