"""The live script of a command as rows of the console's panel, which has room for 38 letters."""

from __future__ import annotations

from typing import Any

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.operator.script import MARKS, OVER

STEPS_BEFORE, STEPS_AFTER = 6, 3  # shown of a script
COLOUR = {
    StepState.ACTIVE: "asked",
    StepState.WAITING: "asked",
    StepState.DONE: "good",
    StepState.FAILED: "bad",
    StepState.STOPPED: "bad",
}


def script_rows(message: Any) -> list[tuple[str, str]]:
    """Colour and text of a ScriptState.msg, a row each: the latest steps, the active one, the next."""
    over = sum(step.state not in (StepState.TO_COME, StepState.WAITING) for step in message.steps)
    state = "paused" if message.paused else message.state
    steps = message.steps[max(0, over - STEPS_BEFORE) : over + STEPS_AFTER]
    rows = [("", f"command {message.command}, {state}: {message.text}")]
    for step in steps:
        rows += _rows_of(step)
    return rows


def waits(message: Any) -> bool:
    """Whether a step waits for a person."""
    return any(step.state == StepState.WAITING for step in message.steps)


def _rows_of(step: Any) -> list[tuple[str, str]]:
    """Mark and name; how long it took, or what is done now; below, why it failed."""
    state, colour = StepState(step.state), COLOUR.get(StepState(step.state), "")
    text = f"{MARKS[state]} {step.name}" + (f" ({step.recovery})" if step.recovery else "")
    if state in OVER:
        text += f"  {step.ended - step.began:.1f} s"
    elif state is not StepState.TO_COME:
        text += f": {step.kind}"
    return [(colour, text), *([(colour, f"  {step.note}")] if step.note else [])]
