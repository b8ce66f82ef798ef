import pytest

from telerobot_nodes.core.protocol import ControlState, StopCause, next_state
from telerobot_nodes.errors import TransitionError
from telerobot_nodes.motion.loop.control_state import (
    TRANSITIONS,
    ControlEvent,
    ControlMachine,
    ControlPhase,
)

SEEN = [phase for phase in ControlPhase if phase is not ControlPhase.UNSEEN]


@pytest.mark.parametrize("phase", SEEN)
def test_a_fault_leads_to_fault_in_every_phase(phase):
    assert next_state("control", TRANSITIONS, phase, ControlEvent.FAULT).state is ControlState.FAULT


@pytest.mark.parametrize("phase", [phase for phase in SEEN if phase.state is not ControlState.FAULT])
def test_rest_and_stop_are_defined_in_every_phase_without_a_fault(phase):
    assert (phase, ControlEvent.REST) in TRANSITIONS
    assert (phase, ControlEvent.STOP) in TRANSITIONS


def test_nothing_moves_out_of_fault_or_a_stop_in_progress():
    for phase in ControlPhase:
        if phase.state in (ControlState.FAULT, ControlState.STOPPING):
            assert (phase, ControlEvent.FOLLOW) not in TRANSITIONS


def test_only_a_window_or_primitive_leads_to_tracking():
    into = {event for (_, event), after in TRANSITIONS.items() if after is ControlPhase.TRACKING}
    assert into == {ControlEvent.FOLLOW}


def test_every_phase_is_published_as_the_state_of_its_name():
    assert {phase.state for phase in ControlPhase} == set(ControlState)
    for phase in SEEN:
        assert phase.name.startswith(phase.state.name)
    assert ControlPhase.UNSEEN.state is ControlState.FAULT


def test_a_fault_while_moving_brakes_then_seeks_the_arm_once_before_it_clears():
    phase = ControlPhase.TRACKING
    for event, after in (
        (ControlEvent.FAULT, ControlPhase.FAULT_BRAKING),
        (ControlEvent.REST, ControlPhase.FAULT_SEEKING),
        (ControlEvent.SOUGHT, ControlPhase.FAULT_WAITING),
        (ControlEvent.FAULT, ControlPhase.FAULT_WAITING),
        (ControlEvent.CLEARED, ControlPhase.STOPPED),
    ):
        phase = next_state("control", TRANSITIONS, phase, event)
        assert phase is after


def test_an_unknown_pair_raises_names_both_and_changes_nothing():
    machine = ControlMachine()
    machine.handle(ControlEvent.SEEN)
    machine.handle(ControlEvent.FOLLOW)
    with pytest.raises(TransitionError, match=r"CLEARED.*TRACKING"):
        machine.handle(ControlEvent.CLEARED)
    assert machine.phase is ControlPhase.TRACKING


def stopped(*causes):
    machine = ControlMachine()
    machine.handle(ControlEvent.SEEN)
    for cause in causes:
        machine.stop(cause, cause.name)
    return machine


def test_a_stop_is_recoverable_only_if_all_its_causes_are():
    assert stopped(StopCause.STALE_JOINTS).recoverable
    assert stopped(StopCause.STALE_JOINTS, StopCause.LOOP_STALL).recoverable
    assert not stopped(StopCause.STALE_JOINTS, StopCause.HALT).recoverable
    assert not stopped(StopCause.HALT, StopCause.STALE_JOINTS).recoverable


def test_a_fault_keeps_its_cause_until_the_arm_is_free():
    machine = stopped()
    assert (machine.cause, machine.reason, machine.free) == (StopCause.NONE, "", True)
    machine.fault(StopCause.ESTOP, "button")
    machine.stop(StopCause.HALT, "halt 1")
    assert (machine.cause, machine.reason, machine.state) == (StopCause.ESTOP, "button", ControlState.FAULT)
    machine.handle(ControlEvent.SOUGHT)
    machine.handle(ControlEvent.CLEARED)
    assert (machine.cause, machine.reason, machine.state) == (StopCause.ESTOP, "button", ControlState.STOPPED)
    machine.handle(ControlEvent.FOLLOW)
    assert (machine.cause, machine.reason) == (StopCause.NONE, "")
