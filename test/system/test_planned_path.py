"""An obstacle appears: the straight way is refused, one round it is planned, and the arm in physics follows it."""

import threading
import time

import mujoco
import numpy as np
import pytest
from in_turn import answer

pytest.importorskip("rclpy")
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from telerobot.action import ExecutePrimitive
from telerobot.msg import ArmGoal, ControlState, Obstacle, Obstacles, PrimitiveParameters, PrimitiveReport
from telerobot.srv import CheckPath, PlanPath
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware import SCENE_BITS, build_scene
from telerobot_nodes.nodes.framework import leave
from telerobot_nodes.runtime import GraphOptions, Supervisor

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(600),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)
GOAL = HOME + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
RADIUS, LENGTH = 0.03, 0.6
LIMIT = 280.0  # [s] for what may have to be compiled first


def between():
    """Where the tool would pass halfway on the straight motion."""
    return ROBOT.forward(0.5 * (HOME + GOAL)).translation


class Client:
    """Calls and what the arm measured meanwhile."""

    def __init__(self):
        rclpy.init()
        self.node = rclpy.create_node("test_client")
        self.measured = []
        self.at_rest = threading.Event()  # the control loop commands the arm and takes primitives
        self.node.create_subscription(JointState, "joint_states", self._hear, qos_profile_sensor_data)
        self.node.create_subscription(ControlState, "gcmsf_control/state", self._hear_control, qos_profile_sensor_data)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def _hear(self, message):
        self.measured.append(np.array(message.position))

    def _hear_control(self, message):
        if message.state in (ControlState.HOLDING, ControlState.STOPPED):
            self.at_rest.set()

    def answer(self, ask):
        return answer(self.executor, ask, LIMIT)

    def call(self, kind, name, **fields):
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(LIMIT), name
        return self.answer(lambda: client.call_async(kind.Request(**fields)))

    def until(self, condition, tries=200):
        return any(condition() or time.sleep(0.05) for _ in range(tries))

    def straight(self):
        """Whether the straight motion is free."""
        waypoints = np.concatenate([HOME, GOAL]).tolist()
        return self.call(CheckPath, "cspace_planner/check_path", waypoints=waypoints, dof=6, margin=-1.0)

    def close(self):
        self.executor.shutdown()
        self.thread.join(5.0)
        leave(self.node)
        rclpy.try_shutdown()


@pytest.fixture(scope="module")
def robot_graph():
    lines = []
    supervisor = Supervisor(
        GraphOptions("robot", without=("bag_recorder", "plan_executor", "rtc_decision_unit")),
        on_line=lambda node, line: lines.append(f"[{node}] {line}"),
    )
    supervisor.start()
    try:
        assert supervisor.wait_ready(LIMIT), "\n".join(lines)
        yield supervisor
    finally:
        assert supervisor.stop() == 0, (supervisor.failure, supervisor.unclean, lines)


@pytest.fixture
def client(robot_graph):
    client = Client()
    yield client
    client.close()


def contacts(configurations):
    """How many of these configurations touch the post in MuJoCo's own geometry."""

    def add_post(spec):
        spec.worldbody.add_geom(
            name="post",
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[RADIUS, 0.5 * LENGTH, 0.0],
            pos=between(),
            contype=SCENE_BITS[0],
            conaffinity=SCENE_BITS[1],
        )

    model = build_scene(ROBOT, 0.001, task_board=False, furnish=add_post)
    data, post = mujoco.MjData(model), model.geom("post").id
    addresses = [model.joint(f"arm/{name}").qposadr[0] for name in ROBOT.joint_names]
    hits = 0
    for q in configurations:
        data.qpos[addresses] = q
        mujoco.mj_forward(model, data)
        hits += any(post in (contact.geom1, contact.geom2) for contact in data.contact)
    return hits


def test_the_arm_goes_round_an_obstacle_that_appeared(client):
    assert client.straight().free

    publisher = client.node.create_publisher(Obstacles, "obstacles", 10)
    assert client.until(publisher.get_subscription_count)
    pose = [*between(), 0.0, 0.0, 0.0, 1.0]
    publisher.publish(Obstacles(obstacles=[Obstacle(name="post", kind="cylinder", size=[RADIUS, LENGTH], pose=pose)]))
    assert client.until(lambda: not client.straight().free)
    assert "post" in client.straight().message

    # from where the arm is measured to be
    planned = client.call(PlanPath, "cspace_planner/plan", goals=[ArmGoal(joint_goal=GOAL.tolist())], speed=0.5)
    assert planned.success, planned.message
    path = np.array(planned.paths[0].waypoints).reshape(-1, 6)
    assert len(path) > 2

    assert client.at_rest.wait(LIMIT)
    action = ActionClient(client.node, ExecutePrimitive, "gcmsf_control/execute")
    assert action.wait_for_server(LIMIT)
    values = {"via_points": str(path[1:].reshape(-1).tolist()), "path_speed": "0.5"}
    parameters = PrimitiveParameters(name="joint_path", agent="test", keys=list(values), values=list(values.values()))
    client.measured.clear()
    handle = client.answer(lambda: action.send_goal_async(ExecutePrimitive.Goal(parameters=parameters)))
    assert handle.accepted
    report = client.answer(handle.get_result_async).result.report
    action.destroy()
    assert report.state == PrimitiveReport.SUCCEEDED, report.detail

    way = np.array(client.measured)
    assert np.abs(way[-1] - GOAL).max() < 0.02
    assert np.abs(np.diff(way[:, 0])).sum() > 0.9  # the motion was seen
    assert contacts(way) == 0
    assert contacts([HOME + share * (GOAL - HOME) for share in np.linspace(0.0, 1.0, 100)]) > 5
