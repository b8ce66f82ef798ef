"""Two arms whose graphs know each other by the force field: real processes, joints and pushes over real DDS.

[US5347459] claims 1, 8, 15, 22. Each arm has a simulated world of its own, so nothing but the field keeps them apart.
"""

from functools import partial

import numpy as np
import pytest
import yaml

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.cspace.geometry import arm_geometry, sphere_centers
from telerobot_nodes.graph import Qos
from telerobot_nodes.runtime import GraphOptions, Supervisor

pytestmark = [pytest.mark.system, pytest.mark.nightly, pytest.mark.timeout(400)]

START_LIMIT = 150.0  # [s]
ARMS = ("left", "right")
WITHOUT = ("rtc_decision_unit", "bag_recorder", "cspace_planner", "plan_executor")
APART = 1.3  # [m] between the bases; the arms look at each other
AHEAD = 0.28  # [m] before the tool: into the other arm
BASE = (APART, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)


@pytest.fixture(scope="module", params=[True, False], ids=["with the field", "without"])
def field(request, tmp_path_factory):
    """A graph for each arm, with the other one in its field or with no field at all."""
    graphs = []
    for arm, other in zip(ARMS, reversed(ARMS), strict=True):
        values = {"field": request.param, "field_arms": f"{other} arm {APART} 0 0 3.14159265"}
        params = tmp_path_factory.mktemp(arm) / "field.yaml"
        params.write_text(yaml.safe_dump({"gcmsf_control": {"ros__parameters": values}}))
        graphs.append(Supervisor(GraphOptions("robot", namespace=arm, params=params, without=WITHOUT)))
    try:
        for graph in graphs:
            graph.start()
        assert all(graph.wait_ready(START_LIMIT) for graph in graphs)
        yield request.param
    finally:
        for graph in graphs:
            graph.stop()


class Watch:
    """Joints of both arms as they are measured, and the least distance between their collision spheres [m]."""

    def __init__(self, node):
        from sensor_msgs.msg import JointState

        from telerobot_nodes.nodes.framework import qos_profile

        self.geometries = arm_geometry(load_robot("arm")), arm_geometry(load_robot("arm", None, se3_from_pose(BASE)))
        self.q, self.least = {}, np.inf
        for arm in ARMS:
            keep = partial(self.receive, arm)
            node.create_subscription(JointState, f"/{arm}/joint_states", keep, qos_profile(Qos.STATE))

    def receive(self, arm, message):
        self.q[arm] = np.array(message.position)
        if len(self.q) == 2:
            self.least = min(self.least, self.gap())

    def gap(self):
        left, right = (geometry.arm for geometry in self.geometries)
        a, b = sphere_centers(left, self.q["left"]), sphere_centers(right, self.q["right"])
        between = np.linalg.norm(a[:, None] - b[None], axis=2)
        return float((between - left.sphere_radius[:, None] - right.sphere_radius[None]).min())


def sent(robot, primitive, **values):
    """The end of a primitive of the left arm."""
    from telerobot.action import ExecutePrimitive
    from telerobot.msg import PrimitiveParameters

    action = robot.action_client("gcmsf_control/execute")
    assert robot.wait(action.server_is_ready, 60.0)
    texts = [str(value) for value in values.values()]
    parameters = PrimitiveParameters(name=primitive, agent="test", keys=list(values), values=texts)
    handle = robot.result(action.send_goal_async(ExecutePrimitive.Goal(parameters=parameters)), 30.0)
    assert handle.accepted
    return robot.result(handle.get_result_async(), 60.0).result.report


def test_an_arm_that_is_sent_into_the_other_is_kept_apart_by_the_field_alone(field):
    from telerobot_nodes.nodes.framework import Foreground

    with Foreground("test", "left") as robot:
        watch = Watch(robot.node)
        assert robot.wait(lambda: len(watch.q) == 2, 60.0)
        way = load_robot("arm").forward(watch.q["left"]).rotation.T @ np.array((AHEAD, 0.0, 0.0))
        ahead = {"tr_rel_dest": [*way.round(6).tolist(), 0, 0, 0, 1], "time_vel_sel": "velocity", "time_vel_val": 0.05}
        end = sent(robot, "cartesian_guarded", **ahead)
        assert end.reason != "refused", end.detail
        assert (watch.least > 0.01) is field, (watch.least, end.reason, end.detail)
