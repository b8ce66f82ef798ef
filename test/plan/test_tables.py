"""The state tables: drawn as they are, every state reached, unknown pairs refused."""

from pathlib import Path

import pytest

from telerobot_nodes.errors import TransitionError
from telerobot_nodes.plan import tables, uplink
from telerobot_nodes.plan.sender import SenderConfig
from telerobot_nodes.plan.store import PlanStore


def test_the_docs_show_the_tables_that_run():
    page = Path(__file__).parents[2] / "docs" / "plan_states.md"
    assert page.read_text() == tables.document()


@pytest.mark.parametrize("pair", [(p, e) for p in uplink.Phase for e in uplink.Event], ids=str)
def test_an_event_outside_the_table_raises_and_changes_nothing(pair):
    phase, event = pair
    link = uplink.Uplink("a", PlanStore(10), SenderConfig())
    link.phase = phase
    if pair in uplink.TABLE:
        link.fire(event)
        assert link.phase is uplink.TABLE[pair]
    else:
        with pytest.raises(TransitionError, match="uplink"):
            link.fire(event)
        assert link.phase is phase


def test_every_phase_but_the_first_is_reached():
    assert set(uplink.TABLE.values()) == set(uplink.Phase) - {uplink.Phase.WAITING}
