"""What can be wrong with an arm behind another driver: causes, and the fault with its text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Trouble(Enum):
    """Why an arm cannot be moved."""

    UNHEARD = "nothing was received from the arm yet"
    SILENT = "the arm is silent"
    MISSING_JOINT = "a joint is missing"
    NOT_FINITE = "a measurement is not a finite number"
    UNITS = "a measurement is beyond what the arm can do; are the units right?"
    JUMP = "a measured position jumped"
    BEGAN_AGAIN = "the driver began again"
    NOT_RUNNING = "the arm does not run: protective stop, or its program has ended"
    NO_CONTROLLER = "no controller listens"
    NOT_FOLLOWING = "the arm does not follow"
    MOVING = "the arm moves"
    STALLED = "the hardware interface stalled"
    WRENCH_FRAME = "the wrench is in another frame"


# The arm stands already, or nobody knows where it is: any further command could move it when it comes back.
AT_ONCE = frozenset(
    {Trouble.NOT_RUNNING, Trouble.NO_CONTROLLER, Trouble.BEGAN_AGAIN, Trouble.JUMP, Trouble.UNHEARD, Trouble.UNITS}
)


@dataclass(frozen=True)
class Fault:
    """One trouble with its particulars, for people."""

    trouble: Trouble
    detail: str

    def __str__(self) -> str:
        return f"{self.trouble.value}: {self.detail}"
