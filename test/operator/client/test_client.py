from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import ExecutorMode, UpdateKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import (
    HaltStage,
    OperatorClient,
    Outcome,
    PlanChange,
    QueueStatus,
    Result,
    RobotStatus,
    SimulationStatus,
    Tone,
    commands,
)
from telerobot_nodes.operator.client.requests import Requests
from telerobot_nodes.operator.view import other_plan, scene, view

ME = "host/console/0123456789abcdef"


@dataclass
class RecordingPort:
    """Keeps what leaves; the test answers when it likes."""

    calls: list = field(default_factory=list)
    halts: list = field(default_factory=list)
    estops: list = field(default_factory=list)
    targets: list = field(default_factory=list)

    def call(self, command, answer):
        self.calls.append((command, answer))

    def halt(self, number, reason):
        self.halts.append((number, reason))

    def estop(self, number, reason):
        self.estops.append((number, reason))

    def stream(self, target):
        self.targets.append(target)

    def answer(self, outcome, now=0.1):
        self.calls.pop(0)[1](outcome, now)


@pytest.fixture
def port():
    return RecordingPort()


@pytest.fixture
def client(port):
    return OperatorClient(port, agent=ME)


def texts(client):
    return [notice.text for notice in client.notices]


def test_a_command_reports_what_the_service_said(client, port):
    got = []
    client.ask(commands.TimeRatio(2.0), 0.0, got.append)
    port.answer(Outcome(Result.DONE, "clipped to 1.50"))
    assert got == [Outcome(Result.DONE, "clipped to 1.50")]
    assert texts(client) == ["time ratio 2.00: clipped to 1.50"]


def test_a_refused_command_is_noted_as_bad(client, port):
    client.ask(commands.Clear(), 0.0)
    port.answer(Outcome(Result.REFUSED, "no authority"))
    assert client.notices[-1].tone is Tone.BAD


def test_a_command_nobody_answers_is_reported_once_and_a_late_answer_changes_nothing(client, port):
    got = []
    client.ask(commands.Clear(), 0.0, got.append)
    client.tick(1.9)
    assert not got
    client.tick(2.1)
    client.tick(9.0)
    port.answer(Outcome(Result.DONE, "late"), 9.1)
    assert got == [Outcome(Result.NO_ANSWER, "no answer in 2 s")]
    assert texts(client) == ["delete all: no answer in 2 s"]


def halted(*received, count=1):
    return RobotStatus(mode=ExecutorMode.HALTED, halt_count=count, halts_received=received)


def test_a_halt_goes_straight_to_the_robot_and_waits_for_no_node(client, port):
    got = []
    client.ask(commands.Halt("too close"), 0.1, got.append)
    assert port.calls == []
    assert port.halts == [(1, "too close")]
    assert got == [Outcome(Result.DONE, "sent, repeated until the robot confirms")]


def test_a_halt_is_repeated_until_the_robot_shows_its_receipt(client, port):
    client.ask(commands.Halt(), 0.0)
    client.tick(0.1)
    client.receive_robot(halted(("host/other/1", 1)), 0.15)  # halted by another: no receipt of this one
    client.tick(0.2)
    assert [number for number, _ in port.halts] == [1, 1, 1]
    assert client.halt_watch.stage is HaltStage.ASKED
    client.receive_robot(halted(("host/other/1", 1), (ME, 1), count=2), 0.3)
    client.tick(0.4)
    assert len(port.halts) == 3
    assert client.halt_watch.stage is HaltStage.CONFIRMED


def test_another_thread_stops_the_robot_and_the_client_records_it_when_it_can(client, port):
    client.stop(commands.Halt("too close"), 0.0)
    assert port.halts == [(1, "too close")]
    assert texts(client) == []
    client.receive_robot(halted((ME, 1)), 0.1)
    client.note_stop(commands.Halt("too close"), 0.2)
    assert len(port.halts) == 1
    assert texts(client)[-1] == "halt: sent, repeated until the robot confirms"


