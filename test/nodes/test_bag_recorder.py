"""The recorder as a node: what is on the graph is in the bag, byte for byte, and the bag is valid after a stop."""

import shutil
import time
from collections import namedtuple

import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState

from telerobot.msg import ExecutedPoints, RecorderState
from telerobot.srv import SetRecording
from telerobot_nodes import graph
from telerobot_nodes.core.config import STATE_VARIABLE, NodeOptions
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.tools.bag_recorder import BagRecorderNode, recorded_topics
from telerobot_nodes.operator.recording import BagReader

Usage = namedtuple("Usage", "total used free")


def test_messages_of_both_kinds_of_topic_are_recorded_in_order_over_a_step_of_the_clock(ros, tmp_path, monkeypatch):
    folder = tmp_path / "run" / "bag"
    recorder = ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", bag=folder)))
    reports = ros.probe.create_publisher(
        ExecutedPoints, "plan_executor/executed", qos_profile(graph.topic("plan_executor/executed").qos)
    )
    joints = ros.probe.create_publisher(JointState, "joint_states", qos_profile(graph.topic("joint_states").qos))
    assert ros.until(lambda: reports.get_subscription_count() and joints.get_subscription_count())
    unmatched = ExecutedPoints()  # seen by the writer only, until one arrives: the reader may match later
    assert ros.until(lambda: reports.publish(unmatched) or recorder.health().values["written"] > 0)
    wall, recorded = time.time_ns, recorder.health().values["written"]
    for number in range(1, 101):
        if number == 51:
            assert ros.until(lambda: recorder.health().values["written"] >= recorded + 50)
            monkeypatch.setattr(time, "time_ns", lambda: wall() - 3600 * 10**9)
        reports.publish(ExecutedPoints(first_seq=number, last_seq=number))
    before = recorder.health().values["written"]
    assert ros.until(
        lambda: joints.publish(JointState(position=[0.25])) or recorder.health().values["written"] > before + 150
    )
    ros.deactivate(recorder)
    assert recorder.health().values["dropped"] == 0
    with BagReader(folder) as bag:
        assert set(bag.topics) >= {f"/{entry.name}" for entry in graph.TOPICS}
        assert set(bag.topics) >= {f"/{OPERATOR_SIDE}{entry.name}" for entry in graph.crossing()}
        numbers = [m.last_seq for _, _, m in bag.messages(["/plan_executor/executed"])]
        assert [number for number in numbers if number] == list(range(1, 101))
        assert next(iter(bag.messages(["/joint_states"])))[2].position[0] == 0.25


def test_a_recorder_that_is_started_again_in_the_same_run_goes_on_beside(ros, tmp_path, monkeypatch):
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    folder = tmp_path / "bag"
    for number, name in enumerate(("bag", "bag_2", "bag_3")):
        recorder = ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", bag=folder)))
        assert (tmp_path / name).exists() and len(list(tmp_path.glob("bag*"))) == number + 1
        ros.deactivate(recorder)
    (tmp_path / "recording_begun").unlink()  # another run: a folder that is there stays as it is
    recorder = ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", bag=folder)))
    assert "bag" in recorder.failure and len(list(tmp_path.glob("bag*"))) == 3


def test_only_an_emulated_link_has_two_sides():
    assert set(recorded_topics("demo")) == set(recorded_topics("operator", with_hosts=True))
    assert set(recorded_topics("robot", with_hosts=True)) == set(recorded_topics("robot"))
    assert set(recorded_topics("demo")) - set(recorded_topics("robot")) == {
        OPERATOR_SIDE + name for name in graph.operator_side()
    }


@pytest.fixture
def states(ros):
    """States of the recorder, as its operator receives them."""
    seen = []
    qos = qos_profile(graph.topic("bag_recorder/state").qos)
    ros.probe.create_subscription(RecorderState, "bag_recorder/state", seen.append, qos)
    return seen


def record(ros, on, folder=""):
    return ros.call(SetRecording, "bag_recorder/record", on=on, folder=str(folder))


def test_recordings_begin_and_end_on_request_and_the_state_says_so(ros, tmp_path, states):
    ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", bag=tmp_path / "bag")))
    assert ros.until(lambda: states and states[-1].recording and states[-1].written > 0)
    assert states[-1].folder == str(tmp_path / "bag") and states[-1].free > states[-1].reserve > 0
    ended = record(ros, False)
    assert (ended.success, ended.folder) == (True, str(tmp_path / "bag"))
    with BagReader(tmp_path / "bag") as bag:
        assert bag.counts["/bag_recorder/state"] > 0
    assert ros.until(lambda: not states[-1].recording)
    again = record(ros, False)
    assert not again.success and "allowed: while a recording is open" in again.message
    there = record(ros, True, tmp_path / "bag")
    assert not there.success and f"bag: '{tmp_path / 'bag'}' is not allowed; allowed: a folder" in there.message
    named = tmp_path / "named" / "run"
    assert [record(ros, True, named).folder, record(ros, False).folder] == [str(named)] * 2
    assert record(ros, True).folder == str(tmp_path / "bag_2")
    assert ros.until(lambda: states[-1].recording and states[-1].folder == str(tmp_path / "bag_2"))
    assert record(ros, False).success


def test_a_recorder_that_comes_back_does_what_was_asked_last(ros, tmp_path, states, monkeypatch):
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    options = NodeOptions("bag_recorder", graph="demo", bag=tmp_path / "bag")
    first = ros.add(BagRecorderNode(options))
    assert record(ros, False).success
    ros.deactivate(first)
    states.clear()
    ros.add(BagRecorderNode(options))
    assert ros.until(lambda: states and not states[-1].recording)
    assert not (tmp_path / "bag_2").exists()


def test_by_its_parameter_it_waits_until_it_is_asked(ros, tmp_path, states):
    file = tmp_path / "params.yaml"
    file.write_text("bag_recorder:\n  ros__parameters:\n    record_at_start: false\n")
    ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", params=file, bag=tmp_path / "bag")))
    assert ros.until(lambda: states and not states[-1].recording and not states[-1].failure)
    assert not (tmp_path / "bag").exists()
    assert record(ros, True).folder == str(tmp_path / "bag")


def test_a_full_disk_at_the_start_is_shown_and_ends_nothing(ros, tmp_path, states, monkeypatch):
    real, full = shutil.disk_usage, Usage(1, 1, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full or real(path))
    recorder = ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", bag=tmp_path / "bag")))
    assert ros.until(lambda: states and "0 are free" in states[-1].failure)
    assert not recorder.failure and not states[-1].recording
    full = None
    assert record(ros, True).success
    assert ros.until(lambda: states[-1].recording and not states[-1].failure)
