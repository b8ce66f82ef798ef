"""The executor of a client's node: rclpy's EventsExecutor, which takes a fifth of the other's time per message."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor


def client_executor(context: Any) -> Any:
    """An executor of `context`, inside any program.

    The EventsExecutor enables `faulthandler`, which needs a standard error with a descriptor. A program may have
    replaced it; where there is none at all the other executor serves.
    """
    try:
        with contextlib.redirect_stderr(sys.__stderr__):
            return EventsExecutor(context=context)
    except (io.UnsupportedOperation, RuntimeError, ValueError):  # ValueError: it is closed
        return SingleThreadedExecutor(context=context)
