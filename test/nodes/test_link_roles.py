"""Roles at the robot's end of the link, and what the executor makes of them: two link nodes over real sockets."""

import pytest
from free_ports import write_loopback_hosts

pytest.importorskip("rclpy")

from rclpy.action import ActionClient, ActionServer
from rclpy.serialization import serialize_message

from telerobot.action import ExecutePrimitive
from telerobot.msg import (
    Authority,
    Command,
    CommandReport,
    ExecutorState,
    Halt,
    HaltReceipt,
    LinkStamp,
    PlanOperation,
    PlanOperations,
    PrimitiveReport,
    Resume,
)
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.link.requests import STOPS, Begin
from telerobot_nodes.link.roles import KeyRole, create_key
from telerobot_nodes.nodes.framework import interface_class, qos_profile
from telerobot_nodes.nodes.robot.plan_executor import PlanExecutorNode
from telerobot_nodes.nodes.tools.link import LinkNode
from telerobot_nodes.nodes.tools.link_roles import mode_of_state

OPERATIONS, STATE, TEXTS = "plan_executor/operations", "plan_executor/state", "rtc_decision_unit/commands"
REPORTS, PERMITS = "rtc_decision_unit/reports", "link/permits"
CONSOLE, SHELL = "desk/console/1", "cell/shell/2"  # senders of halts at the operator's and at the robot's host


class Sides:
    """Publishers on both sides of a link with a key, and what arrives on the other."""

    def __init__(self, ros, folder, role, agents=(), more=""):
        self.ros, self._publishers, self.got = ros, {}, {}
        create_key(folder / "desk.key", role, agents)
        hosts = write_loopback_hosts(folder, more, of_desk=", key: desk.key")
        self.hosts = hosts
        for name in ("authority", OPERATIONS, TEXTS, "halt", "link/refused", PERMITS):
            self.hear(name)
        for name in (REPORTS, STATE):
            self.hear(name, OPERATOR_SIDE)
        self.robot, self.desk = (
            ros.add(LinkNode(NodeOptions("link", graph=name, hosts=hosts))) for name in ("robot", "operator")
        )
        assert ros.until(lambda: self.say("halt", Halt(number=1, agent=CONSOLE)) or self.got["halt"])

    def hear(self, name, side=""):
        self.got[name] = []
        entry = graph.topic(name)
        kind = interface_class(entry.type)
        self.ros.probe.create_subscription(kind, side + name, self.got[name].append, qos_profile(entry.qos))

    def say(self, name, message, side=OPERATOR_SIDE):
        if side + name not in self._publishers:
            entry = graph.topic(name)
            kind = interface_class(entry.type)
            self._publishers[side + name] = self.ros.probe.create_publisher(kind, side + name, qos_profile(entry.qos))
            assert self.ros.until(self._publishers[side + name].get_subscription_count)
        self._publishers[side + name].publish(message)

    def said(self, name, message, arrived):
        """Say it again and again until something has arrived."""
        assert self.ros.until(lambda: self.say(name, message) or arrived())

    def refused(self, reason):
        return self.robot.health().values.get(f"refused {reason}", 0)

    def stopped_by(self, count, *agents):
        """The robot's executor reports a halt, until its report has crossed the link."""
        receipts = [HaltReceipt(agent=agent, number=number) for agent, number in agents]
        state = ExecutorState(state=ExecutorState.HALTED, halt_count=count, halts_received=receipts)
        crossed = self.got[STATE]
        assert self.ros.until(lambda: self.say(STATE, state, side="") or (crossed and crossed[-1].halt_count == count))


@pytest.fixture
def desk(ros, tmp_path):
    return Sides(ros, tmp_path, KeyRole.OPERATOR)


def named(agent, kind=Authority.REQUEST, number=7):
    return Authority(kind=kind, agent=agent, number=number)


