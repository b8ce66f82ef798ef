"""What an operator can ask for: values, validated when made. Console, panel and terminal make the same ones.

What must never enter: how a command travels (`nodes/operator_client.py`), what became of it (`requests.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.validation import FloatArray, in_range, poses
from telerobot_nodes.core.window import GRIPPER_RANGE
from telerobot_nodes.errors import InvalidValueError

RATIO_RANGE = (0.1, 10.0)  # [-] time ratio and playback speed
BRAKE_RANGE = (0.0, 20.0)  # [plan s/s]
DELAY_RANGE = (0.0, 60.0)  # [s] one way
MAX_TEXT = 200  # characters of a reason


@dataclass(frozen=True)
class TimeClutch:
    """Engage (plan time follows the hand) or disengage (only the order is kept)."""

    engaged: bool

    def __str__(self) -> str:
        return f"time clutch {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class PositionClutch:
    """Engage (points go to the plan) or disengage (points go to the trial path)."""

    engaged: bool

    def __str__(self) -> str:
        return f"position clutch {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class Brake:
    """Delete from the plan's tail at `rate` [plan s/s]; 0 releases."""

    rate: float

    def __post_init__(self) -> None:
        in_range(self.rate, "brake rate", *BRAKE_RANGE, unit="plan s/s")

    def __str__(self) -> str:
        return f"time brake {self.rate:g} plan s/s"


@dataclass(frozen=True)
class Clear:
    """Delete every point not yet executed."""

    def __str__(self) -> str:
        return "delete all"


@dataclass(frozen=True)
class Halt:
    """Stop on the path and keep the plan. Never refused, never queued behind others."""

    reason: str = "operator"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", self.reason.strip()[:MAX_TEXT] or "operator")

    def __str__(self) -> str:
        return "halt"


@dataclass(frozen=True)
class Resume:
    """Go on after a halt or pause."""

    def __str__(self) -> str:
        return "resume"


@dataclass(frozen=True)
class TimeRatio:
    """Plan time per acquisition time [-]."""

    value: float

    def __post_init__(self) -> None:
        in_range(self.value, "time ratio", *RATIO_RANGE)

    def __str__(self) -> str:
        return f"time ratio {self.value:.2f}"


@dataclass(frozen=True)
class Replay:
    """Play a recorded hand; empty `file`: the demo's own recording; `scale` 0: chosen to fit the workspace."""

    file: str = ""
    speed: float = 1.0
    scale: float = 0.0

    def __post_init__(self) -> None:
        in_range(self.speed, "replay speed", *RATIO_RANGE)
        in_range(self.scale, "replay scale", 0.0, 10.0)

    def __str__(self) -> str:
        return f"replay {self.file or 'demo recording'}"


@dataclass(frozen=True)
class StopReplay:
    """End the replay."""

    def __str__(self) -> str:
        return "stop replay"


@dataclass(frozen=True)
class SetLink:
    """Set the emulated link; units as in `LinkStatus.msg`. Jitter is cut to the delay."""

    delay: float
    jitter: float = 0.0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: bool = False
    up: bool = True
    down: bool = True

    def __post_init__(self) -> None:
        in_range(self.delay, "link delay", *DELAY_RANGE, unit="s")
        in_range(self.jitter, "link jitter", *DELAY_RANGE, unit="s")
        in_range(self.loss, "link loss", 0.0, 1.0)
        in_range(self.duplicate, "link duplicate", 0.0, 1.0)
        object.__setattr__(self, "jitter", min(self.jitter, self.delay))

    def __str__(self) -> str:
        broken = "" if self.up and self.down else ", outage"
        return f"link {self.delay:.2f} s ± {self.jitter:.2f} s, loss {100 * self.loss:.0f} %{broken}"


@dataclass(frozen=True)
class Gripper:
    """Opening of the gripper [m] from the plan's head on."""

    opening: float

    def __post_init__(self) -> None:
        in_range(self.opening, "gripper", *GRIPPER_RANGE, unit="m")

    def __str__(self) -> str:
        return f"gripper {1e3 * self.opening:.0f} mm"


class Deed(Enum):
    """Commands without a value; each is a service of the plan queue with the name given here."""

    ADOPT = "adopt"
    DISCARD = "discard"
    PAUSE = "pause"
    REQUEST_CONTROL = "request_control"
    GRANT_CONTROL = "grant_control"
    REFUSE_CONTROL = "refuse_control"
    RELEASE_CONTROL = "release_control"
    TAKE_CONTROL = "take_control"

    def __str__(self) -> str:
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class Rate:
    """Execute the plan at so many plan seconds per second [-]."""

    value: float

    def __post_init__(self) -> None:
        in_range(self.value, "rate", *RATIO_RANGE)

    def __str__(self) -> str:
        return f"rate {self.value:.2f}"


Command = (
    Deed
    | Rate
    | TimeClutch
    | PositionClutch
    | Brake
    | Clear
    | Halt
    | Resume
    | TimeRatio
    | Gripper
    | Replay
    | StopReplay
    | SetLink
)
Kind = type[Command] | Deed  # what tells one sort of command from another


def kind_of(command: Command) -> Kind:
    """The sort of a command."""
    return command if isinstance(command, Deed) else type(command)


@dataclass(frozen=True)
class PoseTarget:
    """Tool pose asked for: x y z [m], qx qy qz qw in WORLD. A stream; only the newest counts."""

    pose: FloatArray = field(default_factory=lambda: np.array((0.0, 0, 0, 0, 0, 0, 1)))

    def __post_init__(self) -> None:
        rows = poses(self.pose, "pose target")
        if len(rows) != 1:
            raise InvalidValueError("pose target (length)", 7 * len(rows), "allowed: 7 values")
        rows.setflags(write=False)
        object.__setattr__(self, "pose", rows[0])
