"""The keyboard's small ROS client: tool velocities while a key is held, halts. Not a node of the graph table."""

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

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients.discovery import NoGraphError
from telerobot_nodes.nodes.clients.stop_sender import StopSender
from telerobot_nodes.nodes.framework import Foreground
from telerobot_nodes.nodes.messages import twist_stamped
from telerobot_nodes.operator.devices import HELP, Keyboard, single_keys

TOPIC = "path_plan_queue/delta_twist_cmds"
DIRECT_TOPIC = "gcmsf_control/teleop_cmds"  # to the primitive that runs
PERIOD = 0.04  # [s] between velocities
HALT_LIMIT = 5.0  # [s] for the robot to confirm a halt


def run_keyboard(namespace: str = "", direct: bool = False, ros_args: Sequence[str] = ()) -> int:
    """Drive from this terminal until q or the end of input; raises InvalidValueError without a terminal.

    `direct`: the keys move the primitive that runs, in the axes it shares with the operator, and not the plan.
    """
    if not sys.stdin.isatty():
        raise InvalidValueError("standard input", "not a terminal", "allowed: a terminal to read keys from")
    with Foreground("keyboard", namespace, ros_args) as client, StopSender("halt", "keyboard", namespace) as stops:
        publisher = client.publisher(DIRECT_TOPIC if direct else TOPIC)

        def send(velocity: FloatArray, frame: str) -> None:
            publisher.publish(twist_stamped(velocity, frame, client.stamp()))

        def halt() -> str:
            try:
                return "halted, confirmed" if all(stops.send(HALT_LIMIT).values()) else "HALT NOT CONFIRMED"
            except NoGraphError as error:
                return str(error)

        with raw_terminal(sys.stdin):
            read_keys(sys.stdin.fileno(), sys.stdout, send, halt, "tool" if direct else "world")
    return 0


def read_keys(
    keys: int,
    screen: IO[str],
    send: Callable[[FloatArray, str], None],
    halt: Callable[[], str],
    frame: str = "world",
) -> None:
    """From key presses on file descriptor `keys` to `send(velocity, frame)`, every PERIOD while something moves.

    `halt()` stops the robot and returns the outcome.
    """
    keyboard = Keyboard()
    keyboard.frame = frame  # the axes at the start
    screen.write(HELP.replace("\n", "\r\n") + "\r\n")
    while not keyboard.quit:
        for key in _pressed(keys):
            keyboard.press(key, time.monotonic())
        if keyboard.halt:
            screen.write(f"\r{halt()}\x1b[K\r\n")
            keyboard.halt = False
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
    return single_keys(data.decode("utf-8", errors="ignore")) if data else "\x04"


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
