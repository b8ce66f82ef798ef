from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ControlMode, ExecutorMode
from telerobot_nodes.operator.client import (
    InputStatus,
    LinkSetting,
    OperatorClient,
    Outcome,
    QueueStatus,
    RecorderStatus,
    Result,
    RobotStatus,
    SimulationStatus,
    Tone,
    commands,
)
from telerobot_nodes.operator.view import Light, scene, view
from telerobot_nodes.operator.view.rows import seconds, size


class SilentPort:
    def call(self, command, answer):
        self.answer = answer

    def halt(self, number, reason):
        pass

    def estop(self, number, reason):
        pass

    def stream(self, target):
        pass


@pytest.fixture
def client():
    return OperatorClient(SilentPort())


def running(client, now=10.0, **queue):
    client.receive_robot(RobotStatus(mode=ExecutorMode.RUNNING, executed_seq=5, joint_position=np.zeros(6)), now)
    client.receive_queue(QueueStatus(lead=7.4, time_clutch=True, round_trip=2.04, **queue), now)
    client.receive_simulation(SimulationStatus(lead=7.4, head_position=np.ones(6)), now)
    return view(client, now)


def row(seen, label):
    return next(entry for entry in seen.rows if entry.label == label)


def test_before_any_report_the_banner_says_that_there_is_no_data(client):
    seen = view(client, 3.0)
    assert (seen.banner.text, seen.banner.tone) == ("NO ROBOT DATA YET", Tone.WARN)
    assert seen.controls.time_clutch is None


def test_the_lead_is_shown_in_seconds(client):
    assert row(running(client), "lead").text == "7.4 s"


@pytest.mark.parametrize(
    ("time", "position", "text"),
    [
        (True, True, "in time and position"),
        (False, True, "in position, not in time"),
        (True, False, "neither: trial path"),
        (False, False, "neither: trial path"),
    ],
)
def test_the_three_display_modes_follow_from_the_clutches(client, time, position, text):
    client.receive_queue(QueueStatus(time_clutch=time, position_clutch=position), 10.0)
    assert row(view(client, 10.0), "synchronised").text == text


@pytest.mark.parametrize(("mode", "direct"), [(ControlMode.SHARED, True), (ControlMode.TRADED, False)])
def test_the_box_direct_shows_the_mode_in_force(client, mode, direct):
    assert running(client).controls.direct is None
    client.receive_input(InputStatus(mode=mode), 10.0)
    assert running(client).controls.direct is direct


def test_the_gripper_shown_is_what_was_asked_for_and_nothing_before(client):
    assert running(client).controls.gripper is None
    assert running(client, gripper=0.03).controls.gripper == 0.03


def test_a_collision_stop_that_is_off_stands_in_the_status(client):
    assert not any(entry.label == "collision stop" for entry in running(client).rows)
    assert running(client).controls.collision_stop
    off = running(client, stop_before_collision=False)
    assert (row(off, "collision stop").tone, off.controls.collision_stop) == (Tone.WARN, False)


def test_singularities_that_may_be_passed_stand_in_the_status(client):
    assert not any(entry.label == "singularities" for entry in running(client).rows)
    assert running(client).controls.pass_singularities is False
    passes = running(client, pass_singularities=True)
    assert (row(passes, "singularities").tone, passes.controls.pass_singularities) == (Tone.WARN, True)


def test_a_hand_that_does_not_move_the_tool_one_to_one_stands_in_the_status(client):
    labels = {entry.label for entry in running(client).rows}
    assert not labels & {"orientation clutch", "hand scale"}
    other = running(client, orientation_clutch=False, linear_scale=0.2)
    assert row(other, "orientation clutch").tone is Tone.WARN
    assert row(other, "hand scale").text == "the tool moves 0.20 and turns 1.00 times the hand"
    assert (other.controls.orientation_clutch, other.controls.linear_scale, other.controls.angular_scale) == (
        False,
        0.2,
        1.0,
    )


