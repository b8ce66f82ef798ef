"""The enumerations of the protocol against the constants of the messages."""

import re

import pytest

from telerobot_nodes.core.protocol import (
    AuthorityKind,
    ConflictKind,
    ControlState,
    DeviceState,
    ExecutorMode,
    HardwareState,
    LinkState,
    OperationKind,
    PrimitiveOutcome,
    StepState,
    StopCause,
    UpdateKind,
    Waiting,
    next_state,
)
from telerobot_nodes.errors import TransitionError

WORDS = [
    (ControlState, "ControlState", ""),
    (StopCause, "ControlState", "CAUSE_"),
    (Waiting, "ControlState", "WAITING_"),
    (StepState, "ScriptStep", ""),
    (PrimitiveOutcome, "PrimitiveReport", ""),
    (HardwareState, "HardwareState", ""),
    (ExecutorMode, "ExecutorState", ""),
    (OperationKind, "PlanOperation", ""),
    (UpdateKind, "PlanUpdate", ""),
    (DeviceState, "PlanQueueState", "DEVICE_"),
    (AuthorityKind, "Authority", ""),
    (ConflictKind, "ForwardState", "CONFLICT_"),
    (LinkState, "LinkState", ""),
]


@pytest.mark.parametrize(("words", "message", "prefix"), WORDS, ids=[words.__name__ for words, *_ in WORDS])
def test_an_enumeration_has_the_constants_of_its_message(root, words, message, prefix):
    text = (root / "msg" / f"{message}.msg").read_text(encoding="utf-8")
    constants = {name: int(value) for name, value in re.findall(r"^uint8 ([A-Z_]+)=(\d+)", text, re.MULTILINE)}
    chosen = {
        name.removeprefix(prefix): value
        for name, value in constants.items()
        if name.startswith(prefix) and (prefix or not name.startswith(("CAUSE_", "WAITING_")))
    }
    assert chosen == {word.name: word.value for word in words}


def test_an_unknown_pair_of_state_and_event_raises_and_names_both():
    table = {(ControlState.HOLDING, StopCause.HALT): ControlState.STOPPED}
    assert next_state("loop", table, ControlState.HOLDING, StopCause.HALT) is ControlState.STOPPED
    with pytest.raises(TransitionError, match="loop: event HALT is not defined in state FAULT"):
        next_state("loop", table, ControlState.FAULT, StopCause.HALT)
