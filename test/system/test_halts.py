"""Halts and e-stops on the running graph: any number from anyone stops, and nothing but its own RESUME ends it."""

import os
import signal
from contextlib import contextmanager

import pytest

from telerobot_nodes import graph

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

LIMIT = 20.0  # [s] far above what a loaded machine needs
POISON = (2**63, 2**64 - 1)
UP = {"tr_rel_dest": [0, 0, -0.1, 0, 0, 0, 1], "time_vel_sel": "velocity", "time_vel_val": 0.05}
DOWN = {**UP, "tr_rel_dest": [0, 0, 0.1, 0, 0, 0, 1]}  # so that the next UP has room
SUCCEEDED, REFUSED = 1, 3


class Bystander:
    """Someone who publishes halts by hand, and sees the loop and the hardware."""

    def __init__(self, terminal):
        from telerobot.msg import Halt
        from telerobot_nodes.nodes.framework import qos_profile

        self.terminal = terminal
        self.halts, self.estops = terminal.publisher("halt"), terminal.publisher("estop")
        self.resumes = terminal.publisher("gcmsf_control/resume")
        self.loop = self.hardware = None
        self.states = self.forwarded = 0
        terminal.subscribe("gcmsf_control/state", self._on_loop)
        terminal.subscribe("hardware_interface/state", lambda message: setattr(self, "hardware", message))
        copies = f"{terminal.namespace}/rtc_decision_unit/halt"  # at the robot's host
        terminal.node.create_subscription(Halt, copies, self._on_copy, qos_profile(graph.topic("halt").qos))
        self.until(lambda: self.loop and self.hardware and self._found())

    def _found(self):
        """Every node that receives them: a publisher that knows only the recorder would halt nothing."""
        return all(self._known_to_all(one) for one in (self.halts, self.estops, self.resumes))

    @staticmethod
    def _known_to_all(publisher):
        topic = publisher.topic_name.strip("/")
        name = topic.removeprefix(graph.OPERATOR_SIDE.strip("/") + "/")
        receivers = {one for one in graph.GRAPHS["demo"] if name in graph.node(one).subscribes}
        if name != topic:  # on the operator's side of the emulated link, which takes it across
            receivers = {one for one in receivers if graph.node(one).host is graph.Host.OPERATOR} | {"link_emulator"}
        return publisher.get_subscription_count() >= len(receivers) + 1  # and the recorder

    def _on_loop(self, message):
        self.loop, self.states = message, self.states + 1

    def _on_copy(self, _message):
        self.forwarded += 1

    def until(self, ready):
        assert self.terminal.wait_for(lambda _: ready(), LIMIT), (self.loop, self.hardware)

    def states_more(self, count):
        """Wait for states of the loop made after now."""
        before = self.states
        self.until(lambda: self.states >= before + count)

    def halt(self, **fields):
        from telerobot.msg import Halt

        self.halts.publish(Halt(**fields))

    def resume(self, count):
        from telerobot.msg import Resume

        self.resumes.publish(Resume(halt_count=count, agent="test"))

    def resume_by_authority(self):
        from telerobot_nodes.operator.client import commands

        # once the queue, too, has received the present count
        self.until(lambda: not self.loop.halted or (self._ask(commands.Resume()) and self._ended()))

    def _ask(self, command):
        return self.terminal.ask(command).done

    def _ended(self):
        return self.terminal.wait_for(lambda _: not self.loop.halted, 2.0)

    def primitive(self, **values):
        """The last report of a primitive."""
        return self.end(self.begin(**values))

    def begin(self, **values):
        from telerobot.action import ExecutePrimitive
        from telerobot.msg import PrimitiveParameters

        if not hasattr(self, "goals"):
            self.goals = self.terminal.action_client("gcmsf_control/execute")
        self.until(self.goals.server_is_ready)
        texts = [str(value) for value in values.values()]
        parameters = PrimitiveParameters(name="cartesian_guarded", agent="test", keys=list(values), values=texts)
        future = self.goals.send_goal_async(ExecutePrimitive.Goal(parameters=parameters))
        self.until(future.done)
        return future.result()

    def end(self, handle):
        future = handle.get_result_async()
        assert self.terminal.wait_for(lambda _: future.done(), 60.0)
        return future.result().result.report