def test_an_operators_take_and_another_ones_name_reach_no_node_and_are_counted_and_answered(desk):
    desk.said("authority", named("desk"), lambda: desk.got["authority"])
    desk.got["authority"].clear()
    desk.said("authority", named("desk", Authority.TAKE, 8), lambda: desk.refused("supervisors_only"))
    desk.said("authority", named("supervisor", Authority.TAKE, 9), lambda: desk.refused("other_name"))
    desk.said("authority", named("desk", Authority.HEARTBEAT), lambda: desk.got["authority"])
    assert {one.kind for one in desk.got["authority"]} <= {Authority.REQUEST, Authority.HEARTBEAT}
    assert desk.ros.until(lambda: {one.agent for one in desk.got["link/refused"]} == {"desk", "supervisor"})
    assert {one.link.sender for one in desk.got["link/refused"]} == {"desk"}
    assert desk.ros.until(lambda: "supervisors_only" in desk.robot.health().message)


def test_operations_in_another_ones_name_reach_no_node_and_a_claim_is_answered(desk):
    claim = PlanOperation(epoch=5, number=1, kind=PlanOperation.AUTHORITY, agent="boss")
    own = PlanOperation(epoch=5, number=1, kind=PlanOperation.AUTHORITY, agent="desk")
    desk.said(OPERATIONS, PlanOperations(operations=[own, claim]), lambda: desk.refused("other_name"))
    desk.said(OPERATIONS, PlanOperations(operations=[own]), lambda: desk.got[OPERATIONS])
    assert {operation.agent for one in desk.got[OPERATIONS] for operation in one.operations} == {"desk"}
    assert desk.ros.until(lambda: desk.got["link/refused"])
    answer = desk.got["link/refused"][0]
    assert (answer.agent, answer.number) == ("boss", 5)


def test_every_halt_passes_whatever_its_name(desk):
    for number, agent in enumerate(("boss", "", SHELL, "desk"), 10):
        desk.said("halt", Halt(number=number, agent=agent), lambda n=number: desk.got["halt"][-1].number == n)
    assert not desk.robot.health().values.get("refused other_name")


def test_a_stop_is_ended_by_who_has_made_it_and_not_by_others(desk):
    desk.stopped_by(3, (CONSOLE, 1))
    assert desk.ros.until(lambda: Resume(halt_count=3, agent="desk") in desk.got[PERMITS])
    desk.stopped_by(4, (CONSOLE, 1), (SHELL, 2))
    desk.said("halt", Halt(number=2, agent=SHELL), lambda: desk.got["halt"][-1].agent == SHELL)  # too late
    desk.stopped_by(5, (CONSOLE, 1), (SHELL, 3))
    reset = Command(link=LinkStamp(sender="s", number=6), sender="s", text="speed slow; RESET")
    desk.said(TEXTS, reset, lambda: desk.refused("stop_of_another"))
    assert desk.ros.until(lambda: desk.got[REPORTS])
    report = desk.got[REPORTS][0]
    assert (report.kind, report.sender, report.text_number, report.ok) == (CommandReport.REPLY, "s", 6, False)
    assert "somebody else" in report.text
    status = Command(link=LinkStamp(sender="s", number=7), sender="s", text="status")
    desk.said(TEXTS, status, lambda: desk.got[TEXTS])
    assert {one.text for one in desk.got[TEXTS]} == {"status"}
    assert {one.halt_count for one in desk.got[PERMITS]} == {3}


@pytest.mark.parametrize("sender", ["x" * length for length in range(9)])
def test_the_mode_is_read_from_the_bytes_of_a_state(sender):
    for mode in (ExecutorState.IDLE, ExecutorState.HALTED):
        state = ExecutorState(link=LinkStamp(sender=sender, number=2**60), state=mode, reason="r", epoch=3)
        assert mode_of_state(bytes(serialize_message(state))) == mode
    assert mode_of_state(bytes(serialize_message(state))[:20]) is None
    assert mode_of_state(b"") is None


def test_a_halt_by_text_is_of_who_has_said_it(desk):
    halt = Command(link=LinkStamp(sender="desk/shell/9", number=6), sender="desk/shell/9", text="halt left_arm")
    desk.said(TEXTS, halt, lambda: desk.got[TEXTS])
    desk.stopped_by(5, ("desk/shell/9.text", 6))
    assert desk.ros.until(lambda: Resume(halt_count=5, agent="desk") in desk.got[PERMITS])


