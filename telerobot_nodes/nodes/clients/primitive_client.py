"""Foreground clients of a shell: one primitive, or a sequence as one goal; its feedback, its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from action_msgs.msg import GoalStatus

from telerobot.action import ExecutePrimitive, RunSequence
from telerobot.msg import PrimitiveParameters
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.clients.discovery import NoGraphError, find_prefix
from telerobot_nodes.nodes.framework import DISCOVERY_LIMIT, Foreground

EXECUTE, RUN_SEQUENCE = "gcmsf_control/execute", "gcmsf_control/run_sequence"
CANCEL_LIMIT = 10.0  # [s] for the arm to come to rest


def run_primitive(
    name: str, values: Mapping[str, str], namespace: str, limit: float, on_report: Callable[[Any], None]
) -> Any:
    """Run a primitive to its end; its last PrimitiveReport. `on_report` receives those before.

    Interrupted, or after `limit` [s], it is cancelled. Raises NoGraphError, TelerobotError.
    """
    keys, texts = list(values), list(values.values())
    parameters = PrimitiveParameters(name=name, agent=_agent(), keys=keys, values=texts)
    goal = ExecutePrimitive.Goal(parameters=parameters)
    return _run(EXECUTE, goal, namespace, limit, lambda feedback: on_report(feedback.report)).report


def run_sequence(
    name: str,
    steps: Sequence[tuple[str, Mapping[str, str], Sequence[str]]],
    namespace: str,
    limit: float,
    on_report: Callable[[int, Any], None],
) -> Any:
    """Run primitives as one goal; the result, with the number of steps done and the last PrimitiveReport.

    `steps`: name, parameters as YAML texts, accepted results. `on_report` receives the number of a step, from 1, and a
    report of it; some may be lost on a link. Interrupted, or after `limit` [s], it is cancelled. Raises NoGraphError,
    TelerobotError.
    """
    messages = [PrimitiveParameters(name=kind, keys=list(v), values=list(v.values())) for kind, v, _ in steps]
    accept = [" ".join(words) for _, _, words in steps]
    goal = RunSequence.Goal(name=name, agent=_agent(), steps=messages, accept=accept)
    return _run(RUN_SEQUENCE, goal, namespace, limit, lambda feedback: on_report(feedback.step, feedback.report))


def _agent() -> str:
    return f"shell/{os.getpid()}"


def _run(action: str, goal: Any, namespace: str, limit: float, on_feedback: Callable[[Any], None]) -> Any:
    with Foreground(f"telerobot_primitive_{os.getpid()}", namespace) as foreground:
        foreground.prefix = find_prefix(foreground, foreground.wait)
        client = foreground.action_client(action)
        if not foreground.wait(client.server_is_ready, DISCOVERY_LIMIT):
            raise NoGraphError(f"no node serves {foreground.namespace}/{action}; start a graph first")
        sent = client.send_goal_async(goal, lambda message: on_feedback(message.feedback))
        handle = foreground.result(sent, limit)
        if handle is None or not handle.accepted:
            raise TelerobotError("the goal was not accepted: gcmsf_control is not active")
        return _result(foreground, handle, limit)


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