def test_copies_of_a_stop_are_sent_by_one_thread_at_a_time():
    guard, held = Lock(), []
    port = RecordingPort()
    port.halt = port.estop = lambda number, reason: held.append(guard.locked())
    client = OperatorClient(port, guard=guard)
    for command in (commands.Halt(), commands.EStop()):
        client.stop(command, 0.0)
    client.tick(0.1)
    client.receive_robot(halted(), 0.2)
    assert held == [True] * 4
    assert not guard.locked()


def test_a_report_of_an_earlier_halt_confirms_no_later_one(client, port):
    client.ask(commands.Halt(), 0.0)
    client.receive_robot(halted((ME, 1)), 0.1)
    client.ask(commands.Halt("again"), 0.2)  # a resume may be on its way to the robot
    client.receive_robot(halted((ME, 1)), 0.3)
    assert client.halt_watch.stage is HaltStage.ASKED
    client.receive_robot(halted((ME, 2), count=2), 0.4)
    assert client.halt_watch.stage is HaltStage.CONFIRMED
    assert [number for number, _ in port.halts] == [1, 2]


def test_a_robot_that_starts_is_no_trouble_and_takes_no_motion(client):
    client.receive_robot(RobotStatus(mode=ExecutorMode.STARTING, reason="the arm has not been at rest yet"), 0.1)
    (note,) = client.notices
    assert (note.text, note.tone) == ("robot starting: the arm has not been at rest yet", Tone.PLAIN)
    assert (view(client, 0.1).banner.text.partition(":")[0], view(client, 0.1).banner.tone) == ("STARTING", Tone.WARN)
    client.receive_robot(RobotStatus(mode=ExecutorMode.FAULT, reason="follow error"), 0.2)
    assert client.notices[-1].tone is Tone.WARN


def test_a_report_that_left_before_the_halt_does_not_cancel_it(client):
    client.ask(commands.Halt(), 0.0)
    client.receive_robot(RobotStatus(mode=ExecutorMode.RUNNING), 0.1)
    assert client.halt_watch.stage is HaltStage.ASKED


def test_a_halt_that_was_obeyed_and_resumed_by_another_is_repeated_no_more(client, port):
    client.ask(commands.Halt(), 0.0)
    client.receive_robot(RobotStatus(mode=ExecutorMode.RUNNING, halt_count=1, halts_received=((ME, 1),)), 0.1)
    client.tick(0.2)
    assert len(port.halts) == 1
    assert client.halt_watch.stage is HaltStage.NONE
    assert "ended by another operator" in texts(client)[-1]


@pytest.mark.parametrize("number", [0, 2, 2**63, 2**64 - 1])
def test_a_number_of_the_robot_never_raises_that_of_the_next_halt(client, port, number):
    client.receive_robot(halted((ME, number), ("x", number), count=number), 0.0)
    client.ask(commands.Halt(), 0.1)
    assert port.halts == [(1, "operator")]


def test_an_estop_goes_straight_to_the_robot_until_the_hardware_has_latched_it(client, port):
    client.ask(commands.EStop("fire"), 0.0)
    client.ask(commands.Halt(), 0.0)
    client.receive_robot(halted((f"e-stop {ME}", 1), (ME, 1)), 0.1)  # the loop has stopped, the hardware not yet
    client.tick(0.2)
    assert port.estops == [(1, "fire"), (1, "fire")]
    assert port.halts == [(1, "operator")]
    client.receive_robot(RobotStatus(estop=True, halts_received=((f"e-stop {ME}", 1),)), 0.3)
    client.tick(0.4)
    assert len(port.estops) == 2
    assert client.estop_watch.stage is HaltStage.CONFIRMED


def test_only_the_robot_says_that_it_is_free_again(client, port):
    client.receive_robot(halted(), 0.0)
    client.ask(commands.Resume(), 0.1)
    port.answer(Outcome(Result.DONE))
    assert client.halt_watch.stage is HaltStage.CONFIRMED
    client.receive_robot(RobotStatus(mode=ExecutorMode.IDLE, halt_count=1), 0.5)
    assert client.halt_watch.stage is HaltStage.NONE


