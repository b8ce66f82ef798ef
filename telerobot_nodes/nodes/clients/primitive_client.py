"""Foreground client of a shell: one primitive; its feedback, its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from action_msgs.msg import GoalStatus

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.clients.discovery import NoGraphError, find_prefix
from telerobot_nodes.nodes.framework import DISCOVERY_LIMIT, Foreground

EXECUTE = "gcmsf_control/execute"
CANCEL_LIMIT = 10.0  # [s] for the arm to come to rest


def run_primitive(
    name: str, values: Mapping[str, str], namespace: str, limit: float, on_report: Callable[[Any], None]
) -> Any:
    """Run a primitive to its end; its last PrimitiveReport. `on_report` receives those before.

    Interrupted, or after `limit` [s], it is cancelled. Raises NoGraphError, TelerobotError.
    """
    keys, texts = list(values), list(values.values())
    parameters = PrimitiveParameters(name=name, agent=f"shell/{os.getpid()}", keys=keys, values=texts)
    goal = ExecutePrimitive.Goal(parameters=parameters)
    with Foreground(f"telerobot_primitive_{os.getpid()}", namespace) as foreground:
        foreground.prefix = find_prefix(foreground, foreground.wait)
        client = foreground.action_client(EXECUTE)
        if not foreground.wait(client.server_is_ready, DISCOVERY_LIMIT):
            raise NoGraphError(f"no node serves {foreground.namespace}/{EXECUTE}; start a graph first")
        sent = client.send_goal_async(goal, lambda message: on_report(message.feedback.report))
        handle = foreground.result(sent, limit)
        if handle is None or not handle.accepted:
            raise TelerobotError("the goal was not accepted: gcmsf_control is not active")
        return _result(foreground, handle, limit).report


def _result(foreground: Foreground, handle: Any, limit: float) -> Any:
    future = handle.get_result_async()
    try:
        answer = foreground.result(future, limit)
    except KeyboardInterrupt:
        answer = None
    if answer is None:
        handle.cancel_goal_async()
        answer = foreground.result(future, CANCEL_LIMIT)
    if answer is None or answer.status == GoalStatus.STATUS_UNKNOWN:
        raise TelerobotError("the end of the primitive was not reported")
    return answer.result
