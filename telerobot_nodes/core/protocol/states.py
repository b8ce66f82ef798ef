"""The words of the messages: states, kinds and causes, with the values of the constants in `msg/`.

What belongs here: enumerations that a message carries. Every room takes them from here; `test_states.py` compares
each with the constants of its message. What must never enter: behaviour.
"""

from __future__ import annotations

from enum import IntEnum

from telerobot_nodes.core.values import one_of


class ControlState(IntEnum):
    """What the control loop does: ControlState.msg."""

    HOLDING = 0  # at rest, ready for a window
    TRACKING = 1  # following a window or a primitive
    STOPPING = 2  # coming to rest on the path
    STOPPED = 3  # at rest after STOPPING; needs a new window, once the cause is gone
    FAULT = 4  # the hardware is not ready, or does not follow


class StopCause(IntEnum):
    """Why the control loop stopped the arm: `cause` of ControlState.msg and PrimitiveReport.msg."""

    NONE = 0
    HALT = 1  # a halt of an operator
    REQUEST = 2  # cancelled, or the loop's host ends
    STALE_JOINTS = 3  # measured joints are missing or too old
    LOOP_STALL = 4  # the loop did not run in time
    HARDWARE = 5  # the hardware reports a fault
    ESTOP = 6  # the e-stop is latched
    NOT_FOLLOWING = 7  # a joint is too far from its setpoint
    MONITOR = 8  # a monitor of the compliant motion
    PRIMITIVE = 9  # the primitive ended by itself, and not calmly


class Waiting(IntEnum):
    """What has not followed the setpoint yet: `waiting` of ControlState.msg."""

    NOTHING = 0
    ARM = 1  # a joint has not passed it
    GRIPPER = 2  # the fingers are not at their opening, and hold nothing
    HARDWARE = 3  # the hardware interface has not accepted it


class PrimitiveOutcome(IntEnum):
    """State of a primitive: PrimitiveReport.msg."""

    RUNNING = 0
    SUCCEEDED = 1
    STOPPED = 2
    REFUSED = 3


class StepState(IntEnum):
    """How far a step of a command's script has come: ScriptStep.msg."""

    TO_COME = 0
    ACTIVE = 1
    DONE = 2
    SKIPPED = 3  # its condition did not hold
    FAILED = 4  # a recovery, a retry or the end of the command follows
    STOPPED = 5  # by a halt, a cancellation or the end of the command
    WAITING = 6  # not begun: it waits for the word `step` or `continue`


class HardwareState(IntEnum):
    """Readiness of the arm: HardwareState.msg."""

    READY = 0  # follows setpoints
    HOLDING = 1  # no fresh setpoint: at rest, or coming to rest
    ESTOP = 2  # latched
    FAULT = 3  # the arm cannot follow or does not answer


ENGAGE_DISTANCE = 0.1  # [rad] largest distance of a setpoint that ends HOLDING, so that the arm does not jump


class ExecutorMode(IntEnum):
    """What the plan executor does: ExecutorState.msg."""

    IDLE = 0
    RUNNING = 1
    PAUSED = 2
    HALTED = 3
    FAULT = 4
    STARTING = 5


class OperationKind(IntEnum):
    """Operations of the plan's log: PlanOperation.msg."""

    APPEND = 0
    TRUNCATE = 1
    CLEAR = 2
    RATE = 3
    PAUSE = 4
    RESUME = 5
    AUTHORITY = 6
    RESET = 7
    TARE = 8
    LIMIT = 9


class UpdateKind(IntEnum):
    """Changes of the plan as displays receive them: PlanUpdate.msg."""

    APPEND = 0
    TRUNCATE = 1
    RESET = 2
    TIP = 3


class DeviceState(IntEnum):
    """The operator's device: PlanQueueState.msg, `DEVICE_*`."""

    IDLE = 0
    TRACKING = 1
    HELD = 2


class ControlMode(IntEnum):
    """Who moves an arm [US5231693]: InputState.msg."""

    TELEOPERATION = 0
    SHARED = 1
    SUPERVISORY = 2
    AUTONOMOUS = 3
    TRADED = 4

    @property
    def word(self) -> str:
        """Its name as it is typed and shown."""
        return self.name.lower()

    @classmethod
    def named(cls, word: str) -> ControlMode:
        """The mode of this name. Raises InvalidValueError."""
        return cls[one_of(word.strip().lower(), "mode", tuple(mode.word for mode in cls)).upper()]


class ConflictKind(IntEnum):
    """Predicted conflicts of a plan point, worst last: ForwardState.msg, `CONFLICT_*`."""

    NONE = 0
    SPEED = 1  # faster in plan time than a joint can move: the arm will be late
    LIMIT = 2  # within a margin of a joint limit
    SINGULAR = 3  # smallest singular value below the bound
    COLLISION = 4
    OUT_OF_REACH = 5  # no joint solution; the simulated arm keeps its joints


class AuthorityKind(IntEnum):
    """Messages of authority: Authority.msg."""

    REQUEST = 0
    CONSENT = 1
    REFUSE = 2
    TAKE = 3
    RELEASE = 4
    HEARTBEAT = 5


class LinkState(IntEnum):
    """State of the link to another host: LinkState.msg."""

    WAITING = 0  # nothing was ever received from the other host
    BACK = 1  # it sends, for the first time or again; it has not answered yet
    FRESH = 2  # both hosts receive from each other
    HALF_OPEN = 3  # it sends, and reports that it receives nothing from this host
    STALE = 4  # it has sent, and is silent now
    REFUSED = 5  # its topics, messages or robot are others


ESTOP_SENDER = "e-stop "  # before the sender of an e-stop in HaltReceipt.msg