def test_nothing_is_resumed_while_a_halt_is_not_confirmed(client, port):
    got = []
    client.ask(commands.Halt(), 0.0)
    client.ask(commands.Resume(), 0.5, got.append)
    assert port.calls == []
    assert not got[0].done
    client.tick(0.6)
    assert len(port.halts) == 2


def test_the_same_notice_again_only_renews_its_time(client):
    client.note("jump absorbed", Tone.WARN, 1.0)
    client.note("jump absorbed", Tone.WARN, 2.0)
    assert [(notice.text, notice.time) for notice in client.notices] == [("jump absorbed", 2.0)]


def test_refusals_by_the_robot_and_conflicts_ahead_become_notices(client):
    client.receive_robot(RobotStatus(refused_number=7, refusal="points.time[3]: nan is not allowed"), 0.0)
    client.receive_simulation(
        SimulationStatus(conflict="elbow near table at 12.3 s", conflict_kind=4, conflicts=4), 0.1
    )
    client.receive_queue(QueueStatus(notice="jump of 0.40 m absorbed"), 0.2)
    assert texts(client) == [
        "robot refused: points.time[3]: nan is not allowed",
        "conflict ahead: elbow near table at 12.3 s",
        "jump of 0.40 m absorbed",
    ]


def test_a_notice_of_the_queue_is_a_warning_only_when_something_went_wrong(client):
    client.receive_queue(QueueStatus(notice="ready"), 0.0)
    client.receive_queue(QueueStatus(notice="jump of 0.40 m absorbed", jumps=1), 0.1)
    client.receive_queue(QueueStatus(notice="out of reach", jumps=1, device=2), 0.2)
    assert [notice.tone for notice in client.notices] == [Tone.PLAIN, Tone.WARN, Tone.WARN]


@given(st.lists(st.sampled_from(("open", "answer", "late", "time")), max_size=30))
def test_every_request_ends_exactly_once(events):
    requests, now, ended, tickets = Requests(2.0), 0.0, [], []
    for event in events:
        now += 0.7
        if event == "open":
            tickets.append(requests.open(commands.Clear(), now))
        elif event == "time":
            ended += [request.ticket for request in requests.expired(now)]
        elif tickets:
            request = requests.close(tickets[0 if event == "late" else -1])
            ended += [request.ticket] if request else []
    ended += [request.ticket for request in requests.expired(now + 3.0)]
    assert sorted(ended) == tickets
    assert not requests.pending


@pytest.mark.parametrize(
    ("make", "field_name"),
    [
        (lambda: commands.TimeRatio(float("nan")), "time ratio"),
        (lambda: commands.TimeRatio(11.0), "time ratio"),
        (lambda: commands.TimeRatio("2"), "time ratio"),
        (lambda: commands.Gripper(0.21), "gripper"),
        (lambda: commands.SetLink(-1.0), "link delay"),
        (lambda: commands.SetLink(1.0, loss=1.5), "link loss"),
        (lambda: commands.Replay(speed=0.0), "replay speed"),
        (lambda: commands.Brake(float("inf")), "brake rate"),
        (lambda: commands.PoseTarget(np.zeros(7)), "pose target"),
        (lambda: commands.PoseTarget(np.ones(3)), "pose target"),
    ],
)
def test_a_bad_command_is_refused_when_made_and_names_its_field(make, field_name):
    with pytest.raises(InvalidValueError, match=field_name):
        make()


@pytest.mark.parametrize(
    ("make", "field_name"),
    [
        (lambda: QueueStatus(lead=float("nan")), "lead"),
        (lambda: QueueStatus(device=9), "device"),
        (lambda: QueueStatus(gripper=float("nan")), "gripper"),
        (lambda: QueueStatus(target_pose=np.zeros(6)), "target_pose"),
        (lambda: RobotStatus(mode=17), "state"),
        (lambda: RobotStatus(joint_position=[0.0, float("inf")]), "joint_position"),
        (lambda: RobotStatus(wrench=[1.0]), "wrench"),
    ],
)
def test_a_bad_status_is_refused_when_made_and_names_its_field(make, field_name):
    with pytest.raises(InvalidValueError, match=field_name):
        make()


