"""Bad input from anywhere: a clear refusal that names field and value; queue and loop go on untouched."""

import math
import os
import subprocess

import pytest

from telerobot_nodes.runtime import node_environment
from telerobot_nodes.runtime.forking import ForkServer
from telerobot_nodes.runtime.launching import telerobot_command

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

NAN = math.nan


def pose(frame="world", x=0.5, y=0.0, z=0.5, qw=1.0):
    from geometry_msgs.msg import PoseStamped

    message = PoseStamped()
    message.header.frame_id = frame
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, q.w = x, y, z, qw
    return message


def twist(frame="world", x=0.0):
    from geometry_msgs.msg import TwistStamped

    message = TwistStamped()
    message.header.frame_id = frame
    message.twist.linear.x = x
    return message


BAD_COMMANDS = {
    "pose with NaN": ("path_plan_queue/pose_target_cmds", lambda: pose(x=NAN), "pose"),
    "pose with infinity": ("path_plan_queue/pose_target_cmds", lambda: pose(z=math.inf), "pose"),
    "pose with a quaternion of length 2": ("path_plan_queue/pose_target_cmds", lambda: pose(qw=2.0), "orientation"),
    "pose in an unknown frame": ("path_plan_queue/pose_target_cmds", lambda: pose("moon"), "moon"),
    "twist with NaN": ("path_plan_queue/delta_twist_cmds", lambda: twist(x=NAN), "twist"),
    "twist in an unknown frame": ("path_plan_queue/delta_twist_cmds", lambda: twist("moon"), "moon"),
}


@pytest.mark.parametrize("case", BAD_COMMANDS)
def test_a_bad_command_is_refused_by_name_and_the_plan_stays(terminal, case):
    topic, make, word = BAD_COMMANDS[case]
    assert terminal.wait_for(lambda c: c.queue.head_seq > 0, 20.0)  # the plan has begun, by itself
    before = terminal.operator.queue
    publisher = terminal.publisher(topic)

    def refused_by_name(c):
        # said until it was heard: nothing tells which of the listeners were found; other refusals may follow late
        return publisher.publish(make()) or (c.queue.refused > before.refused and word in c.queue.notice)

    assert terminal.wait_for(refused_by_name, 20.0), terminal.operator.queue.notice
    after = terminal.operator.queue
    assert (after.head_seq, after.length) == (before.head_seq, before.length)


BAD_CONTROLS = {
    "time ratio above its range": ("time_ratio", {"value": 99.0}, "time_ratio"),
    "linear scale below its range": ("linear_scale", {"value": -1.0}, "linear_scale"),
    "angular scale that is no number": ("angular_scale", {"value": NAN}, "angular_scale"),
    "time ratio that is no number": ("time_ratio", {"value": NAN}, "time_ratio"),
    "pace of zero": ("rate", {"value": 0.0}, "rate"),
    "gripper wider than any": ("gripper", {"value": 0.5}, "gripper"),
    "gripper that is no number": ("gripper", {"value": NAN}, "gripper"),
    "brake faster than allowed": ("brake", {"value": 1e6}, "brake_rate"),
    "brake forward": ("brake", {"value": -1.0}, "brake_rate"),
    "consent when nobody asks": ("grant_control", {}, "no request"),
    "refusal when nobody asks": ("refuse_control", {}, "no request"),
    "request by who is in control": ("request_control", {}, "this agent has it"),
}


NIGHTLY = ("time ratio that is no number", "pace of zero", "gripper that is no number", "brake forward")


def answer_of(terminal, name, **fields):
    from telerobot_nodes import graph
    from telerobot_nodes.nodes.framework import interface_class

    service = f"path_plan_queue/{name}"
    client = terminal.client(service)
    assert terminal.wait_for(lambda _: client.service_is_ready(), 20.0)
    future = client.call_async(interface_class(graph.service(service).type).Request(**fields))
    assert terminal.wait_for(lambda _: future.done(), 20.0)
    return future.result()


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.nightly] * (case in NIGHTLY)) for case in BAD_CONTROLS]
)
def test_a_control_that_cannot_be_is_refused_by_name_and_the_plan_stays(terminal, case):
    name, fields, word = BAD_CONTROLS[case]
    before = terminal.operator.queue
    answer = answer_of(terminal, name, **fields)
    assert not answer.success
    assert word in answer.message
    after = terminal.operator.queue
    assert (after.head_seq, after.time_ratio, after.brake_rate) == (before.head_seq, before.time_ratio, 0.0)


@pytest.mark.nightly
def test_the_shell_waits_for_the_robot_and_tells_its_refusal(terminal):
    """The queue has only sent it on: "sent" is not done."""
    reset, resume = (
        subprocess.run([*telerobot_command(), word], capture_output=True, text=True, timeout=90, check=False)
        for word in ("reset", "resume")
    )
    assert (reset.returncode, reset.stdout) == (1, "")
    assert "reset: the robot refused it: " in reset.stderr
    assert "'RESET' is not allowed" in reset.stderr
    assert (resume.returncode, resume.stdout) == (0, "resume: confirmed by the robot; it is idle\n"), resume.stderr


def test_engaging_the_position_clutch_with_an_empty_trial_path_joins_nothing_and_says_so(terminal):
    head = terminal.operator.queue.head_seq
    assert answer_of(terminal, "position_clutch", data=False).success
    joined = answer_of(terminal, "position_clutch", data=True)
    assert joined.success
    assert "nothing joined" in joined.message
    assert terminal.wait_for(lambda c: c.queue.position_clutch and c.queue.head_seq == head, 10.0)