def test_fresh_data_is_plain_and_says_its_age_and_round_trip(client):
    entry = row(running(client), "robot data")
    assert (entry.text, entry.tone) == ("received 0.0 s ago, round trip 2.04 s", Tone.PLAIN)


@pytest.mark.parametrize(("age", "stale"), [(0.4, False), (0.5, False), (0.51, True), (3.2, True)])
def test_the_robot_is_stale_after_half_a_second_without_a_report(client, age, stale):
    running(client)
    seen = view(client, 10.0 + age)
    assert (seen.banner.tone is Tone.BAD) is stale
    assert (row(seen, "robot data").tone is Tone.BAD) is stale
    assert scene(client, 10.0 + age).robot_stale is stale


def test_a_silent_robot_is_named_with_the_time_it_is_silent(client):
    running(client)
    assert view(client, 13.2).banner.text == "ROBOT SILENT FOR 3.2 s"


def test_values_of_a_silent_queue_are_not_shown_as_in_force(client):
    running(client)
    seen = view(client, 11.0)
    assert seen.controls.time_clutch is None
    assert row(seen, "plan queue").text == "silent for 1.0 s"


def test_a_silent_simulation_draws_no_ghost(client):
    running(client)
    assert scene(client, 10.1).head is not None
    assert scene(client, 11.0).head is None


def test_an_asked_halt_says_that_it_is_not_confirmed(client):
    running(client)
    client.ask(commands.Halt(), 10.0)
    assert view(client, 10.4).banner.text == "HALT ASKED 0.4 s ago, NOT CONFIRMED"


def test_an_asked_halt_stays_visible_when_the_robot_falls_silent(client):
    running(client)
    client.ask(commands.Halt(), 10.0)
    assert view(client, 13.0).banner.text == "HALT ASKED 3.0 s ago, NOT CONFIRMED; ROBOT SILENT FOR 3.0 s"


def test_a_confirmed_halt_shows_the_robots_reason(client):
    client.receive_robot(RobotStatus(mode=ExecutorMode.HALTED, reason="halt by operator"), 10.0)
    seen = view(client, 10.1)
    assert (seen.banner.text, seen.banner.tone) == ("HALTED: halt by operator", Tone.BAD)


def test_a_latched_estop_stands_above_the_mode(client):
    client.receive_robot(RobotStatus(mode=ExecutorMode.RUNNING, estop=True), 10.0)
    assert view(client, 10.1).banner.text == "E-STOP LATCHED"


@pytest.mark.parametrize(
    ("here", "robot", "told"),
    [
        (True, {"authority": "ann", "asker": "bob"}, "bob asks: grant or refuse"),
        (True, {"authority": "ann", "asker": "bob", "waiting": ("eve", "joe")}, "grant or refuse; then eve, joe"),
        (True, {"authority": "ann", "asker": "bob", "granted": True}, "bob may take it"),
        (False, {"authority": "bob", "asker": "ann"}, "waiting for consent"),
        (False, {"authority": "bob", "asker": "ann", "granted": True}, "bring the simulated tool to the plan"),
        (False, {"authority": "bob", "asker": "ann", "granted": True, "forced": True}, "by a supervisor"),
        (False, {"authority": "bob", "asker": "eve"}, "eve asks"),
        (False, {"authority": "bob", "asker": "eve", "waiting": ("joe", "ann")}, "asked, your turn is after eve, joe"),
        (False, {"authority": "", "waiting": ("ann", "joe")}, "it is your turn"),
        (False, {"authority": "bob", "holder_silent": True}, "not here, silent"),
    ],
)
def test_the_operator_sees_who_has_the_plan_who_asks_and_what_was_granted(client, here, robot, told):
    client.receive_robot(RobotStatus(**robot), 10.0)
    client.receive_queue(QueueStatus(agent="ann", has_authority=here), 10.0)
    entry = row(view(client, 10.0), "authority")
    assert told in entry.text
    assert entry.tone is Tone.WARN


