"""`telerobot halt | stop | estop | reset` on the robot's graph alone: no node of the operator's host is needed."""

import os
import subprocess

import pytest

from telerobot_nodes.runtime import GraphOptions, Supervisor
from telerobot_nodes.runtime.launching import telerobot_command

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(900),
    pytest.mark.timing("a motion under way ends when setpoints are more than 0.1 s late"),
]


def telerobot(*words):
    return subprocess.run([*telerobot_command(), *words], capture_output=True, text=True, timeout=90, check=False)


@pytest.fixture(scope="module")
def robot():
    """The robot's graph without a planner or a decision unit, and without any plan queue; its observer."""
    from telerobot_nodes.nodes.framework import Foreground

    supervisor = Supervisor(GraphOptions("robot", without=("bag_recorder", "cspace_planner", "rtc_decision_unit")))
    supervisor.start()
    try:
        assert supervisor.wait_ready(400.0), supervisor.waiting_for()
        with Foreground(f"observer_{os.getpid()}") as observer:
            yield Observer(observer)
    finally:
        supervisor.stop()


class Observer:
    """What the robot's nodes say."""

    def __init__(self, foreground):
        self._foreground = foreground
        self.loop = self.hardware = None
        foreground.subscribe("gcmsf_control/state", lambda message: setattr(self, "loop", message))
        foreground.subscribe("hardware_interface/state", lambda message: setattr(self, "hardware", message))
        assert self.until(lambda: self.loop is not None and self.hardware is not None)

    def until(self, reached):
        return self._foreground.wait(reached, 30.0)

    def fresh(self):
        """State of the loop, received from now on."""
        self._foreground.spin(0.2)
        self.loop = None
        assert self.until(lambda: self.loop is not None)
        return self.loop


@pytest.mark.parametrize("words", [("halt", "a test"), ("stop",), ("STOP!", "--now", "left", "arm")], ids=" ".join)
@pytest.mark.brief(1)
def test_a_halt_is_confirmed_without_a_plan_queue(robot, words):
    before = robot.fresh().halt_count
    halted = telerobot(*words)
    assert (halted.returncode, halted.stdout.strip()) == (0, "halted, confirmed by the robot"), halted.stderr
    assert robot.until(lambda: robot.loop.halted and robot.loop.halt_count >= max(before, 1))


def test_the_e_stop_latches_and_reset_at_the_robot_releases_it(robot):
    stopped = telerobot("estop", "a test")
    assert stopped.returncode == 0, stopped.stderr
    assert robot.until(lambda: robot.hardware.state == robot.hardware.ESTOP)
    released = telerobot("reset", "--at-robot")
    assert released.returncode == 0, released.stderr
    assert robot.until(lambda: robot.hardware.state != robot.hardware.ESTOP)


@pytest.mark.nightly
def test_another_namespace_is_left_alone(robot):
    count = robot.fresh().halt_count
    elsewhere = telerobot("halt", "a test", "--namespace", "left")
    assert elsewhere.returncode == 1
    assert "no graph is running here" in elsewhere.stderr
    assert robot.fresh().halt_count == count
