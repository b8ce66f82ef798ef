"""Two arms in two namespaces under one decision unit: real processes, parallel commands, errors of one and of all."""

import os
import shutil
import signal
import subprocess
from functools import partial

import numpy as np
import pytest
from two_arm_skills import BRING, MEET

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.graph import Qos
from telerobot_nodes.runtime import GraphOptions, Supervisor, node_environment
from telerobot_nodes.runtime.launching import node_command

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(400)]

START_LIMIT = 150.0  # [s]
WITHOUT = ("rtc_decision_unit", "bag_recorder", "cspace_planner")
ARMS = ("left", "right")


@pytest.fixture(scope="module")
def two_arms(tmp_path_factory):
    """A graph for each arm; one decision unit for both, whose process it is."""
    lines = []
    skills = tmp_path_factory.mktemp("skills") / "rtc"
    shutil.copytree(share_path("config/rtc"), skills)
    for name, text in (("bring", BRING), ("meet", MEET)):
        (skills / "skills" / f"{name}.yaml").write_text(text)
    graphs = [
        Supervisor(GraphOptions("robot", namespace=name, without=WITHOUT), on_line=lambda *line: lines.append(line))
        for name in ARMS
    ]
    unit = None
    try:
        for graph in graphs:
            graph.start()
        command = node_command("rtc_decision_unit", GraphOptions("robot"))
        command += ["-p", "arms:=left_arm=left,right_arm=right", "-p", f"folder:={skills}"]
        unit = subprocess.Popen(command, env=node_environment(os.environ))
        assert all(graph.wait_ready(START_LIMIT) for graph in graphs), lines
        yield unit
    finally:
        if unit is not None:
            unit.send_signal(signal.SIGINT)
            unit.wait(30.0)
        for graph in graphs:
            graph.stop()


@pytest.fixture
def robot(two_arms):
    from telerobot_nodes.nodes.clients import CommandClient

    with CommandClient(name="test") as client:
        assert client.wait_until(lambda: both_known(client), 60.0)
        yield client


def both_known(client):
    text = client.ask("show database").text
    return all(f"{name}_arm.joints" in text for name in ARMS)


def move(robot, arm, way="up"):
    return robot.begin(f"move {arm}_arm by 4 cm {way} speed 0.02")


def watch_halts(robot):
    """Whether each arm is halted, as its loop reports."""
    from telerobot.msg import ControlState
    from telerobot_nodes.nodes.framework import qos_profile

    halted = {}
    for arm in ARMS:
        topic = f"/{arm}/gcmsf_control/state"
        keep = partial(lambda arm, message: halted.__setitem__(arm, message.halted), arm)
        robot.node.create_subscription(ControlState, topic, keep, qos_profile(Qos.STATE))
    assert robot.wait_until(lambda: len(halted) == 2, 20.0)
    return halted


def watch_tools(robot):
    """Times [s] and tool positions (3,) of each arm, as its joints are measured."""
    from sensor_msgs.msg import JointState

    from telerobot_nodes.nodes.framework import qos_profile

    model, ways = load_robot("arm"), {arm: [] for arm in ARMS}

    def keep(arm, message):
        ways[arm].append((robot.now(), model.forward(np.array(message.position)).translation.copy()))

    for arm in ARMS:
        robot.node.create_subscription(JointState, f"/{arm}/joint_states", partial(keep, arm), qos_profile(Qos.STATE))
    assert robot.wait_until(lambda: all(ways.values()), 20.0)
    return ways


def press_estop(robot, arm, name):
    """Call a service of the arm's hardware."""
    from std_srvs.srv import Trigger

    client = robot.node.create_client(Trigger, f"/{arm}/hardware_interface/{name}")
    assert robot.wait_until(client.service_is_ready, 20.0)
    future = client.call_async(Trigger.Request())
    assert robot.wait_until(future.done, 20.0)
    assert future.result().success


def test_both_arms_move_at_the_same_time(robot):
    numbers = [move(robot, arm) for arm in ARMS]
    reports = [robot.end(number, 60.0) for number in numbers]
    assert [report.outcome for report in reports] == ["succeeded", "succeeded"], [r.reason for r in reports]
    assert all(report.elapsed > 2.0 for report in reports)  # 4 cm at 2 cm/s; begun within one message of each other


def test_one_command_moves_one_arm_then_the_other(robot):
    """[JPL-RTC] section 5: two arms and the camera, coordinated in one command, as the joints are measured."""
    ways = watch_tools(robot)
    report = robot.run("meet at dock with left_arm and right_arm speed 0.3", limit=120.0)
    assert report.outcome == "succeeded", f"{report.step}: {report.reason}"
    heights = {arm: way[-1][1][2] for arm, way in ways.items()}
    assert heights["left"] == pytest.approx(0.52, abs=0.005)  # 0.30 m over the dock
    assert heights["right"] == pytest.approx(0.42, abs=0.005)
    arrived = next(time for time, tool in ways["left"] if abs(tool[2] - 0.47) < 0.005 and abs(tool[0] - 0.66) < 0.01)
    right = np.array([tool for time, tool in ways["right"] if time < arrived])
    assert np.all(np.linalg.norm(right - right[0], axis=1) < 0.002)  # the second waits for the first


def test_an_error_ends_its_own_command_alone(robot):
    right = move(robot, "right", "down")
    failed = robot.run("move left_arm to (3, 0, 0)", limit=60.0)
    assert failed.outcome in ("failed", "refused"), failed.reason
    assert robot.end(right, 60.0).outcome == "succeeded"


def test_texts_halt_the_arms_they_mean_while_the_decision_unit_hangs(robot, two_arms):
    from telerobot.msg import Command, LinkStamp
    from telerobot_nodes.nodes.framework import qos_profile

    halted = watch_halts(robot)
    texts = robot.node.create_publisher(Command, "/rtc_decision_unit/commands", qos_profile(Qos.COMMAND))
    assert robot.wait_until(lambda: texts.get_subscription_count() == 3, 20.0)
    two_arms.send_signal(signal.SIGSTOP)
    try:
        for number, (text, expected) in enumerate([("halt right_arm", (False, True)), ("STOP", (True, True))]):
            texts.publish(Command(link=LinkStamp(sender="ana", number=number + 1), sender="ana", text=text))
            assert robot.wait_until(lambda wanted=expected: (halted["left"], halted["right"]) == wanted, 20.0), halted
    finally:
        two_arms.send_signal(signal.SIGCONT)
    assert robot.wait_until(lambda: robot.ask("reset").ok and not any(halted.values()), 30.0), halted
    assert robot.run("move right_arm by 1 cm up speed 0.02", limit=60.0).ok


def test_an_e_stop_of_one_arm_ends_all_commands_until_it_is_reset(robot):
    left, right = move(robot, "left", "down"), move(robot, "right")
    robot.wait_until(lambda: False, 0.7)
    press_estop(robot, "left", "estop")
    ends = [robot.end(number, 30.0) for number in (left, right)]
    assert [end.outcome for end in ends] == ["failed", "halted"], [end.reason for end in ends]
    assert all("global error" in end.reason for end in ends)
    refused = robot.run("move right_arm by 1 cm up", limit=30.0)
    assert (refused.outcome, "not reset" in refused.reason) == ("refused", True)
    press_estop(robot, "left", "reset")
    assert robot.ask("reset").ok
    assert robot.run("move right_arm by 1 cm up speed 0.02", limit=60.0).ok
