"""The commands of an operator as values, validated when made; console and terminal use the same ones.

What must never enter: how a command is sent (`nodes/clients/operator_client.py`), its outcome (`requests.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.camera import BUDGET_RANGE, RATE_RANGE, CameraSetting
from telerobot_nodes.core.protocol import GRIPPER_RANGE, HAND_SCALE_RANGE, SCALE_RANGE, ControlMode
from telerobot_nodes.core.values import FloatArray, in_range, poses
from telerobot_nodes.errors import InvalidValueError

RATIO_RANGE = (0.1, 10.0)  # [-] time ratio and playback speed
BRAKE_RANGE = (0.0, 20.0)  # [plan s/s]
DELAY_RANGE = (0.0, 60.0)  # [s] one way
SCRUB_RANGE = (-1.0, 1e6)  # [s] plan time; negative: off
MAX_TEXT = 200  # characters of a reason


@dataclass(frozen=True)
class TimeClutch:
    """Engaged: plan time follows the hand. Disengaged: only the order of the points counts [US5046022]."""

    engaged: bool

    def __str__(self) -> str:
        return f"time clutch {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class PositionClutch:
    """Engaged: points join the plan. Disengaged: points form a trial path [US5046022]."""

    engaged: bool

    def __str__(self) -> str:
        return f"position clutch {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class CollisionStop:
    """Engaged: the robot waits before points that the forward simulation predicts to collide. Else it executes them."""

    engaged: bool

    def __str__(self) -> str:
        return f"collision stop {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class PassSingularities:
    """Engaged: the hand's path may pass singularities, as slowly as the joints need. Else it stops before them."""

    engaged: bool

    def __str__(self) -> str:
        return f"pass singularities {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class Brake:
    """Delete points from the end of the plan at `rate` [plan s/s]; 0 releases the brake."""

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
    """Stop on the path and keep the plan. Never rejected, never queued behind other commands."""

    reason: str = "operator"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", self.reason.strip()[:MAX_TEXT] or "operator")

    def __str__(self) -> str:
        return "halt"


@dataclass(frozen=True)
class EStop:
    """Latch the e-stop: stop at once, until `Reset`. Never rejected, never queued behind other commands."""

    reason: str = "operator"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", self.reason.strip()[:MAX_TEXT] or "operator")

    def __str__(self) -> str:
        return "e-stop"


@dataclass(frozen=True)
class Reset:
    """Release the latched e-stop or fault of the hardware; the arm holds. For the holder of authority."""

    def __str__(self) -> str:
        return "reset"


@dataclass(frozen=True)
class Tare:
    """Take the present wrench as zero. For the holder of authority, with the arm at rest."""

    def __str__(self) -> str:
        return "tare"


@dataclass(frozen=True)
class Resume:
    """Continue after a halt or a pause."""

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
class OrientationClutch:
    """Engage: turning the hand turns the tool. Disengage: the hand only moves it."""

    engaged: bool

    def __str__(self) -> str:
        return f"orientation clutch {'on' if self.engaged else 'off'}"


@dataclass(frozen=True)
class LinearScale:
    """Motion of the tool per motion of the hand [-]; 0: the hand only turns the tool."""

    value: float

    def __post_init__(self) -> None:
        in_range(self.value, "linear scale", *SCALE_RANGE)

    def __str__(self) -> str:
        return f"linear scale {self.value:.2f}"


@dataclass(frozen=True)
class AngularScale:
    """Turning of the tool per turning of the hand [-]."""

    value: float

    def __post_init__(self) -> None:
        in_range(self.value, "angular scale", *SCALE_RANGE)

    def __str__(self) -> str:
        return f"angular scale {self.value:.2f}"


