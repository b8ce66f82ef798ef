"""What is designated in RViz2 becomes the goal, in the frame of the world only."""

import pytest

pytest.importorskip("rclpy")
from geometry_msgs.msg import PointStamped, PoseStamped

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.operator.goal_topics import GoalTopics


class Console:
    """Receives as a node does, and keeps the goals."""

    def __init__(self):
        self.topics, self.goals = {}, []
        GoalTopics(self, self)

    def subscribe_outside(self, topic, kind, callback):
        self.topics[topic] = (kind, callback)

    def designate(self, position, orientation=None):
        self.goals.append((position, orientation))

    def hear(self, topic, message):
        kind, callback = self.topics[topic]
        assert kind.endswith(type(message).__name__)
        callback(message)


def placed(message, point, frame="world"):
    message.header.frame_id = frame
    point.x, point.y, point.z = 0.5, 0.1, 0.4
    return message


def test_a_point_and_a_pose_become_the_goal():
    console, point, pose = Console(), PointStamped(), PoseStamped()
    pose.pose.orientation.z, pose.pose.orientation.w = 1.0, 0.0
    console.hear("/clicked_point", placed(point, point.point))
    console.hear("/goal_pose", placed(pose, pose.pose.position))
    assert console.goals == [((0.5, 0.1, 0.4), None), ((0.5, 0.1, 0.4), (0.0, 0.0, 1.0, 0.0))]


@pytest.mark.parametrize("frame", ["", "base_link", "World"])
def test_another_frame_is_refused_by_name(frame):
    console, point = Console(), PointStamped()
    with pytest.raises(InvalidValueError, match=r"/clicked_point: header.frame_id"):
        console.hear("/clicked_point", placed(point, point.point, frame))
    assert console.goals == []
