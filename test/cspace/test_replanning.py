"""Two arms under way: a deadlock is told in bounded time, planned again with what is seen now, or given up with why."""

import numpy as np
import pytest

from telerobot_nodes.bench.crossing_tasks import PARKS, cell_geometries, cell_obstacles
from telerobot_nodes.cspace.cell_of_arms import ArmCell
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.force_field import FieldSettings
from telerobot_nodes.cspace.obstacles import sphere, world_of
from telerobot_nodes.cspace.placing import places_of
from telerobot_nodes.cspace.replanning import CellExecution, Event, Phase
from telerobot_nodes.errors import TransitionError

PERIOD = 0.01
STRONG = FieldSettings(influence=0.2, gain=0.1, most=3.0, velocity_part=1.0)  # one that stops an arm at full speed
OUT = np.array([0.0, 0.3, -1.2, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def geometries():
    """Both arms of the cell."""
    return cell_geometries()


@pytest.fixture
def cell(geometries):
    """Free space but for the cell's own things."""
    return ArmCell(geometries, cell_obstacles(), parks=PARKS)


def turned(angle):
    return OUT + np.array([angle, 0.0, 0.0, 0.0, 0.0, 0.0])


def under_way(cell, seen, field=None):
    """The left arm swings across; with a field of its own `seen` is seen before the start, without one after it.

    The execution once it ended, both arms' positions, the least clearance from `seen`.
    """
    starts = [turned(1.0), PARKS[1].copy()]
    running = CellExecution(cell, starts, PERIOD, field, settle=0.1)
    plan = cell.plan(starts, [turned(-1.0), PARKS[1].copy()])
    assert plan.schedule is not None, plan.reason
    if field is not None:
        running.set_obstacles([*cell_obstacles(), seen])
    running.start(plan)
    if field is None:
        running.set_obstacles([*cell_obstacles(), seen])
    world, arm = world_of([seen]), cell.geometries[0].arm
    at, least = places_of(arm), np.inf
    q, v = starts, [np.zeros(6), np.zeros(6)]
    for step in range(4000):
        setpoints = running.step(step * PERIOD, q, v)
        v = [(new - old) / PERIOD for new, old in zip(setpoints, q, strict=True)]
        q = [row.copy() for row in setpoints]
        least = min(least, clearance(arm, world, at, q[0]))
        if running.phase in (Phase.ARRIVED, Phase.GIVEN_UP):
            break
    return running, q, least


@pytest.mark.parametrize(("field", "deadlocked"), [(STRONG, (0,)), (None, ())])
def test_what_comes_to_stand_in_the_way_is_gone_round(cell, field, deadlocked):
    tool = cell.geometries[0].robot.forward(turned(0.0)).translation
    running, q, least = under_way(cell, sphere("new", 0.04, tool), field)
    assert running.deadlocks[0].arms == deadlocked
    assert running.replans == 1
    assert running.phase is Phase.ARRIVED
    assert np.abs(q[0] - turned(-1.0)).max() < 0.02
    assert least > 0.0


@pytest.mark.parametrize("field", [STRONG, None])
def test_a_goal_that_is_taken_is_given_up_with_the_reason_and_the_arms_hold(cell, field):
    tool = cell.geometries[0].robot.forward(turned(-1.0)).translation
    running, q, least = under_way(cell, sphere("new", 0.04, tool), field)
    assert running.phase is Phase.GIVEN_UP
    assert "new" in running.reason
    assert least > 0.0
    held = running.step(99.0, q, [np.zeros(6), np.zeros(6)])
    assert np.abs(held[0] - q[0]).max() < 0.01


def test_what_stands_beside_the_way_stops_nobody(cell):
    running, _, least = under_way(cell, sphere("new", 0.04, (0.0, 0.0, 1.4)))
    assert (running.phase, running.deadlocks) == (Phase.ARRIVED, [])
    assert least > 0.0


def test_an_event_that_does_not_fit_changes_nothing(cell):
    running = CellExecution(cell, [turned(1.0), PARKS[1]], PERIOD)
    with pytest.raises(TransitionError):
        running._handle(Event.PLANNED)
    assert running.phase is Phase.MOVING
