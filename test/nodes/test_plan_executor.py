"""The plan executor as a node: what it publishes can be read whatever its sensors deliver."""

import math

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped

from telerobot.msg import ControlState, ExecutedPoints, ExecutorState
from telerobot_nodes import graph
from telerobot_nodes.core.config import Journal, NodeOptions
from telerobot_nodes.core.protocol import ExecutorMode, StopCause
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.robot import plan_executor
from telerobot_nodes.nodes.robot.plan_executor import PlanExecutorNode
from telerobot_nodes.operator.client import robot_from_message
from telerobot_nodes.plan.executor import ExecutorMemory
from telerobot_nodes.plan.log import LogPosition


def test_a_wrench_that_is_no_number_is_left_out_of_the_report(ros):
    states = []
    state, wrench = (graph.topic(name) for name in ("plan_executor/state", "hardware_interface/wrench"))
    ros.probe.create_subscription(ExecutorState, state.name, states.append, qos_profile(state.qos))
    sensor = ros.probe.create_publisher(WrenchStamped, wrench.name, qos_profile(wrench.qos))
    ros.add(PlanExecutorNode(NodeOptions("plan_executor")))
    assert ros.until(sensor.get_subscription_count)
    message = WrenchStamped()
    message.wrench.force.x = 3.0
    ros.probe.create_timer(0.01, lambda: sensor.publish(message))
    assert ros.until(lambda: states and list(states[-1].wrench) == [3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    message.wrench.force.z = math.nan
    assert ros.until(lambda: not len(states[-1].wrench))
    assert robot_from_message(states[-1]).wrench.size == 0


def test_until_the_loop_has_seen_the_arm_nothing_is_reported_as_measured(ros):
    """It was reported at zero: consoles and programs took that for the arm's place."""
    states = []
    state, control = (graph.topic(name) for name in ("plan_executor/state", "gcmsf_control/state"))
    ros.probe.create_subscription(ExecutorState, state.name, states.append, qos_profile(state.qos))
    loop = ros.probe.create_publisher(ControlState, control.name, qos_profile(control.qos))
    node = ros.add(PlanExecutorNode(NodeOptions("plan_executor")))
    assert ros.until(lambda: loop.get_subscription_count() and states)
    fields = ("path_position", "path_velocity", "measured_position", "measured_velocity")
    message = ControlState(cause=StopCause.STALE_JOINTS, **{name: [0.0] * node._robot.dof for name in fields})
    ros.probe.create_timer(0.01, lambda: loop.publish(message))
    assert ros.until(lambda: node._control is not None)
    count = len(states)
    assert ros.until(lambda: len(states) > count + 1)
    assert not any(len(one.joint_position) or len(one.tool_pose) for one in states)
    message.cause, message.measured_position = StopCause.NONE, list(node._robot.home)
    assert ros.until(lambda: list(states[-1].joint_position) == list(node._robot.home))
    assert len(states[-1].tool_pose) == 7
    message.cause = StopCause.STALE_JOINTS  # from now on the last place is known
    assert ros.until(lambda: node._control.cause == StopCause.STALE_JOINTS)
    count = len(states)
    assert ros.until(lambda: len(states) > count + 1)
    assert list(states[-1].joint_position) == list(node._robot.home)


def test_another_mode_is_published_at_once_and_not_with_the_next_period(ros, monkeypatch):
    """A person who pressed HALT or pause waits for it."""
    monkeypatch.setattr(plan_executor, "STATE_PERIOD", 1e6)
    states = []
    state, control = (graph.topic(name) for name in ("plan_executor/state", "gcmsf_control/state"))
    ros.probe.create_subscription(ExecutorState, state.name, states.append, qos_profile(state.qos))
    loop = ros.probe.create_publisher(ControlState, control.name, qos_profile(control.qos))
    node = ros.add(PlanExecutorNode(NodeOptions("plan_executor")))
    assert ros.until(loop.get_subscription_count)
    fields = ("path_position", "path_velocity", "measured_position", "measured_velocity")
    message = ControlState(**{name: [0.0] * node._robot.dof for name in fields})
    ros.probe.create_timer(0.01, lambda: loop.publish(message))
    for message.halted in (True, False, True):
        assert ros.until(lambda: states and (states[-1].state == ExecutorMode.HALTED) is message.halted)
    assert len(states) < 20


def journaled(file):
    return ExecutorMemory.from_text(file.read_text().splitlines()[-1].partition(" ")[2])


class Noted:
    """Something whose one method is noted before it acts."""

    def __init__(self, inner, deed, order):
        self._inner, self._deed, self._order = inner, deed, order

    def __getattr__(self, name):
        if name == self._deed:
            self._order.append(name)
        return getattr(self._inner, name)


def test_no_journal_holds_executed_points_that_were_not_reported(ros, tmp_path, monkeypatch):
    """A kill at any time: a successor reports what is not in the journal, and nothing twice."""
    file, params = tmp_path / "journal", tmp_path / "params.yaml"
    before = ExecutorMemory(LogPosition(3, "ann", 17), 40, 43, False, 1.0, 0.8, ((41, 0.82), (42, 0.84), (43, 0.86)))
    Journal(file).write(before.text())
    params.write_text(f"plan_executor:\n  ros__parameters:\n    journal: {file}\n")
    reported = []
    entry = graph.topic("plan_executor/executed")
    ros.probe.create_subscription(ExecutedPoints, entry.name, reported.append, qos_profile(entry.qos))
    node = PlanExecutorNode(NodeOptions("plan_executor", params=params))
    ros.nodes.append(node)  # it does not spin: nothing happens between these lines
    node.trigger_configure()
    node.trigger_activate()
    still = [0.0] * node._robot.dof
    places = dict.fromkeys(("path_position", "path_velocity", "measured_position", "measured_velocity"), still)
    order = []
    for part, deed in (("_executed", "publish"), ("_journal", "write")):
        monkeypatch.setattr(node, part, Noted(getattr(node, part), deed, order))
    node._on_control(ControlState(window_number=5, arrived_time=0.85, **places))
    assert order == ["publish", "write"]  # the other way round a kill between the two loses them
    assert journaled(file).executed_seq == 42  # the next tick is later than a kill
    assert ros.until(lambda: [(m.first_seq, m.last_seq) for m in reported] == [(41, 42)])
