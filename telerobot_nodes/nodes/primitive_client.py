"""The foreground client behind `telerobot primitive`: one goal of `gcmsf_control/execute`, its feedback, its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.terminal import NoGraphError

ACTION = "gcmsf_control/execute"
DISCOVERY_LIMIT = 10.0  # [s]
CANCEL_LIMIT = 10.0  # [s] for the arm to come to rest


def run_primitive(
    name: str, values: Mapping[str, str], namespace: str, limit: float, hear: Callable[[Any], None]
) -> Any:
    """Run a primitive to its end; its last PrimitiveReport. `hear` gets those before.

    Interrupted, or after `limit` [s], it is cancelled. Raises NoGraphError, TelerobotError.
    """
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(f"telerobot_primitive_{os.getpid()}", namespace=namespace)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    client = ActionClient(node, ExecutePrimitive, ACTION)
    try:
        if not client.wait_for_server(DISCOVERY_LIMIT):
            raise NoGraphError(f"nobody serves {node.get_namespace().rstrip('/')}/{ACTION}; start a graph first")
        keys, texts = list(values), list(values.values())
        goal = ExecutePrimitive.Goal(
            parameters=PrimitiveParameters(name=name, agent=f"shell/{os.getpid()}", keys=keys, values=texts)
        )
        handle = _wait(executor, client.send_goal_async(goal, lambda message: hear(message.feedback.report)), limit)
        if handle is None or not handle.accepted:
            raise TelerobotError("the goal was not accepted: gcmsf_control is not active")
        return _result(executor, handle, limit)
    finally:
        client.destroy()
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


def _result(executor: SingleThreadedExecutor, handle: Any, limit: float) -> Any:
    future = handle.get_result_async()
    try:
        answer = _wait(executor, future, limit)
    except KeyboardInterrupt:
        answer = None
    if answer is None:
        handle.cancel_goal_async()
        answer = _wait(executor, future, CANCEL_LIMIT)
    if answer is None or answer.status == GoalStatus.STATUS_UNKNOWN:
        raise TelerobotError("no end of the primitive was heard")
    return answer.result.report


def _wait(executor: SingleThreadedExecutor, future: Any, limit: float) -> Any:
    end = time.monotonic() + limit
    while not future.done():
        if time.monotonic() > end:
            return None
        executor.spin_once(timeout_sec=0.1)
    return future.result()