@dataclass(frozen=True)
class Replay:
    """Play a recorded hand; empty `file`: the demo's own recording; `scale` 0: chosen to fit the workspace."""

    file: str = ""
    speed: float = 1.0
    scale: float = 0.0

    def __post_init__(self) -> None:
        in_range(self.speed, "replay speed", *RATIO_RANGE)
        if self.scale:
            in_range(self.scale, "replay scale", *HAND_SCALE_RANGE)

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
    """Opening of the gripper [m] from the end of the plan on."""

    opening: float

    def __post_init__(self) -> None:
        in_range(self.opening, "gripper", *GRIPPER_RANGE, unit="m")

    def __str__(self) -> str:
        return f"gripper {1e3 * self.opening:.0f} mm"


@dataclass(frozen=True)
class Direct:
    """On: the device moves the primitive that runs, in the axes that it shares. Off: the device lays the plan."""

    on: bool

    def __str__(self) -> str:
        return f"direct {'on' if self.on else 'off'}"


@dataclass(frozen=True)
class Mode:
    """Select who moves the arm [US5231693]."""

    mode: ControlMode

    def __str__(self) -> str:
        return f"mode {self.mode.word}"


@dataclass(frozen=True)
class Scrub:
    """Show the simulated arm at a plan time of the plan ahead [s]; negative: off."""

    time: float

    def __post_init__(self) -> None:
        in_range(self.time, "scrub", *SCRUB_RANGE, unit="s")

    def __str__(self) -> str:
        return f"scrub {'off' if self.time < 0.0 else f'{self.time:g} s'}"


@dataclass(frozen=True)
class SetCamera:
    """Request a camera, the rate of its pictures [Hz] and their byte budget [B/s]; None, empty: as it is."""

    camera: str = ""
    rate: float | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        rate = RATE_RANGE[0] if self.rate is None else self.rate  # what is not given is no reason to refuse the rest
        CameraSetting(self.camera, rate, BUDGET_RANGE[1] if self.budget is None else self.budget)

    def __str__(self) -> str:
        rate = "" if self.rate is None else f" {self.rate:g} Hz"
        budget = "" if self.budget is None else f" {1e-3 * self.budget:g} kB/s"
        return f"camera {self.camera}".rstrip() + rate + budget


@dataclass(frozen=True)
class Record:
    """Begin a recording in a new `folder`, or end it; empty `folder`: the recorder's default, beside the others."""

    on: bool
    folder: str = ""

    def __post_init__(self) -> None:
        if self.folder and not self.on:
            raise InvalidValueError("folder", self.folder, "allowed: none, to end a recording")

    def __str__(self) -> str:
        return f"record {'on' if self.on else 'off'} {self.folder}".rstrip()


class Deed(Enum):
    """Commands without a value; each is a service of the plan queue with the name given here."""

    ADOPT = "adopt"
    DISCARD = "discard"
    UNDO = "undo"
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
    """Rate of execution [plan s/s]."""

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
    | CollisionStop
    | PassSingularities
    | Brake
    | Clear
    | Halt
    | EStop
    | Reset
    | Tare
    | Resume
    | TimeRatio
    | OrientationClutch
    | LinearScale
    | AngularScale
    | Gripper
    | Replay
    | StopReplay
    | SetLink
    | Direct
    | Mode
    | Scrub
    | SetCamera
    | Record
)
Kind = type[Command] | Deed


def kind_of(command: Command) -> Kind:
    """Kind of a command: its class, or the member itself for a command without a value."""
    return command if isinstance(command, Deed) else type(command)


@dataclass(frozen=True)
class PoseTarget:
    """Requested tool pose x y z [m], qx qy qz qw in WORLD, sent as a stream; only the newest counts."""

    pose: FloatArray = field(default_factory=lambda: np.array((0.0, 0, 0, 0, 0, 0, 1)))

    def __post_init__(self) -> None:
        rows = poses(self.pose, "pose target")
        if len(rows) != 1:
            raise InvalidValueError("pose target (length)", 7 * len(rows), "allowed: 7 values")
        rows.setflags(write=False)
        object.__setattr__(self, "pose", rows[0])
