"""The exceptions of Telerobot: one root, messages that name the bad value and what is allowed."""

from __future__ import annotations


class TelerobotError(Exception):
    """Root of every error raised on purpose by this package."""


class InvalidValueError(TelerobotError, ValueError):
    """A value from outside is not acceptable; names the field, the value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        super().__init__(f"{field}: {_short(value)} is not allowed; {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


class ParameterFileError(TelerobotError):
    """A configuration file is malformed; names file, line, column and key. Column 0: not known."""

    def __init__(self, file: str, line: int, key: str, problem: str, column: int = 0) -> None:
        super().__init__(f"{file}:{line}:{column or 1}: {key}: {problem}")
        self.file = file
        self.line = line
        self.column = column
        self.key = key


class ModelError(TelerobotError):
    """A robot description cannot be used; the message names the part and the reason."""


class OutOfReachError(TelerobotError):
    """No joint solution inside the limits reaches the pose."""


class QueueFullError(TelerobotError):
    """A bounded queue has no room; nothing was added."""


class TransitionError(TelerobotError):
    """The event is not defined in this state; nothing was changed."""

    def __init__(self, machine: str, state: object, event: object) -> None:
        super().__init__(f"{machine}: event {event} is not defined in state {state}")


class NotNowError(TransitionError):
    """A person's request does not fit the present state; `why` names the state. Nothing was changed."""

    def __init__(self, what: str, why: str) -> None:
        TelerobotError.__init__(self, f"{what} is not possible now: {why}")


class JoinError(TelerobotError):
    """Two paths cannot be joined; the message gives the reason. Nothing was changed."""


class PlanningError(TelerobotError):
    """No collision-free path was found; `outcome` is the planner's word for why."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(f"{outcome}: {reason}")
        self.outcome = outcome


class AuthorityError(TelerobotError):
    """The agent does not hold authority over this arm."""


class NotInstalledError(TelerobotError):
    """An optional package is needed and cannot be imported; the message names how to install it."""


class JournalError(TelerobotError):
    """The journal cannot be read or written: nothing may be done that it would have to remember."""


class GraphError(TelerobotError):
    """The graph table contradicts itself, or a node uses what the table does not give it."""


def _short(value: object, limit: int = 80) -> str:
    """Long values lose their middle: a path keeps its name, an array its first and last numbers."""
    text = repr(value)
    half = limit // 2 - 2
    return text if len(text) <= limit else f"{text[:half]} ... {text[-half:]}"
