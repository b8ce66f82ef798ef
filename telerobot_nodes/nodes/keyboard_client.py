"""The keyboard's small ROS client: publishes tool velocities while a key is held. Not a node of the graph table."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import rclpy
from rclpy.signals import SignalHandlerOptions

from telerobot_nodes import graph
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.interfaces import interface_class, qos_profile
from telerobot_nodes.nodes.operator_input import twist_stamped
from telerobot_nodes.operator.keyboard import HELP, Keyboard

TOPIC = "path_plan_queue/delta_twist_cmds"
PERIOD = 0.04  # [s] between velocities


def run_keyboard(namespace: str = "", ros_args: Sequence[str] = ()) -> int:
    """Drive from this terminal until q or the end of input; raises InvalidValueError without a terminal."""
    if not sys.stdin.isatty():
        raise InvalidValueError("standard input", "not a terminal", "allowed: a terminal to read keys from")
    rclpy.init(args=list(ros_args), signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("keyboard", namespace=namespace)
    entry = graph.topic(TOPIC)
    publisher = node.create_publisher(interface_class(entry.type), TOPIC, qos_profile(entry.qos))

    def send(velocity: FloatArray, frame: str) -> None:
        publisher.publish(twist_stamped(velocity, frame, node.get_clock().now().to_msg()))

    try:
        with raw_terminal(sys.stdin):
            read_keys(sys.stdin.fileno(), sys.stdout, send)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


def read_keys(keys: int, screen: IO[str], send: Callable[[FloatArray, str], None]) -> None:
    """From key presses on file descriptor `keys` to `send(velocity, frame)`, every PERIOD while something moves."""
    keyboard = Keyboard()
    screen.write(HELP.replace("\n", "\r\n") + "\r\n")
    while not keyboard.quit:
        for key in _pressed(keys):
            keyboard.press(key, time.monotonic())
        velocity = keyboard.twist(time.monotonic())
        if velocity is not None:
            send(velocity, keyboard.frame)
        screen.write(f"\r{_status(keyboard, velocity)}\x1b[K")
        screen.flush()
    screen.write("\r\n")
    screen.flush()


def _pressed(keys: int) -> str:
    """Keys pressed within PERIOD; Ctrl-D at the end of input."""
    ready, _, _ = select.select([keys], [], [], PERIOD)
    if not ready:
        return ""
    try:
        data = os.read(keys, 64)
    except OSError:  # the terminal went away
        data = b""
    time.sleep(PERIOD / 4)  # a burst of keys must not become a burst of messages
    return data.decode("utf-8", errors="ignore") if data else "\x04"


def _status(keyboard: Keyboard, velocity: FloatArray | None) -> str:
    moving = "at rest" if velocity is None or not velocity.any() else " ".join(f"{value:+.2f}" for value in velocity)
    return f"{keyboard.frame} axes, ratio {keyboard.ratio:.2f}: {moving}"


@contextmanager
def raw_terminal(terminal: IO[str]) -> Iterator[None]:
    """Keys arrive one by one and unechoed inside; the terminal is put back whatever happens."""
    before = termios.tcgetattr(terminal.fileno())
    tty.setraw(terminal.fileno())
    try:
        yield
    finally:
        termios.tcsetattr(terminal.fileno(), termios.TCSADRAIN, before)
