"""The force field of the control loop: obstacles, other arms, and what tools hold [US5347459 claims 1, 8, 15, 22]."""

import math

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState

from telerobot.msg import Obstacle, Obstacles
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.geometry import Attachment, Change, FieldSettings, box, scene_of, sphere
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode, qos_profile
from telerobot_nodes.nodes.planning import attachments_of
from telerobot_nodes.nodes.robot.field_inputs import wired_field
from telerobot_nodes.nodes.robot.field_source import OWN, STALE, FieldSource

ROBOT = load_robot("arm")
HOME, STILL = np.array(ROBOT.home), np.zeros(ROBOT.dof)
TOOL = ROBOT.forward(HOME)


def beside(gap):
    """A second arm, turned to the first one, its tool `gap` [m] before the first one's."""
    x = 2.0 * TOOL.translation[0] + gap
    return load_robot("arm", None, se3_from_pose((x, 2.0 * TOOL.translation[1], 0.0, 0.0, 0.0, 1.0, 0.0)))


def measured(robot, q, v=STILL):
    """In another order, between other joints."""
    names = [*reversed(robot.joint_names), "a_finger"]
    return JointState(name=names, position=[*map(float, q[::-1]), 0.01], velocity=[*map(float, v[::-1]), 0.0])


def field_with(gap, v=STILL):
    other = beside(gap)
    field = FieldSource(ROBOT, FieldSettings(), {"right": other})
    field.receive_joints("right", measured(other, HOME, v), 10.0)
    return field


def push(field, q=HOME, v=STILL, now=10.0):
    """(3,) [m/s] of the tool in WORLD."""
    return TOOL.rotation @ field.twist(now, q, v, pin.SE3.Identity())[:3]


def test_another_arm_pushes_away_from_itself_and_more_when_it_is_nearer():
    near, nearer = (push(field_with(gap)) for gap in (0.17, 0.15))
    assert near[0] < -1e-3
    assert nearer[0] < near[0] - 1e-3


def test_an_arm_pushes_once_its_joints_are_known_and_is_named_while_they_are_not():
    other = beside(0.15)
    field = FieldSource(ROBOT, FieldSettings(), {"right": other})
    assert not field.active
    assert field.unknown(10.0) == ["right"]
    field.receive_joints("right", measured(other, HOME), 10.0)
    assert field.active
    assert push(field)[0] < 0.0
    assert field.unknown(10.0 + 0.9 * STALE) == []
    assert field.unknown(10.0 + 1.1 * STALE) == ["right"]
    assert push(field)[0] < 0.0  # it still stands there


def test_joints_that_lack_one_are_refused_by_name_and_the_arm_stays_where_it_was():
    field = field_with(0.15)
    before = push(field)
    with pytest.raises(InvalidValueError, match=r"joint_states\.name"):
        field.receive_joints("right", JointState(name=["joint_1"], position=[0.0]), 11.0)
    assert push(field) == pytest.approx(before)
    assert field.unknown(11.0) == ["right"]


@pytest.mark.parametrize("whose", ["own", "other"])
def test_the_field_uses_where_the_arms_will_be(whose):
    """Joint 1 turns the tool sideways; two arms side by side that will be nearer in a moment push more."""
    turn = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    field, least = field_with(0.17), []
    for speed in (-1.0, 0.0, 1.0):
        v = speed * turn
        if whose == "other":
            field.receive_joints("right", measured(ROBOT, HOME + 0.05 * turn, v), 10.0)
        push(field, HOME if whose == "other" else HOME + 0.05 * turn, STILL if whose == "other" else v)
        least.append(field.least)
    assert least[0] < least[1] < least[2]


@pytest.mark.parametrize("velocity", [[], [math.nan] * 7, [math.inf] * 7])
def test_a_velocity_that_is_missing_or_no_number_counts_as_rest(velocity):
    other, field = beside(0.15), field_with(0.15)
    expected = push(field)
    message = measured(other, HOME)
    message.velocity = velocity
    field.receive_joints("right", message, 11.0)
    assert push(field) == pytest.approx(expected)


PART = box("part", (0.04, 0.04, 0.3), (0.0, 0.0, 0.15, 0.0, 0.0, 0.0, 1.0))  # along the tool's axis