def test_jitter_never_exceeds_the_delay():
    assert commands.SetLink(0.1, jitter=0.5).jitter == 0.1


def test_a_halt_always_has_a_reason_of_bounded_length():
    assert commands.Halt("  ").reason == "operator"
    assert len(commands.Halt("x" * 1000).reason) == 200


def line(seq, count, kind=UpdateKind.APPEND):
    position = np.arange(3.0 * count).reshape(-1, 3)
    return PlanChange(kind, first_seq=seq, position=position, timing=np.zeros(count, np.uint8))


def test_who_stands_by_sees_the_plan_in_force_until_it_is_part_of_the_own_one(client):
    client.receive_queue(QueueStatus(agent="second"), 0.0)
    client.receive_other_plan(line(1, 10))
    client.receive_robot(RobotStatus(executed_seq=4, committed_seq=6), 0.0)
    assert len(other_plan(client)) == 7  # from the last point executed
    client.receive_queue(QueueStatus(agent="second", has_authority=True), 0.1)
    client.receive_other_plan(line(11, 3))  # the own plan, told to those who stand by
    assert len(other_plan(client)) == 0


def test_stretches_in_conflict_are_shown_until_the_plan_has_none(client):
    client.receive_lines(np.zeros((2, 2, 3)), np.empty((0, 3)))
    assert len(scene(client, 0.0).conflicts) == 2
    client.receive_lines(np.empty((0, 2, 3)), np.empty((0, 3)))
    assert len(scene(client, 0.0).conflicts) == 0


def test_a_simulated_motion_is_shown_while_it_is_received(client):
    assert scene(client, 0.0).motion is None
    client.receive_lines(np.empty((0, 2, 3)), np.ones((4, 3)))
    client.receive_motion([0.1] * 6, 1.0)
    shown = scene(client, 1.1)
    assert shown.motion.tolist() == [0.1] * 6
    assert shown.motion_path.shape == (4, 3)
    client.receive_lines(np.empty((0, 2, 3)), np.empty((0, 3)))
    assert scene(client, 2.0).motion is None
    assert len(scene(client, 2.0).motion_path) == 0
    with pytest.raises(InvalidValueError, match="motion"):
        client.receive_motion([float("nan")], 2.0)


def test_a_conflict_is_noted_once_while_the_arm_comes_nearer_to_it(client):
    def receive(kind, subject, text, now):
        status = SimulationStatus(conflicts=1, conflict_kind=kind, conflict_subject=subject, conflict=text)
        client.receive_simulation(status, now)

    for depth, point in ((3, 7), (4, 8), (5, 9)):
        receive(4, "link6_0 and box", f"collision: link6_0 and box, {depth} mm, point {point}", 0.1 * point)
    assert len(texts(client)) == 1
    receive(4, "link6_0 and post", "collision: link6_0 and post, 5 mm, point 9", 1.0)
    assert len(texts(client)) == 2
    receive(5, "", "out of reach, point 12, plan time 0.3 s", 2.0)
    assert texts(client)[-1].startswith("conflict ahead: out of reach")


def test_a_path_that_is_not_examined_for_collisions_is_told_once_and_shown(client):
    waits = SimulationStatus(conflict="collisions are not examined: the planner is loading")
    for now in (0.1, 0.2):
        client.receive_queue(QueueStatus(), now)
        client.receive_simulation(waits, now)
    assert texts(client).count(waits.conflict) == 1
    assert [row.text for row in view(client, 0.2).rows if row.label == "conflicts"] == [waits.conflict]
    client.receive_simulation(SimulationStatus(), 0.3)
    assert not [row for row in view(client, 0.3).rows if row.label == "conflicts"]


def test_a_kind_of_conflict_that_the_message_does_not_know_is_rejected():
    with pytest.raises(InvalidValueError, match="conflict_kind"):
        SimulationStatus(conflict_kind=9)
