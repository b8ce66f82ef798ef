"""A gamepad drives the arm of the running graph by `telerobot devices --publish`; unplugging it ends the motion."""

import signal
import subprocess
import threading

import pytest
from recorded_device import Recorded

from telerobot_nodes.runtime import GraphOptions, Supervisor
from telerobot_nodes.runtime.launching import telerobot_command

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

GRAPH_LIMIT = 120.0  # [s] for the graph to be ready
START_LIMIT = 100.0  # [s] for the command to see the device
LEFT_OUT = ("operator_console", "cspace_planner", "rtc_decision_unit", "forward_simulator", "bag_recorder")
STILL = 0.7  # [s] without a change of the plan
RISE = 0.01  # [m]


@pytest.fixture(scope="module")
def demo_graph():
    """The nodes between the hand and the arm; its supervisor."""
    supervisor = Supervisor(GraphOptions("demo", without=LEFT_OUT))
    supervisor.start()
    try:
        assert supervisor.wait_ready(GRAPH_LIMIT), supervisor.waiting_for()
        yield supervisor
    finally:
        assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean)


class Published:
    """The command with what it prints."""

    def __init__(self, root):
        command = [*telerobot_command(), "devices", "--publish", "--root", str(root)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    def says(self, text, after=0):
        """Wait for a line with the text; the number of lines until then."""

        def found():
            return next((n for n, line in enumerate(self.lines[after:], after + 1) if text in line), 0)

        with self._changed:
            assert self._changed.wait_for(found, START_LIMIT), (text, self.lines)
            return found()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30.0)
        self._reader.join()
        return code


@pytest.mark.nightly
def test_a_gamepad_moves_the_arm_unplugging_stops_it_and_replugging_moves_nothing_unasked(terminal, tmp_path):
    from telerobot_nodes.core.protocol import DeviceState

    def height():
        return terminal.operator.queue.target_pose[2]

    def is_still():
        before = height()
        return not terminal.wait_for(lambda c: abs(c.queue.target_pose[2] - before) > 1e-4, STILL)

    pad = Recorded(tmp_path).plug()
    published = Published(tmp_path)
    try:
        seen = published.says("hold BTN_TL to move the tool")
        start, arm = height(), terminal.operator.robot.tool_pose[2]
        pad.send(ABS_RY=-32768)  # up, without the dead man's button
        assert is_still()
        pad.send(BTN_TL=1)
        assert terminal.wait_for(lambda c: c.queue.target_pose[2] > start + RISE, 20.0), published.lines
        assert terminal.operator.queue.device is DeviceState.TRACKING
        pad.unplug()
        seen = published.says("was unplugged, the motion has ended", seen)
        assert terminal.wait_for(lambda c: c.queue.device is DeviceState.IDLE, 10.0)
        assert is_still()
        assert terminal.wait_for(lambda c: c.robot.tool_pose[2] > arm + 0.5 * RISE, 20.0)

        pad.plug()
        seen = published.says("let go of every axis and of BTN_TL", seen)
        pad.send(ABS_RY=-32768, BTN_TL=1)  # as before it was unplugged
        assert is_still()
        pad.send(ABS_RY=0, BTN_TL=0)
        published.says("hold BTN_TL to move the tool", seen)
        again = height()
        pad.send(BTN_TL=1)
        pad.send(ABS_RY=-32768)
        assert terminal.wait_for(lambda c: c.queue.target_pose[2] > again + RISE, 20.0), published.lines
    finally:
        code = published.end()
    assert code == 0, published.lines
    assert terminal.wait_for(lambda c: c.queue.device is DeviceState.IDLE, 10.0)