def test_a_supervisor_takes_and_ends_every_stop(ros, tmp_path):
    office = Sides(ros, tmp_path, KeyRole.SUPERVISOR, ["boss"])
    office.said("authority", named("boss", Authority.TAKE), lambda: office.got["authority"])
    office.stopped_by(1, (SHELL, 2))
    reset = Command(link=LinkStamp(sender="s", number=6), sender="s", text="reset")
    office.said(TEXTS, reset, lambda: office.got[TEXTS])
    assert not office.robot.health().values.get("refused stop_of_another")


@pytest.fixture
def booth(ros, tmp_path):
    """The desk's host, with the key of an observer."""
    return Sides(ros, tmp_path, KeyRole.OBSERVER)


def test_an_observer_stops_the_arm_and_sees_everything(booth):
    for number, agent in enumerate(("boss", "", "desk"), 10):
        booth.said("halt", Halt(number=number, agent=agent), lambda n=number: booth.got["halt"][-1].number == n)
    booth.stopped_by(1, (SHELL, 2))  # the state crosses
    booth.said("authority", named("desk", Authority.HEARTBEAT), lambda: booth.got["authority"])
    assert not [name for name in booth.robot.health().values if name.startswith("refused")]


def test_an_observer_begins_nothing_and_is_told(booth):
    booth.said("authority", named("desk"), lambda: booth.got["link/refused"])
    operation = PlanOperation(epoch=5, number=1, kind=PlanOperation.AUTHORITY, agent="desk")
    before = len(booth.got["link/refused"])
    booth.said(OPERATIONS, PlanOperations(operations=[operation]), lambda: len(booth.got["link/refused"]) > before)
    status = Command(link=LinkStamp(sender="s", number=7), sender="s", text="status")
    booth.said(TEXTS, status, lambda: booth.got[REPORTS])
    assert "observer's" in booth.got[REPORTS][0].text
    for name in ("gcmsf_control/teleop_cmds", "camera/request"):
        booth.hear(name)
        kind = interface_class(graph.topic(name).type)
        count = booth.refused("observer")
        booth.said(name, kind(), lambda c=count: booth.refused("observer") > c)
        assert not booth.got[name]
    assert not booth.got["authority"] and not booth.got[OPERATIONS] and not booth.got[TEXTS]
    assert booth.ros.until(lambda: "observer" in booth.robot.health().message)


def test_of_an_observers_text_only_the_halt_passes(booth):
    texts = {"halt; grasp module": "halt all", "HALT left_arm": "halt left_arm", "halt command 3": "halt command 3"}
    for number, (text, passes) in enumerate(texts.items(), 1):
        halt = Command(link=LinkStamp(sender="desk/shell/9", number=number), sender="desk/shell/9", text=text)
        booth.said(TEXTS, halt, lambda t=passes: booth.got[TEXTS] and booth.got[TEXTS][-1].text == t)


def test_an_observer_is_told_that_his_request_is_not_begun_on_whatever_channel(booth):
    desk = booth.desk._desk._asker
    goal = ExecutePrimitive.Goal()
    client = ActionClient(booth.ros.probe, ExecutePrimitive, OPERATOR_SIDE + "gcmsf_control/execute")
    begun = []
    server = ActionServer(
        booth.ros.probe, ExecutePrimitive, "gcmsf_control/execute", lambda handle: begun.append(handle) or goal
    )
    booth.ros.at_end(client.destroy, server.destroy)
    assert booth.ros.until(client.server_is_ready)
    answers = []
    client.send_goal_async(goal).add_done_callback(lambda sent: answers.append(sent.result()))
    assert booth.ros.until(lambda: answers)
    results = []
    answers[0].get_result_async().add_done_callback(lambda done: results.append(done.result().result))
    assert booth.ros.until(lambda: results)
    assert results[0].report.state == PrimitiveReport.REFUSED
    assert "observer's" in results[0].report.detail
    hostile = Begin(desk._life, desk._runner, 99, "gcmsf_control/execute", b"").pack()
    count = booth.refused("observer")
    booth.desk._send_request(STOPS, hostile)
    assert booth.ros.until(lambda: booth.refused("observer") > count)
    assert not begun