def test_authority_elsewhere_is_a_warning_that_names_the_holder(client):
    client.receive_robot(RobotStatus(authority="rtc"), 10.0)
    client.receive_queue(QueueStatus(has_authority=False), 10.0)
    entry = row(view(client, 10.0), "authority")
    assert (entry.text, entry.tone) == ("rtc, not here", Tone.WARN)


def test_a_nearly_full_queue_is_a_warning(client):
    assert row(running(client, length=950, capacity=1000), "queue").tone is Tone.WARN
    assert row(running(client, length=100, capacity=1000), "queue").tone is Tone.PLAIN


def test_a_held_device_says_why(client):
    assert row(running(client, device=2, notice="out of reach"), "device").text == "held: out of reach"


def test_a_command_that_takes_long_is_shown_as_waiting_and_then_as_answered(client):
    running(client)
    client.ask(commands.Clear(), 10.0)
    assert view(client, 10.4).notices[0].text == "delete all: waiting for the answer"
    client._port.answer(Outcome(Result.DONE, "12 points deleted"), 10.5)
    assert view(client, 10.6).notices[0].text == "delete all: 12 points deleted"


def test_the_newest_notice_comes_first_with_its_age(client):
    client.note("first", Tone.PLAIN, 1.0)
    client.note("second", Tone.PLAIN, 62.0)
    assert [(entry.label, entry.text) for entry in view(client, 64.2).notices] == [("2 s", "second"), ("63 s", "first")]


def test_the_link_in_force_is_known_only_while_the_emulator_speaks(client):
    client.receive_link(LinkSetting(1.0, 0.1, 0.02), 10.0)
    assert view(client, 11.0).controls.link == LinkSetting(1.0, 0.1, 0.02)
    assert view(client, 12.5).controls.link is None


@pytest.mark.parametrize(
    ("value", "text"), [(-1.0, "not known"), (0.04, "0.0 s"), (7.44, "7.4 s"), (63.0, "63 s"), (150.0, "2 min")]
)
def test_durations_read_as_people_say_them(value, text):
    assert seconds(value) == text


RECORDING = RecorderStatus(recording=True, duration=12.0, size=4_100_000, free=9 * 10**9, reserve=10**8)


def light(client, now):
    seen = view(client, now)
    return seen.light, row(seen, "recording").text, row(seen, "recording").tone


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({}, (Light.ON, "RECORDING 12 s, 4.1 MB", Tone.GOOD)),
        ({"dropped": 3}, (Light.ON, "RECORDING 12 s, 4.1 MB, 3 messages dropped", Tone.WARN)),
        ({"free": 6 * 10**8}, (Light.ON, "RECORDING 12 s, 4.1 MB, room for 500.0 MB more", Tone.WARN)),
        ({"recording": False}, (Light.OFF, "NOT RECORDING", Tone.PLAIN)),
        ({"recording": False, "failure": "disk full"}, (Light.FAILED, "FAILED: disk full", Tone.BAD)),
    ],
)
def test_the_recording_light_says_what_the_recorder_does(client, changed, shown):
    client.receive_recorder(replace(RECORDING, **changed), 10.0)
    assert light(client, 10.0) == shown
    assert view(client, 10.0).controls.recording is (shown[0] is Light.ON)


def test_the_light_is_not_known_before_the_first_report_and_when_reports_stay_out(client):
    assert light(client, 10.0) == (Light.UNKNOWN, "NO RECORDER REPORTS", Tone.QUIET)
    client.receive_recorder(RECORDING, 10.0)
    assert light(client, 12.0)[0] is Light.ON
    assert light(client, 14.0) == (Light.UNKNOWN, "RECORDER SILENT FOR 4.0 s: NOT KNOWN", Tone.BAD)
    assert view(client, 14.0).controls.recording is None


def test_a_recording_that_fails_becomes_a_notice_once(client):
    for now in (10.0, 11.0):
        client.receive_recorder(replace(RECORDING, recording=False, failure="disk full"), now)
    assert [notice.text for notice in client.notices] == ["recording failed: disk full"]


@pytest.mark.parametrize(("value", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e9, "2.5 GB")])
def test_sizes_have_units(value, text):
    assert size(value) == text
