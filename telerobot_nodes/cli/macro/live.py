"""The arm of a running graph is followed until the person ends it: `telerobot macro learn NAME --live`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from telerobot_nodes.cli.program import TypedLines
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.macros import HARDWARE, JOINTS, WRENCH, MotionFollower, force_of, joints_of

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Terminal

STATE = "plan_executor/state"  # crosses the link; joints and wrench, 20 times a second
FIRST_LIMIT = 3.0  # [s] for the first joints of this host; then those that cross the link are followed
LONGEST = 3600.0  # [s]
SHOW_PERIOD = 1.0  # [s]
LOOK = 0.05  # [s] between looks for Enter
SILENT = 1.0  # [s] without joints


def follow_live(robot: RobotModel, namespace: str, seconds: float) -> MotionFollower:
    """Follow the arm until Enter, Ctrl-C, or for `seconds`; progress goes to standard error.

    Raises NoGraphError, TelerobotError: no joints are received, InvalidValueError: they are those of another robot.
    """
    from telerobot_nodes.runtime import join_graph

    join_graph()
    from telerobot_nodes.nodes.clients import Terminal

    follower = MotionFollower(robot)
    with Terminal(namespace) as terminal:
        _subscribe(terminal, follower, robot)
        _say(f"following the arm for at most {min(seconds, LONGEST):g} s; Enter or Ctrl-C ends it, and it is learned")
        progress, entered = Progress(follower, terminal.now()), _entered()
        end = terminal.now() + min(seconds, LONGEST)
        with contextlib.suppress(KeyboardInterrupt):
            while terminal.now() < end and not entered():
                terminal.spin(LOOK)
                if line := progress.line(terminal.now()):
                    _say(f"  {line}")
    _say(f"followed {seen(follower)}")
    for line in shortcomings(follower):
        _say(line)
    return follower


def _subscribe(terminal: Terminal, follower: MotionFollower, robot: RobotModel) -> None:
    """Receive what is measured on this host, or what crosses the link; waits for the first joints."""
    made = [
        terminal.subscribe(JOINTS, lambda m: follower.take_joints(_seconds(m.header.stamp), joints_of(m, robot))),
        terminal.subscribe(WRENCH, lambda m: follower.take_force(_seconds(m.header.stamp), force_of(m))),
        terminal.subscribe(
            HARDWARE, lambda m: follower.take_fingers(_seconds(m.stamp), m.gripper, m.gripper_reference)
        ),
    ]
    if terminal.wait(lambda: follower.received, FIRST_LIMIT):
        return
    for subscription in made:
        terminal.node.destroy_subscription(subscription)
    terminal.subscribe(STATE, lambda m: _take_state(follower, m))
    if not terminal.wait(lambda: follower.received, FIRST_LIMIT):
        raise TelerobotError(
            f"no joints of the arm: neither {terminal.topic_name(JOINTS)} nor {terminal.topic_name(STATE)} is received"
        )
    _say("the joints are those that cross the link, at most 20 times a second; fingers are not followed")


def _take_state(follower: MotionFollower, message: Any) -> None:
    time = _seconds(message.link.stamp)
    if len(message.joint_position):
        follower.take_joints(time, message.joint_position)
    if len(message.wrench):
        follower.take_force(time, float(sum(x * x for x in message.wrench[:3]) ** 0.5))


def _seconds(stamp: Any) -> float:
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def _entered() -> Callable[[], bool]:
    """Whether a line was typed since; never, without a standard input."""
    try:
        typed = TypedLines()
    except (OSError, ValueError):
        return lambda: False
    return lambda: bool(typed.read())


class Progress:
    """The lines that a person reads while the arm is followed, one every second. Times are an argument [s]."""

    def __init__(self, follower: MotionFollower, now: float) -> None:
        self._follower = follower
        self._shown = self._changed = now
        self._seconds = follower.seconds

    def line(self, now: float) -> str:
        """How long was followed and how many motions were seen, or since when nothing is received; empty: not yet."""
        if self._follower.seconds > self._seconds:
            self._changed, self._seconds = now, self._follower.seconds
        if now - self._shown < SHOW_PERIOD:
            return ""
        self._shown = now
        silent = now - self._changed
        return seen(self._follower) + (f"; nothing received for {silent:.0f} s" if silent > SILENT else "")


def seen(follower: MotionFollower) -> str:
    """How long was followed, and what moved."""
    motions = "1 motion" if follower.motions == 1 else f"{follower.motions} motions"
    return f"{follower.seconds:.1f} s, {motions}" + (", the fingers moved" if follower.fingers_moved else "")


def shortcomings(follower: MotionFollower) -> list[str]:
    """What the track does not know, for a person."""
    lost = {"force": "no force was measured: a contact is not learned", "fingers": "no fingers: no grasp is learned"}
    gaps = [
        f"no joints for {gap.seconds:.1f} s after {gap.begin:.1f} s: the tool is taken to have moved straight, "
        f"{1e3 * gap.way:.1f} mm"
        for gap in follower.gaps
    ]
    return [text for name, text in lost.items() if name not in follower.measured] + gaps


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