def test_the_executor_tells_an_observer_why_he_gets_no_control(ros, booth):
    ros.add(PlanExecutorNode(NodeOptions("plan_executor", hosts=booth.hosts, host="cell")))
    booth.said(
        "authority", named("desk", number=8), lambda: booth.got[STATE] and booth.got[STATE][-1].denied_number == 8
    )
    state = booth.got[STATE][-1]
    assert (state.denied_agent, state.authority, state.granted) == ("desk", "", False)
    assert "the key of desk is an observer's" in state.denial


def test_a_key_without_a_role_has_every_right(ros, tmp_path):
    any_host = Sides(ros, tmp_path, None)
    any_host.said("authority", named("supervisor", Authority.TAKE), lambda: any_host.got["authority"])
    any_host.stopped_by(1, (SHELL, 2))
    reset = Command(link=LinkStamp(sender="s", number=6), sender="s", text="reset")
    any_host.said(TEXTS, reset, lambda: any_host.got[TEXTS])
    assert not [name for name in any_host.robot.health().values if name.startswith("refused")]


def test_what_two_encrypting_hosts_exchange_passes_and_is_judged_by_role(ros, tmp_path):
    desk = Sides(ros, tmp_path, KeyRole.OPERATOR, more="encrypt: true\n")
    desk.said("authority", named("desk"), lambda: desk.got["authority"])
    desk.said("authority", named("desk", Authority.TAKE, 8), lambda: desk.refused("supervisors_only"))
    status = Command(link=LinkStamp(sender="s", number=7), sender="s", text="status")
    desk.said(TEXTS, status, lambda: desk.got[TEXTS])


def test_the_executor_tells_the_operator_why_his_take_was_refused(ros, desk):
    executor = ros.add(PlanExecutorNode(NodeOptions("plan_executor", hosts=desk.hosts, host="cell")))
    take = named("desk", Authority.TAKE, 8)
    desk.said("authority", take, lambda: desk.got[STATE] and desk.got[STATE][-1].denied_number == 8)
    state = desk.got[STATE][-1]
    assert (state.denied_agent, state.authority, state.granted) == ("desk", "", False)
    assert "the key of desk is an operator's" in state.denial
    desk.said("authority", named("desk", number=9), lambda: "desk" in executor._core.arbiter.waiting)


def test_the_executor_ends_a_stop_for_its_maker_only(ros, desk):
    desk.hear("gcmsf_control/resume")
    ros.add(PlanExecutorNode(NodeOptions("plan_executor", hosts=desk.hosts, host="cell")))
    control = {"joint_position": 6 * [0.0], "path_position": 6 * [0.0], "measured_position": 6 * [0.0]}
    control |= {"joint_velocity": 6 * [0.0], "path_velocity": 6 * [0.0], "measured_velocity": 6 * [0.0]}
    halted = interface_class("telerobot/msg/ControlState")(halted=True, **control)

    def stopped_by(count, *agents):
        halted.halt_count, halted.halt_reason = count, f"{agents[-1]}: here"
        halted.halts_received = [HaltReceipt(agent=agent, number=1) for agent in agents]
        desk.say("gcmsf_control/state", halted, side="")
        return desk.got[STATE] and desk.got[STATE][-1].halt_count == count

    def operation(number, kind, count=0):
        made = PlanOperation(epoch=1, number=number, kind=kind, agent="desk", halt_count=count)
        return PlanOperations(operations=[made])

    def state():
        return desk.got[STATE][-1]

    assert ros.until(lambda: stopped_by(1, SHELL))
    desk.said(OPERATIONS, operation(1, PlanOperation.AUTHORITY), lambda: state().authority == "desk")
    desk.said(OPERATIONS, operation(2, PlanOperation.RESUME, 1), lambda: state().refused_number == 2)
    assert "desk has not made this stop (halt 1 by cell/shell/2: here)" in state().refusal
    assert not desk.got["gcmsf_control/resume"]
    halted.halted = False
    assert ros.until(lambda: stopped_by(1, SHELL) and state().state != ExecutorState.HALTED)
    halted.halted = True
    assert ros.until(lambda: stopped_by(2, SHELL, CONSOLE))
    assert ros.until(lambda: Resume(halt_count=2, agent="desk") in desk.got[PERMITS])
    desk.said(OPERATIONS, operation(3, PlanOperation.RESUME, 2), lambda: desk.got["gcmsf_control/resume"])
    assert state().refused_number == 2
