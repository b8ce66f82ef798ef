"""What the force field of an arm receives: the scene, and joints and held things of the other arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.cspace.geometry import FieldSettings, Scene
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.planning import attachments_of, scene_from_message
from telerobot_nodes.nodes.robot.field_source import OWN, FieldSource

if TYPE_CHECKING:
    from telerobot_nodes.cspace.service import ArmPlace

JOINTS_PERIOD = 0.008  # [s] joints of another arm that come sooner after others are left out: the field needs no more
ROWS = "field_arms"  # the parameter


def wired_field(node: GraphNode, robot: RobotModel, settings: FieldSettings, others: str) -> FieldSource:
    """The field of `node`'s arm, subscribed to all that changes it.

    `robot`: not used elsewhere. `others`: rows of other arms, see the parameter `field_arms`. Raises InvalidValueError
    naming row and word.
    """
    places = _places(others, node.options.robot)
    own_namespace = str(node.get_namespace()).strip("/")
    for place in places:
        if _namespace(place) == own_namespace:
            allowed = f"allowed: arms of namespaces other than /{own_namespace}"
            raise InvalidValueError(ROWS, place.name, allowed)
    robots = {place.name: load_robot(place.robot, None, se3_from_pose(place.base)) for place in places}
    field, work = FieldSource(robot, settings, robots), ThreadPoolExecutor(1, "field")
    prepare = partial(_prepared, node, work)

    def see_world(scene: Scene) -> None:
        held = attachments_of(scene, own_namespace)
        prepare(lambda: partial(field.set_world, scene, field.with_held(OWN, held)))

    node.subscribe("cspace_planner/world", _of_changes(see_world))
    for place in places:
        _watch(node, field, prepare, place)
    return field


def _prepared(node: GraphNode, work: ThreadPoolExecutor, make: Callable[[], Callable[[], None]]) -> None:
    """Do on the node's thread, one after the other, what `make` returns; that takes its time on a thread of its own."""
    work.submit(node.guarded(lambda: node.soon(make())))


def _namespace(place: ArmPlace) -> str:
    return place.namespace or place.name


def _places(rows: str, robot: str) -> Sequence[ArmPlace]:
    if not rows.strip():
        return ()
    from telerobot_nodes.cspace.service import arm_rows, arms_of  # loads the planner, which most loops do not need

    listed = arm_rows(rows)
    return arms_of(listed, robot, ROWS) if listed else ()


def _watch(node: GraphNode, field: FieldSource, prepare: Callable[..., None], place: ArmPlace) -> None:
    """Receive joints of another arm, and what its tool holds."""
    name, namespace, received = place.name, _namespace(place), -np.inf

    def see_joints(data: bytes) -> None:
        nonlocal received
        if (now := node.now()) - received >= JOINTS_PERIOD:
            received = now
            field.receive_joints(name, deserialize_message(data, JointState), now)

    def see_world(scene: Scene) -> None:
        held = attachments_of(scene, namespace)
        prepare(lambda: partial(field.set_arm, name, field.with_held(name, held)))

    node.subscribe("joint_states", see_joints, namespace, raw=True)
    node.subscribe("cspace_planner/world", _of_changes(see_world), namespace)


def _of_changes(use: Callable[[Scene], None]) -> Callable[[Any], None]:
    """Calls `use` with each scene that is not the one before, which is published again for who comes late."""
    stamp: Any = None

    def receive(message: Any) -> None:
        nonlocal stamp
        if message.stamp != stamp:
            use(scene_from_message(message))
            stamp = message.stamp

    return receive