@pytest.fixture
def someone(terminal):
    made = Bystander(terminal)
    if made.loop.halted:
        made.resume_by_authority()
    return made


@contextmanager
def hung(supervisor, *names):
    """Nodes that neither answer nor end."""
    pids = [supervisor.pid(name) for name in names]
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_every_halt_halts_whatever_its_number_and_whoever_spoke_before(someone):
    for number, agent in [
        (0, ""),
        (0, ""),
        (7, "a"),
        (7, "a"),
        (3, "a"),
        *((poison, "b") for poison in POISON),
        (1, "c"),
    ]:
        before = someone.loop.halt_count
        someone.halt(number=number, agent=agent)
        someone.until(lambda: someone.loop.halted)
        someone.states_more(10)  # the decision unit forwards it, too
        assert someone.loop.halt_count == before + 1
        assert (agent, number) in [(one.agent, one.number) for one in someone.loop.halts_received]
        for stray in (before, someone.loop.halt_count + 1, 0, *POISON):
            someone.resume(stray)
        someone.states_more(10)
        assert someone.loop.halted
        someone.resume_by_authority()


def test_a_halt_of_invalid_text_and_of_a_hundred_kilobytes_halts(someone):
    for reason in ("x" * 100_000, "\x00\x01\x7f", "ÄÖ" * 300):
        before = someone.forwarded
        someone.halt(agent=reason, reason=reason)
        # a copy that comes after the RESUME halts anew
        someone.until(lambda before=before: someone.loop.halted and someone.forwarded > before)
        someone.resume_by_authority()


def test_after_a_halt_in_motion_neither_primitive_nor_plan_moves_the_arm_before_resume(someone):
    handle = someone.begin(**UP)
    someone.until(lambda: max(map(abs, someone.loop.joint_velocity)) > 0.01)
    someone.halt(number=2**64 - 1, agent="stranger")
    report = someone.end(handle)
    assert "halt" in report.detail
    someone.until(lambda: someone.loop.halted and not any(someone.loop.joint_velocity))
    stood = list(someone.loop.joint_position)
    refused = someone.primitive(**UP)
    assert refused.state == REFUSED
    assert f"allowed: after RESUME of halt {someone.loop.halt_count}" in refused.detail
    someone.states_more(25)
    assert list(someone.loop.joint_position) == stood
    someone.resume_by_authority()
    report = someone.primitive(**UP)
    assert report.state == SUCCEEDED, (report.reason, report.detail)


@pytest.mark.nightly
def test_a_thousand_halts_and_resumes_of_two_senders_end_halted_by_the_last_halt(someone):
    first = someone.loop.halt_count
    for number in range(1, 501):
        someone.halt(number=number, agent="host1/shell/1")
        someone.resume(someone.loop.halt_count)
        someone.halt(number=2 * number, agent="host2/shell/2")
        someone.resume(first + number)
        if number % 10 == 0:
            someone.states_more(1)
    someone.until(lambda: someone.loop.halted and len(someone.loop.halts_received) >= 2)
    someone.halt(number=9999, agent="host1/shell/1", reason="the last")
    someone.until(lambda: ("host1/shell/1", 9999) in [(one.agent, one.number) for one in someone.loop.halts_received])
    assert someone.loop.halted
    assert someone.loop.halt_count <= first + 1001
    someone.resume_by_authority()
    report = someone.primitive(**UP)
    assert report.state == SUCCEEDED, (report.reason, report.detail)


