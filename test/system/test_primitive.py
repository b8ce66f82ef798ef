"""A primitive on the running graph: real DDS, real processes, real contact; then the plan goes on from where it led."""

import numpy as np
import pytest

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(240),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

SUCCEEDED, STOPPED, REFUSED = 1, 2, 3


class Client:
    """Goals of the action, on the terminal's node."""

    def __init__(self, terminal):
        from telerobot.action import ExecutePrimitive

        self.terminal, self.kind = terminal, ExecutePrimitive
        self.client = terminal.action_client("gcmsf_control/execute")
        assert terminal.wait_for(lambda _: self.client.server_is_ready(), 20.0)
        self.received = []

    def send(self, name, **values):
        from telerobot.msg import PrimitiveParameters

        texts = [str(value) for value in values.values()]
        parameters = PrimitiveParameters(name=name, agent="test", keys=list(values), values=texts)
        goal = self.kind.Goal(parameters=parameters)
        handle = self.wait(
            self.client.send_goal_async(goal, lambda message: self.received.append(message.feedback.report))
        )
        assert handle.accepted
        return handle

    def wait(self, future):
        assert self.terminal.wait_for(lambda _: future.done(), 60.0)
        return future.result()

    def end(self, handle):
        return self.wait(handle.get_result_async()).result.report

    def until_nominal(self):
        self.received.clear()
        assert self.terminal.wait_for(lambda _: any(report.phase == "nominal" for report in self.received), 30.0)


@pytest.fixture
def client(terminal):
    from telerobot_nodes.operator.client import commands

    terminal.ask(commands.Resume())
    return Client(terminal)


def relative(z, speed):
    return {"tr_rel_dest": [0, 0, z, 0, 0, 0, 1], "time_vel_sel": "velocity", "time_vel_val": speed}


@pytest.mark.nightly
def test_a_touch_a_halt_and_the_plan_goes_on_from_where_the_arm_is(terminal, client):
    from telerobot_nodes.core.protocol import ExecutorMode
    from telerobot_nodes.operator.client import commands

    start = terminal.operator.queue.target_pose.copy()
    touched = client.end(client.send("move_to_touch", **relative(0.4, 0.1), acc_time=0.5, max_force_thres=10.0))
    assert (touched.state, touched.reason) == (SUCCEEDED, "touched"), touched.detail
    readings = dict(zip(touched.reading_names, touched.readings, strict=True))
    assert readings["touch_force"] > 10.0
    assert start[2] - touched.tool_pose[2] > 0.1  # it went down to the board, along the tool's axis

    # the plan begins again where the arm is, without anybody's help
    assert terminal.wait_for(lambda c: np.abs(c.queue.target_pose[:3] - touched.tool_pose[:3]).max() < 0.01, 20.0)

    bad = client.end(client.send("gcm", comply_vect=[1, 0, 0, 0, 0, 0], sel_vect_fc=[1, 0, 0, 0, 0, 0]))
    assert (bad.state, bad.reason) == (REFUSED, "refused")
    assert "comply_vect[0]" in bad.detail

    handle = client.send("cartesian_guarded", **relative(-0.15, 0.05), max_force_thres=0.0, max_torque_thres=0.0)
    client.until_nominal()
    terminal.ask(commands.Halt("test"))
    halted = client.end(handle)
    assert (halted.state, halted.reason) == (STOPPED, "external_stop")
    assert "halt" in halted.detail

    # the client allows it as soon as it has heard that the robot confirmed the halt; then the robot ends the halt. The
    # decision unit forwards the halt too: if that comes later it has a count of its own, and needs another resume.
    def resumed(_):
        done = terminal.ask(commands.Resume()).done
        return done and terminal.wait_for(lambda c: c.robot.mode is not ExecutorMode.HALTED, 2.0)

    assert terminal.wait_for(resumed, 20.0)
    up = client.end(client.send("cartesian_guarded", **relative(-0.1, 0.1), max_force_thres=0.0, max_torque_thres=0.0))
    assert up.state == SUCCEEDED, up.detail
    rest = np.array(up.tool_pose)
    assert terminal.wait_for(lambda c: np.abs(c.queue.target_pose[:3] - rest[:3]).max() < 0.01, 20.0)
    assert terminal.wait_for(lambda c: c.queue.length == 0 and not c.robot.moving, 20.0)
    before = terminal.operator.robot.executed_seq
    target = move_to(terminal, rest, 0.03)
    assert terminal.wait_for(
        lambda c: c.robot.executed_seq > before + 5 and np.abs(c.robot.tool_pose[:3] - target).max() < 0.005, 30.0
    )


def move_to(terminal, pose, up):
    """Ask the plan for the pose `up` [m] above; the position."""
    from geometry_msgs.msg import PoseStamped

    publisher = terminal.publisher("path_plan_queue/pose_target_cmds")
    assert terminal.wait_for(lambda _: publisher.get_subscription_count() > 0, 10.0)
    message = PoseStamped()
    message.header.frame_id = "world"
    target = pose[:3] + np.array([0.0, 0.0, up])
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = (float(value) for value in target)
    q.x, q.y, q.z, q.w = (float(value) for value in pose[3:])
    head = terminal.operator.queue.head_seq
    assert terminal.wait_for(lambda c: publisher.publish(message) or c.queue.head_seq > head, 20.0)
    return target