def test_a_target_out_of_reach_is_held_and_said(terminal):
    from telerobot_nodes.core.protocol import DeviceState

    publisher = terminal.publisher("path_plan_queue/pose_target_cmds")
    assert terminal.wait_for(lambda _: publisher.get_subscription_count() > 0, 10.0)
    home = terminal.operator.queue.target_pose

    def far_until_held(client):
        message = pose(x=home[0], y=home[1], z=home[2] + 5.0)
        q = message.pose.orientation
        q.x, q.y, q.z, q.w = (float(v) for v in home[3:])
        publisher.publish(message)
        return client.queue.device is DeviceState.HELD

    assert terminal.wait_for(far_until_held, 20.0)
    assert "reach" in terminal.operator.queue.notice
    assert terminal.operator.robot.tool_pose[2] < home[2] + 1.0


def test_operations_with_bad_points_are_refused_by_the_robot_and_change_nothing(terminal):
    from telerobot.msg import PlanOperation, PlanOperations, PlanPoints
    from telerobot_nodes.nodes.messages import doubles
    from telerobot_nodes.nodes.messages.convert import octets

    tail = terminal.operator.robot.tail_seq
    publisher = terminal.publisher("plan_executor/operations")
    assert terminal.wait_for(lambda _: publisher.get_subscription_count() > 1, 10.0)  # recorder and link
    points = PlanPoints(
        first_seq=tail + 1, time=doubles([1e6]), pose=doubles([NAN, 0, 0, 0, 0, 0, 1]), timing=octets([0]), author="x"
    )
    operation = PlanOperation(epoch=1, number=1, kind=PlanOperation.APPEND, agent="x", points=points)

    def refused(_):
        """Said until the robot tells of it: nothing tells that the link has found this publisher."""
        publisher.publish(PlanOperations(operations=[operation]))
        diagnostics = terminal.diagnostics({"plan_executor"}, 2.0).get("plan_executor", {})
        return "points.pose" in diagnostics.get("last_refusal", "")

    assert terminal.wait_for(refused, 30.0)
    assert terminal.operator.robot.tail_seq == tail


def test_a_bad_setpoint_never_reaches_the_arm(terminal):
    from telerobot.msg import HardwareState, JointSetpoint
    from telerobot_nodes.nodes.messages import doubles

    states = []
    terminal.subscribe("hardware_interface/state", states.append)
    publisher = terminal.publisher("hardware_interface/setpoint")
    assert terminal.wait_for(lambda _: bool(states) and publisher.get_subscription_count() > 0, 10.0)
    refused = states[-1].refused
    wrong = {"position": doubles([NAN] * 6), "velocity": doubles([0] * 6), "acceleration": doubles([0] * 6)}

    def refused_for_it(_):
        """A stream of which only the newest counts: sent until it was the newest."""
        publisher.publish(JointSetpoint(number=1, monotonic=terminal.now(), gripper=-1.0, **wrong))
        return states[-1].refused > refused and "setpoint.position" in states[-1].refusal

    assert terminal.wait_for(refused_for_it, 20.0), states[-1].refusal
    assert states[-1].state in (HardwareState.READY, HardwareState.HOLDING)


BAD_FILES = {
    "NaN": ("path_plan_queue:\n  ros__parameters:\n    free_speed: .nan\n", "free_speed"),
    "unknown key": ("path_plan_queue:\n  ros__parameters:\n    fre_speed: 0.1\n", "fre_speed"),
    "key given twice": ("path_plan_queue:\n  ros__parameters:\n    capacity: 600\n    capacity: 700\n", "capacity"),
    "wrong type": ("path_plan_queue:\n  ros__parameters:\n    capacity: many\n", "capacity"),
    "out of range": ("path_plan_queue:\n  ros__parameters:\n    sample_period: 5.0\n", "sample_period"),
    "wrong node name": ("path_plan_qeue:\n  ros__parameters:\n    capacity: 600\n", "path_plan_qeue"),
    "not YAML": ("path_plan_queue: [\n", "YAML"),
}


@pytest.fixture(scope="module")
def run_node():
    """Runs a node as the supervisor starts it; its exit code and output. It ends by itself, for it is refused."""
    environment = node_environment(os.environ)
    server = ForkServer(environment)
    assert server.is_loaded(60.0)

    def run(*arguments):
        process = server.start(("telerobot", "run", *arguments), environment)
        output = process.stdout.read()
        return process.wait(), output

    yield run
    server.close()


@pytest.mark.parametrize("case", BAD_FILES)
@pytest.mark.brief(1)
def test_a_malformed_parameter_file_is_refused_with_file_line_and_key(run_node, tmp_path, case):
    text, key = BAD_FILES[case]
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    code, output = run_node("path_plan_queue", "--params", str(file))
    assert code == 2, output
    assert f"{file}:" in output
    assert key in output


def test_an_unknown_arm_is_refused_with_the_known_ones(run_node):
    code, output = run_node("hardware_interface", "--robot", "nosuch")
    assert code == 2, output
    assert "nosuch" in output
    assert "panda" in output


@pytest.mark.parametrize("text", ["<robot", "<robot name='x'></robot>", "not xml at all"])
@pytest.mark.brief(1)
def test_a_malformed_urdf_is_refused(run_node, tmp_path, text):
    file = tmp_path / "bad.urdf"
    file.write_text(text)
    code, output = run_node("hardware_interface", "--robot", str(file))
    assert code == 2, output
    assert "bad.urdf" in output
