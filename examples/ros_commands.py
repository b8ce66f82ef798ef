"""Services and action of the decision unit from an ordinary ROS node: rclpy and the interface types, nothing else.

With a graph running (`telerobot up robot`), in the shell's ROS environment:

    python examples/ros_commands.py "lift module by 5 cm"

asks where the module is (service `submit`), whether the text would work (service `try`), and runs it (action `run`).
"""

from __future__ import annotations

import sys
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node

from telerobot.action import RunCommand
from telerobot.srv import SubmitCommand

UNIT = "rtc_decision_unit"
SENDER = "stranger"
LIMIT = 60.0  # [s]


def done(node: Node, future: Any) -> Any:
    """What a future brings."""
    rclpy.spin_until_future_complete(node, future, timeout_sec=LIMIT)
    if not future.done():
        raise SystemExit("no answer")
    return future.result()


def call(node: Node, service: str, text: str) -> Any:
    """Answer of a service to a text."""
    client = node.create_client(SubmitCommand, f"{UNIT}/{service}")
    if not client.wait_for_service(LIMIT):
        raise SystemExit(f"{service} is not served")
    return done(node, client.call_async(SubmitCommand.Request(sender=SENDER, text=text)))


def progress(report: Any) -> None:
    """What happens on the way: corrections, tasks."""
    print(f"  {report.step}: {report.reason}")


def run(node: Node, text: str) -> Any:
    """Result of the action: the text done to its end, progress printed on the way."""
    client = ActionClient(node, RunCommand, f"{UNIT}/run")
    if not client.wait_for_server(LIMIT):
        raise SystemExit("the action is not served")
    goal = RunCommand.Goal(sender=SENDER, text=text)
    handle = done(node, client.send_goal_async(goal, lambda message: progress(message.feedback.report)))
    return done(node, handle.get_result_async()).result


def main(text: str) -> int:
    """0 when the text succeeded."""
    rclpy.init()
    node = rclpy.create_node("stranger")
    try:
        print(f"submit: {call(node, 'submit', 'where module').message}")
        print(f"try: {call(node, 'try', text).message}")
        result = run(node, text)
        print(f"run: {result.report.outcome}: {result.report.reason} ({result.report.elapsed:.1f} s)")
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return 0 if result.success else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
