"""One arm as the decision unit has it, over DDS: a reflex that slows down, and goals that come too late."""

import threading

import pytest
import yaml
from in_turn import call

pytest.importorskip("rclpy")

from rclpy.action import ActionServer, CancelResponse

from telerobot.action import ExecutePrimitive
from telerobot.msg import ControlState, PrimitiveReport, Signal
from telerobot.srv import ChangePrimitive
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.decision.rtc_decision_unit import RtcDecisionUnitNode
from telerobot_nodes.nodes.framework import qos_profile

pytestmark = pytest.mark.timing("each answer over DDS has 20 s")

PATIENCE = 20.0  # [s]
WAY = "move left_arm to above dock interpolate task via (0.45, 0.0, 0.6) speed 0.1 unless signal lamp then slow to"


class Arm:
    """An arm that reports where it stands, and ends its goals when the test says so."""

    def __init__(self, ros, changes):
        self.ros, self.goals, self.changes, self.cancelled = ros, [], [], threading.Event()
        self.silent = False
        self._robot = load_robot("arm")
        self._state = self._publisher(ControlState, "gcmsf_control/state")
        self._lamp = self._publisher(Signal, "rtc_decision_unit/signals")
        self._server = ActionServer(
            ros.probe,
            ExecutePrimitive,
            "gcmsf_control/execute",
            self._ended,
            handle_accepted_callback=self.goals.append,
            cancel_callback=self._cancel,
        )
        if changes:
            ros.probe.create_service(ChangePrimitive, "gcmsf_control/change", self._change)
        ros.probe.create_timer(0.05, self._report)
        self.unit = ros.add(RtcDecisionUnitNode(NodeOptions("rtc_decision_unit")))
        self.proxy = self.unit._subsystems.arms["left_arm"]
        assert ros.until(lambda: self.proxy.known and self.proxy._client.server_is_ready())
        # a text that comes before the decision thread has entered the arm is refused
        assert ros.until(lambda: self.unit.host.interface.database.view.has("left_arm.joints"))
        # a goal for the server of the test before, which is still known for a while, would be lost
        assert ros.until(lambda: self.unit.count_services("gcmsf_control/execute/_action/send_goal") == 1)
        assert ros.until(lambda: self.proxy._change.service_is_ready() == changes)

    def close(self):
        """End the server on the thread that serves it; the node's own end would leave it to the middleware."""
        call(self.ros.executor, self._server.destroy)

    def _publisher(self, kind, name):
        return self.ros.probe.create_publisher(kind, name, qos_profile(graph.topic(name).qos))

    def _report(self):
        if self.silent:
            return
        home = self._robot.home.tolist()
        self._state.publish(ControlState(measured_position=home, measured_velocity=[0.0] * len(home)))

    def _ended(self, handle):
        handle.succeed()
        report = PrimitiveReport(state=PrimitiveReport.SUCCEEDED, reason="reached")
        return ExecutePrimitive.Result(report=report)

    def _cancel(self, _request):
        self.cancelled.set()
        return CancelResponse.ACCEPT

    def _change(self, request, response):
        self.changes.append(dict(zip(request.keys, map(yaml.safe_load, request.values), strict=True)))
        response.success = True
        return response

    def begin(self, text):
        self.unit.host.submit("ana", text)
        assert self.ros.until(lambda: len(self.goals) == 1)

    def lamp(self):
        self._lamp.publish(Signal(name="lamp", on=True))
        number = self.proxy._running.primitive.number
        fired = self.unit.host.reflexes
        assert self.ros.until(lambda: 1 in fired._watched[number].met)
        done = threading.Event()
        self.unit._outbox.append(done.set)  # what the reflex has asked for was done before it
        assert done.wait(PATIENCE)

    def next_goal(self):
        """Values of the goal after the present one, which is ended."""
        self.goals[-1].execute()
        count = len(self.goals)
        assert self.ros.until(lambda: len(self.goals) > count)
        given = self.goals[-1].request.parameters
        return dict(zip(given.keys, map(yaml.safe_load, given.values), strict=True))


@pytest.fixture
def made(ros):
    """Makes the arm of a test."""
    arms = []
    yield lambda changes: arms.append(Arm(ros, changes)) or arms[-1]
    for arm in arms:
        arm.close()


@pytest.fixture
def arm(made):
    return made(changes=True)


def test_a_reflex_slows_down_the_piece_under_way_and_those_after_it(arm):
    arm.begin(f"{WAY} 0.02 m/s")
    _, second = arm.proxy._running.goals
    arm.lamp()
    assert arm.ros.until(lambda: arm.changes)
    assert arm.changes[0]["time_vel_sel"] == "velocity"
    assert arm.changes[0]["time_vel_val"] < 0.04
    assert arm.next_goal()["time_vel_val"] > 4.0 * second.values["time_vel_val"]


def test_a_reflex_that_slows_down_makes_no_motion_faster(arm):
    arm.begin(f"{WAY} 2 m/s")
    _, second = arm.proxy._running.goals
    arm.lamp()
    assert arm.next_goal()["time_vel_val"] == pytest.approx(second.values["time_vel_val"])
    assert arm.changes == []


def test_a_motion_that_cannot_be_slowed_down_stops(made):
    arm = made(changes=False)
    arm.begin(f"{WAY} 0.02 m/s")
    arm.lamp()
    assert arm.cancelled.wait(PATIENCE)


def test_a_goal_that_is_accepted_after_its_command_was_given_up_is_cancelled(arm):
    arm.begin("move left_arm by 5 cm up")
    running = arm.proxy._running
    late = threading.Event()

    def give_up():
        handle, running.handle = running.handle, None
        arm.proxy._finish(running, "link_loss", None)
        arm.proxy._accepted(running, Accepted(handle))
        late.set()

    assert arm.ros.until(lambda: running.handle is not None)
    arm.unit._outbox.append(give_up)
    assert late.wait(PATIENCE)
    assert arm.cancelled.wait(PATIENCE)


@pytest.fixture
def early(arm):
    """An arm whose latest report is old when a command begins."""
    arm.silent = True
    assert arm.ros.until(lambda: not arm.proxy.known)
    arm.unit.host.submit("ana", "move left_arm by 5 cm up")
    return arm


def test_a_command_begins_with_the_next_report_when_the_latest_is_old(early):
    """The decision unit may have been held up itself: what the arm has reported meanwhile is read in its next turns."""
    assert early.ros.until(lambda: early.proxy._early._waiting is not None)
    early.silent = False
    assert early.ros.until(lambda: len(early.goals) == 1)


def test_a_command_of_an_arm_that_stays_silent_ends_as_link_loss(early):
    assert early.ros.until(lambda: early.unit.host.interface.unit.global_error == "left_arm does not report")
    assert early.goals == []


def test_a_command_that_is_stopped_before_the_next_report_does_not_begin(early):
    assert early.ros.until(lambda: early.proxy._early._waiting is not None)
    early.unit._outbox.append(lambda: early.proxy.stop(0, "halted"))
    assert early.ros.until(lambda: early.proxy._early._waiting is None)
    early.silent = False
    assert early.ros.until(lambda: early.proxy.known)
    assert early.goals == []
    assert early.unit.host.interface.unit.global_error == ""


class Accepted:
    """A future that has its result."""

    def __init__(self, handle):
        self._handle = handle

    def result(self):
        return self._handle
