"""The executor of a client's node: rclpy's EventsExecutor, which takes a fifth of the other's time per message."""

from __future__ import annotations

import contextlib
import io
import sys
from threading import Lock
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor

_STDERR = Lock()  # of the program, not of one thread


def client_executor(context: Any) -> Any:
    """An executor of `context`; works in programs that have replaced their standard error.

    The EventsExecutor enables `faulthandler`, which needs one with a descriptor. Where there is none at all the other
    executor serves.
    """
    try:
        with _STDERR, contextlib.redirect_stderr(sys.__stderr__):
            return EventsExecutor(context=context)
    except (io.UnsupportedOperation, RuntimeError, ValueError):  # ValueError: it is closed
        return SingleThreadedExecutor(context=context)
