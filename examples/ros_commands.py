"""Uses the decision unit from a plain ROS node, with rclpy and the interface types only.

Start a graph (`telerobot up robot`), then in a shell with the ROS environment:

    python examples/ros_commands.py "lift module by 5 cm"

The script queries the module's place (service `submit`), checks the command (service `try`) and runs it (action `run`).
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
    """Wait for a future; returns its result."""
    rclpy.spin_until_future_complete(node, future, timeout_sec=LIMIT)
    if not future.done():
        raise SystemExit("no answer")
    return future.result()


def call(node: Node, service: str, text: str) -> Any:
    """Send a text to a service; returns the answer."""
    client = node.create_client(SubmitCommand, f"{UNIT}/{service}")
    if not client.wait_for_service(LIMIT):
        raise SystemExit(f"{service} is not served")
    return done(node, client.call_async(SubmitCommand.Request(sender=SENDER, text=text)))


def progress(report: Any) -> None:
    """Print a progress report: recoveries, tasks."""
    print(f"  {report.step}: {report.reason}")


def run(node: Node, text: str) -> Any:
    """Run a command as action goal to its end and print its progress; returns the result."""
    client = ActionClient(node, RunCommand, f"{UNIT}/run")
    if not client.wait_for_server(LIMIT):
        raise SystemExit("the action is not served")
    goal = RunCommand.Goal(sender=SENDER, text=text)
    handle = done(node, client.send_goal_async(goal, lambda message: progress(message.feedback.report)))
    return done(node, handle.get_result_async()).result


def main(text: str) -> int:
    """Query, check and run `text`; returns 0 if it succeeded."""
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