def test_what_the_other_arm_holds_pushes_as_the_arm_does_until_it_is_put_down():
    field = field_with(0.6)
    assert not push(field).any()
    pole = box("pole", (0.04, 0.04, 0.04), pose_from_se3(beside(0.6).forward(HOME).inverse() * TOOL))
    field.set_arm("right", field.with_held("right", [Attachment(pole, frozenset())]))
    assert push(field).any()
    field.set_arm("right", field.with_held("right", []))
    assert not push(field).any()


def test_what_the_arm_itself_holds_is_pushed():
    below = TOOL.act(np.array((0.0, 0.0, 0.36)))
    field = FieldSource(ROBOT, FieldSettings())
    alone = scene_of([sphere("stone", 0.02, below)])
    field.set_world(alone, field.with_held(OWN, []))
    assert not push(field).any()
    with_part = alone.changed([Change("part", (PART,), "arm")], arms=["arm"])
    field.set_world(with_part, field.with_held(OWN, attachments_of(with_part, "")))
    assert push(field) @ (TOOL.translation - below) > 0.0
    field.set_world(scene_of([]), field.with_held(OWN, []))
    assert not field.active


def test_a_velocity_that_is_too_old_moves_the_arm_no_further():
    field = field_with(0.17, v=np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    at_once = push(field, now=10.0)
    late, still = push(field, now=10.0 + 2.0 * STALE), push(field_with(0.17))
    assert at_once != pytest.approx(still, abs=1e-4)
    assert late == pytest.approx(still)


@pytest.mark.parametrize("holder", ["there", "arm"], ids=["by the name of its graph", "as a planner of one arm has it"])
def test_by_topics_joints_and_held_things_of_the_other_arm_reach_the_field(ros, holder):
    """The other arm's graph runs in a namespace of its own; its base stands where the parameter says."""
    node, seen = GraphNode(NodeOptions("gcmsf_control")), []
    x = 2.0 * TOOL.translation[0] + 0.6
    field = wired_field(node, ROBOT, FieldSettings(), f"right arm {x} {2.0 * TOOL.translation[1]} 0 {math.pi} there")
    node.every(0.01, lambda: seen.append((field.active, push(field, now=node.now()).any())))  # on the node's thread
    ros.add(node)
    states, world = graph.topic("joint_states"), graph.topic("cspace_planner/world")
    joints = ros.probe.create_publisher(JointState, "/there/joint_states", qos_profile(states.qos))
    scene = ros.probe.create_publisher(Obstacles, "/there/cspace_planner/world", qos_profile(world.qos))
    ros.probe.create_timer(0.02, lambda: joints.publish(measured(ROBOT, HOME)))
    assert ros.until(lambda: seen and seen[-1] == (True, False))
    pose = pose_from_se3(beside(0.6).forward(HOME).inverse() * TOOL).tolist()  # where the first arm's tool is
    held = Obstacle(name="pole", kind="box", size=[0.04, 0.04, 0.04], pose=pose, attached_to=holder)
    message = Obstacles(obstacles=[held], replace=True)
    message.stamp.sec = 1
    ros.probe.create_timer(0.1, lambda: scene.publish(message))
    assert ros.until(lambda: seen[-1] == (True, True))


@pytest.mark.parametrize("rows", ["right", "right arm 1 0 0", "right arm a 0 0 0", "1st arm 1 0 0 0"])
def test_a_row_that_names_no_arm_is_refused(ros, rows):
    with pytest.raises(InvalidValueError, match=r"field_arms\[0\].*NAME ROBOT X Y Z YAW"):
        wired_field(ros.add(GraphNode(NodeOptions("gcmsf_control"))), ROBOT, FieldSettings(), rows)


class Left(GraphNode):
    """A node of the left arm's graph."""

    def get_namespace(self):
        return "/left"


def test_the_arm_itself_is_not_one_of_the_others(ros):
    with pytest.raises(InvalidValueError, match="namespaces other than /left"):
        wired_field(ros.add(Left(NodeOptions("gcmsf_control"))), ROBOT, FieldSettings(), "itself arm 1 0 0 0 left")
