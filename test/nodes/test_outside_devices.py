"""Sensors and cameras of a workcell file: other people's topics and services, read by the decision unit over DDS."""

import math
import shutil

import pytest

pytest.importorskip("rclpy")

from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool

from telerobot.msg import CommandReport, Obstacle, Obstacles
from telerobot.srv import SubmitCommand
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions, share_path
from telerobot_nodes.nodes.decision.rtc_decision_unit import RtcDecisionUnitNode
from telerobot_nodes.nodes.framework import qos_profile

DEVICES = """\
sensors:
  scale: {topic: /cell/mass, type: std_msgs/msg/Float64, field: data, factor: 0.001, fresh: 1.0}
  label: {topic: /cell/label, type: std_msgs/msg/String, field: data, fresh: 60.0}
  latch: {service: /cell/door, type: std_srvs/srv/SetBool, field: success}
cameras: {camera: {}, wrist_camera: {topic: /cell/objects}}"""
SKILL = """\
skill: {verb}
doc: Read a device.
verbs: [{verb}]
takes: {{object: objects}}
performer: none
uses: [object]
scripts:
  read:
    - {{step: read, do: read_sensor, parameters: {{sensor: "'{sensor}'"}}, table: reading,
       writes: {{"{{object}}.mass": {{value: measured.value}}}}}}
"""
GONE = Obstacle(name="module", operation=Obstacle.REMOVE)
HERE = [0.5, 0.1, 0.2, 0.0, 0.0, 0.0, 1.0]


class Cell:
    """The decision unit with three sensors and a second camera, and what it reports."""

    def __init__(self, ros, folder):
        shutil.copytree(share_path("config/rtc"), folder / "rtc")
        workcell = folder / "rtc" / "workcell.yaml"
        workcell.write_text(workcell.read_text().replace("cameras: {camera: {}}", DEVICES))
        for verb, sensor in (("weigh", "scale"), ("spell", "label"), ("enquire", "latch")):
            (folder / "rtc" / "skills" / f"{verb}.yaml").write_text(SKILL.format(verb=verb, sensor=sensor))
        params = folder / "params.yaml"
        params.write_text(f"rtc_decision_unit: {{ros__parameters: {{folder: {folder / 'rtc'}}}}}\n")
        self.ros, self.ended = ros, {}
        profile = qos_profile(graph.topic("rtc_decision_unit/reports").qos)
        ros.probe.create_subscription(CommandReport, "rtc_decision_unit/reports", self._on_report, profile)
        self.unit = ros.add(RtcDecisionUnitNode(NodeOptions("rtc_decision_unit", params=params)))

    def _on_report(self, message):
        if message.kind == CommandReport.ENDED:
            self.ended[message.command] = message

    def run(self, text):
        answer = self.ros.call(SubmitCommand, "rtc_decision_unit/submit", sender="test", text=text)
        assert answer.success, answer.message
        assert self.ros.until(lambda: answer.command in self.ended), text
        return self.ended[answer.command]

    def until_run(self, text, outcome):
        """Run it again until it ends so: what is published has to come first."""
        reports = []
        assert self.ros.until(lambda: reports.append(self.run(text)) or reports[-1].outcome == outcome), reports[-1]
        return reports[-1]

    def publish(self, kind, topic, message):
        """Publish it ten times a second."""
        publisher = self.ros.probe.create_publisher(kind, topic, 10)
        return self.ros.probe.create_timer(0.1, lambda: publisher.publish(message))


@pytest.fixture
def cell(ros, tmp_path):
    return Cell(ros, tmp_path)


def test_a_sensor_on_a_topic_is_read_while_it_is_fresh(cell, ros):
    silent = cell.run("weigh module")
    assert (silent.outcome, "/cell/mass is silent" in silent.reason) == ("failed", True), silent.reason
    timer = cell.publish(Float64, "/cell/mass", Float64(data=1250.0))
    cell.until_run("weigh module", "succeeded")
    assert cell.unit.host.interface.database.view.read("module.mass") == 1.25
    ros.probe.destroy_timer(timer)
    late = cell.until_run("weigh module", "failed")
    assert "the last message is" in late.reason


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_no_reading(cell, value):
    cell.publish(Float64, "/cell/mass", Float64(data=value))
    cell.publish(String, "/cell/label", String(data="1.5"))
    reports = []
    assert cell.ros.until(lambda: reports.append(cell.run("weigh module").reason) or "no finite" in reports[-1])
    assert cell.ros.until(lambda: reports.append(cell.run("spell module").reason) or "no finite" in reports[-1])
    assert cell.unit.host.interface.database.view.read("module.mass") == 0.8


def test_a_sensor_behind_a_service_is_asked(cell, ros):
    nobody = cell.run("enquire module")
    assert (nobody.outcome, "nobody serves /cell/door" in nobody.reason) == ("failed", True), nobody.reason

    def answer(_, response):
        response.success = True
        return response

    ros.probe.create_service(SetBool, "/cell/door", answer)
    cell.until_run("enquire module", "succeeded")
    assert cell.unit.host.interface.database.view.read("module.mass") == 1.0


def test_a_second_camera_sees_what_its_own_topic_shows(cell):
    assert "not in sight" in cell.run("locate module with wrist_camera").reason
    shown = Obstacles(obstacles=[Obstacle(name="x", pose=[math.nan] * 7), Obstacle(name="module", pose=HERE)])
    cell.publish(Obstacles, "/cell/objects", shown)
    cell.until_run("locate module with wrist_camera", "succeeded")
    assert list(cell.unit.host.interface.database.view.read("module.pose")) == pytest.approx(HERE)
    assert "not in sight" in cell.run("locate module with camera").reason  # the other one sees nothing


@pytest.mark.parametrize("told", [{"replace": True}, {"obstacles": [GONE]}], ids=["replace", "remove"])
def test_a_camera_forgets_what_it_is_told_to_remove(cell, ros, told):
    latched = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    publisher = ros.probe.create_publisher(Obstacles, "/cell/objects", latched)
    shown = Obstacles(obstacles=[Obstacle(name="module", pose=HERE)])
    timer = ros.probe.create_timer(0.1, lambda: publisher.publish(shown))
    cell.until_run("locate module with wrist_camera", "succeeded")
    ros.probe.destroy_timer(timer)
    publisher.publish(Obstacles(**told))
    camera = cell.unit._subsystems._cameras["wrist_camera"]
    assert ros.until(lambda: "module" not in camera._seen)
    assert "not in sight" in cell.run("locate module with wrist_camera").reason
