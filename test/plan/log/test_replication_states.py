"""The table of phases of the replication."""

import pytest

from telerobot_nodes.plan.log.replication_states import TABLE, Event, Phase


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_can_lose_and_claim_authority(phase):
    assert TABLE[phase, Event.OTHER] is Phase.OBSERVING
    assert TABLE[phase, Event.FREE] is Phase.CLAIMING


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.WAITING])
def test_every_phase_is_reached(phase):
    assert phase in TABLE.values()


def test_planning_begins_only_at_rest_or_in_agreement():
    ways = {event for (_, event), target in TABLE.items() if target is Phase.READY}
    assert ways == {Event.AT_REST, Event.AGREED, Event.JOINED}


@pytest.mark.parametrize("phase", [Phase.CLAIMING, Phase.INSISTING, Phase.TAKING_OVER])
def test_only_claims_are_granted(phase):
    assert (phase, Event.GRANTED) in TABLE
    assert sum(event is Event.GRANTED for _, event in TABLE) == 3
