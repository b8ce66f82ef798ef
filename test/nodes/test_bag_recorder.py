"""The recorder as a node: what is on the graph is in the bag, byte for byte, and the bag is valid after a stop."""

import time

import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState

from telerobot.msg import ExecutedPoints
from telerobot_nodes import graph
from telerobot_nodes.core.config import STATE_VARIABLE, NodeOptions
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.tools.bag_recorder import BagRecorderNode, default_folder, recorded_topics
from telerobot_nodes.operator.recording import BagReader


def test_messages_of_both_kinds_of_topic_are_recorded(ros, tmp_path):
    folder = tmp_path / "run" / "bag"
    recorder = ros.add(BagRecorderNode(NodeOptions("bag_recorder", graph="demo", bag=folder)))
    reports = ros.probe.create_publisher(
        ExecutedPoints, "plan_executor/executed", qos_profile(graph.topic("plan_executor/executed").qos)
    )
    joints = ros.probe.create_publisher(JointState, "joint_states", qos_profile(graph.topic("joint_states").qos))
    assert ros.until(lambda: reports.get_subscription_count() and joints.get_subscription_count())
    unmatched = ExecutedPoints()  # seen by the writer only, until one arrives: the reader may match later
    assert ros.until(lambda: reports.publish(unmatched) or recorder.health().values["written"] > 0)
    for number in range(1, 101):
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


def test_the_default_folder_is_named_by_time_and_never_reused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    at = time.struct_time((2026, 11, 21, 8, 0, 5, 5, 325, 0))
    names = []
    for _ in range(3):
        folder = default_folder(at)
        names.append(str(folder))
        folder.mkdir(parents=True)
    assert names == ["runs/20261121-080005/bag", "runs/20261121-080005_2/bag", "runs/20261121-080005_3/bag"]
