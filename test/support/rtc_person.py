"""A person before a running graph: a probe that answers tasks, and keeps scripts and the way of the tool."""

import os
import signal
import subprocess
from contextlib import contextmanager

import numpy as np

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.runtime import GraphOptions, node_environment
from telerobot_nodes.runtime.launching import node_command

LIMIT = 90.0  # [s] for a command


def person_class():
    """A probe that answers tasks as a test says, and keeps scripts and the tool's way; made once there is rclpy."""
    from telerobot.msg import Signal
    from telerobot_nodes.nodes.clients import CommandClient
    from telerobot_nodes.nodes.probes import SkillProbe

    class Person(SkillProbe):
        def __init__(self):
            super().__init__()
            self.answer = None  # word for every task shown; None: nobody answers
            self.scripts, self.track = {}, []
            self._robot = load_robot("arm")
            self._lamp = self.publisher("rtc_decision_unit/signals")
            self.watch = lambda message: self.scripts.__setitem__(message.command, message)

        def _on_task(self, message):
            CommandClient._on_task(self, message)
            if message.shown and self.answer:
                self.say(f"{self.answer} task {message.task}")

        def _take(self, topic, message):
            super()._take(topic, message)
            if topic == "joint_states":
                self.track.append((message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec, self.tool()))

        def lamp(self, on):
            assert self.wait_until(lambda: self._lamp.get_subscription_count() > 0, 20.0)
            self._lamp.publish(Signal(name="lamp", on=on))

        def tool(self):
            """Position (3,) [m] of the tool in WORLD, as measured."""
            return self._robot.forward(self.joints).translation.copy()

        def steps(self, command, name):
            """States of the attempts at a step."""
            script = self.scripts.get(command)
            return [step.state for step in script.steps if step.name.endswith(name)] if script else []

        def until_active(self, command, name):
            self.wait_until(lambda: 1 in self.steps(command, name) or command in self._ended, 60.0)
            assert 1 in self.steps(command, name), self._ended.get(command)

        def moved(self, way):
            """Wait until the tool has gone `way` [m] from where it is now."""
            start = self.tool()
            assert self.wait_until(lambda: np.linalg.norm(self.tool() - start) > way, 60.0)

        def fastest(self):
            """Largest speed [m/s] of the tool, over 0.1 s."""
            times = np.array([time for time, _ in self.track])
            tools = np.array([tool for _, tool in self.track])
            ahead = np.minimum(np.searchsorted(times, times + 0.1), len(times) - 1)
            span = np.maximum(times[ahead] - times, 0.1)  # a pair at the end counts for less
            return float(np.max(np.linalg.norm(tools[ahead] - tools, axis=1) / span))

        def does(self, text):
            succeeded(self.run(text, limit=LIMIT))

        def during(self, text, way, act):
            """Begin a command, do something when the tool has gone `way` [m], wait for the end."""
            number = self.begin(text)
            self.moved(way)
            act()
            return self.end(number, LIMIT)

    return Person


def succeeded(report):
    assert report.ok, f"{report.step}: {report.reason}; corrected: {list(report.trims)}"


@contextmanager
def obstacle(person, position, size):
    """A box on the topic of obstacles, gone afterwards; a path into it is refused before and after."""
    from telerobot.msg import Obstacle, Obstacles

    sent = person.publisher("obstacles")
    assert person.wait_until(lambda: sent.get_subscription_count() > 0, 20.0)
    box = {"name": "beam", "kind": "box", "size": list(map(float, size))}
    pose = [*map(float, position), 0.0, 0.0, 0.0, 1.0]
    into = "move left_arm to ({:.3f}, {:.3f}, {:.3f}, 0, 1, 0, 0)".format(*position)

    def tell(operation):
        sent.publish(Obstacles(obstacles=[Obstacle(operation=operation, pose=pose, **box)]))

    tell(Obstacle.ADD)
    try:
        assert person.wait_until(lambda: "beam" in person.attempt(into).reason, 20.0)
        yield
    finally:
        tell(Obstacle.REMOVE)
        assert person.wait_until(lambda: "beam" not in person.attempt(into).reason, 20.0)


@contextmanager
def joystick(person):
    """The node of the operator's devices beside the graph, set to move the primitive; a function that deflects it."""
    from sensor_msgs.msg import Joy
    from std_srvs.srv import SetBool

    process = subprocess.Popen(
        node_command("operator_input", GraphOptions("operator")), env=node_environment(os.environ)
    )
    sent = person.node.create_publisher(Joy, "joy", 10)
    direct = person.node.create_client(SetBool, "operator_input/direct")
    try:
        assert person.wait_until(lambda: direct.service_is_ready() and sent.get_subscription_count() > 0, 30.0)
        future = direct.call_async(SetBool.Request(data=True))
        assert person.wait_until(future.done, 20.0)
        buttons = [0, 0, 0, 0, 1, 0, 0]  # the dead man's is held
        yield lambda x: sent.publish(Joy(axes=[0.0, float(x), 0.0, 0.0, 0.0], buttons=buttons))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30.0)
