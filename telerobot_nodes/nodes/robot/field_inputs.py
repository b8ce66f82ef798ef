"""What the force field of an arm receives: the scene, and joints and held things of the other arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.cspace.geometry import FieldSettings
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.planning import arm_name, arm_of_namespace, scene_from_message
from telerobot_nodes.nodes.robot.field_source import FieldSource

if TYPE_CHECKING:
    from telerobot_nodes.cspace.service import ArmPlace


def wired_field(node: GraphNode, robot: RobotModel, settings: FieldSettings, others: str) -> FieldSource:
    """The field of `node`'s arm, subscribed to all that changes it.

    `others`: rows of other arms, see the parameter `field_arms`. Raises InvalidValueError naming row and word.
    """
    places = _places(others, node.options.robot)
    own_namespace = node.get_namespace().strip("/")
    for place in places:
        if _namespace(place) == own_namespace:
            raise InvalidValueError(
                "field_arms", place.name, f"allowed: arms of namespaces other than /{own_namespace}"
            )
    robots = {place.name: load_robot(place.robot, None, se3_from_pose(place.base)) for place in places}
    field, own = FieldSource(robot, settings, robots), arm_name(node)
    node.subscribe("cspace_planner/world", lambda message: field.set_world(scene_from_message(message), own))
    for place in places:
        _watch(node, field, place.name, _namespace(place))
    return field


def _namespace(place: ArmPlace) -> str:
    return place.namespace or place.name


def _places(rows: str, robot: str) -> Sequence[ArmPlace]:
    listed = [row for row in rows.split(";") if row.strip()]
    if not listed:
        return ()
    from telerobot_nodes.cspace.service import arms_of  # loads the planner, which most control loops do not need

    return arms_of(listed, robot)


def _watch(node: GraphNode, field: FieldSource, name: str, namespace: str) -> None:
    """Receive joints of another arm, and what its tool holds."""

    def see_world(message: Any) -> None:
        field.set_held(name, scene_from_message(message).attachments(arm_of_namespace(namespace)))

    node.subscribe("joint_states", lambda message: field.receive_joints(name, message, node.now()), namespace)
    node.subscribe("cspace_planner/world", see_world, namespace)