def test_the_operators_client_halts_and_latches_the_estop_with_every_node_between_hung(someone, terminal, demo_graph):
    from telerobot_nodes.operator.client import HaltStage, commands

    reset = terminal.client("path_plan_queue/reset")
    someone.until(reset.service_is_ready)
    names = ("path_plan_queue", "forward_simulator", "cspace_planner", "rtc_decision_unit")
    with hung(demo_graph, *names):
        waiting = reset.call_async(reset.srv_type.Request())  # a service that hangs
        assert terminal.ask(commands.Halt("test")).done
        someone.until(lambda: someone.loop.halted)
        assert terminal.wait_for(lambda c: c.halt_watch.stage is HaltStage.CONFIRMED, LIMIT)
        assert terminal.ask(commands.EStop("fire")).done
        someone.until(lambda: someone.hardware.state == someone.hardware.ESTOP)
        assert "fire" in someone.hardware.reason
        assert terminal.wait_for(lambda c: c.estop_watch.stage is HaltStage.CONFIRMED, LIMIT)
        assert not waiting.done()
    someone.until(waiting.done)
    # the reset by authority that hung may have come first; what counts is that one releases it and nothing moves
    someone.until(lambda: someone.hardware.state != someone.hardware.ESTOP or someone._ask(commands.Reset()))
    someone.until(lambda: someone.hardware.state != someone.hardware.ESTOP)
    assert someone.loop.halted
    someone.resume_by_authority()
    someone.until(lambda: someone.loop.state != someone.loop.FAULT)  # until the setpoint is back at the arm
    assert someone.primitive(**DOWN).state == SUCCEEDED
    someone.until(lambda: terminal.ask(commands.Tare()).done)  # refused until the arm has settled


def test_an_estop_needs_no_node_but_the_hardware_interface(someone, demo_graph, terminal):
    from telerobot.msg import Halt
    from telerobot_nodes.operator.client import commands

    near = terminal.node.create_publisher(Halt, f"{terminal.namespace}/estop", 10)  # on the robot's host
    someone.until(lambda: someone._known_to_all(near))
    names = [entry.name for entry in demo_graph.options.nodes if entry.name != "hardware_interface"]
    with hung(demo_graph, *names):
        near.publish(Halt())
        someone.until(lambda: someone.hardware.state == someone.hardware.ESTOP)
    someone.until(lambda: someone.loop.estop and someone.loop.halted)
    someone.until(lambda: someone._ask(commands.Reset()) and someone.hardware.state != someone.hardware.ESTOP)
    someone.resume_by_authority()


@pytest.mark.parametrize(("number", "text"), [(1, "STOP!! now"), (2, "halt left_arm")])
def test_a_text_halts_with_the_decision_unit_hung_and_counts_once_when_it_wakes(someone, demo_graph, number, text):
    from telerobot.msg import Command, LinkStamp

    near = someone.terminal.node.create_publisher(
        Command, f"{someone.terminal.namespace}/rtc_decision_unit/commands", 10
    )  # on the robot's host
    someone.until(lambda: someone._known_to_all(near))
    before = someone.loop.halt_count
    with hung(demo_graph, "rtc_decision_unit"):
        near.publish(Command(link=LinkStamp(sender="ana", number=number), sender="ana", text=text))
        someone.until(lambda: someone.loop.halted)
    someone.states_more(25)  # the decision unit forwards it, too
    assert someone.loop.halt_count == before + 1
    assert ("ana.text", number) in [(one.agent, one.number) for one in someone.loop.halts_received]
    someone.resume_by_authority()


def test_an_estop_while_the_hardware_interface_hangs_halts_the_loop_and_is_latched_when_it_wakes(someone, demo_graph):
    """Its service hangs, too."""
    from telerobot.msg import Halt

    reset = someone.terminal.client("path_plan_queue/reset")
    someone.until(reset.service_is_ready)
    with hung(demo_graph, "hardware_interface"):
        someone.estops.publish(Halt(number=1, agent="fire watch", reason="fire"))
        someone.until(lambda: someone.loop.halted)
        someone.states_more(25)
        assert not any(someone.loop.joint_velocity)
    someone.until(lambda: someone.hardware.state == someone.hardware.ESTOP and someone.loop.estop)
    assert "fire" in someone.hardware.reason
    from telerobot_nodes.operator.client import commands

    someone.until(lambda: someone._ask(commands.Reset()) and someone.hardware.state != someone.hardware.ESTOP)
    assert someone.loop.halted
    someone.resume_by_authority()
    someone.until(lambda: someone.loop.state != someone.loop.FAULT)  # until the setpoint is back at the arm
    report = someone.primitive(**UP)
    assert report.state == SUCCEEDED, (report.reason, report.detail)
